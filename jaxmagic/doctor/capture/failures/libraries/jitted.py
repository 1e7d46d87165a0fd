"""Finds the function behind a jitted method, such as ``jax.jit(net.apply)``, and behind what ``nnx.jit`` returns."""

from __future__ import annotations

import inspect
from contextlib import suppress
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from .....runtime.around import attribute, is_exactly, member, of_type

#: The classes of what jits of libraries return, in their versions.
_LIBRARY_JITS = "_JitWrapper", "JitWrapped", "JitFn"


class Behind(NamedTuple):
    """The objects that a call of a jitted function reaches.

    Attributes:
        function: the Python function.
        signature: the function or method whose signature the call has.
        jitted: what ``jax.jit`` has returned.
        library: whether a library converts the arguments before.
    """

    function: Any
    signature: Any
    jitted: Any
    library: bool = False

    def positional(self, count: int) -> list[str]:
        """Return the names of positional parameters, and of `count` items of ``*args``: ``args[0]`` and so on."""
        names: list[str] = []
        with suppress(TypeError, ValueError):
            for each in inspect.signature(self.signature).parameters.values():
                if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
                    names.append(each.name)
                elif each.kind is each.VAR_POSITIONAL:
                    names += [f"{each.name}[{number}]" for number in range(count)]
        return names


def behind(jitted: Any) -> Behind | None:
    """Return the function behind a jitted one; ``None`` if it is neither a method nor of ``nnx.jit``."""
    if of_type("__name__", type(jitted)) == "PjitFunction":
        method = attribute(jitted, "__wrapped__")
        if is_exactly(method, MethodType) and is_exactly(method.__func__, FunctionType):
            return Behind(method.__func__, method, jitted)
    elif str(of_type("__module__", type(jitted))).startswith("flax.nnx."):
        function = attribute(jitted, "fun")
        if is_exactly(function, FunctionType):
            return Behind(function, function, attribute(jitted, "jitted_fn"), library=True)
    return None


def jits_itself(value: Any) -> bool:
    """Return whether ``equinox.filter_jit`` or ``nnx.jit`` has made a function, which can be lowered.

    A call of either takes objects of the library, and passes their arrays to a function of ``jax.jit``.
    """
    kind = type(value)
    library = str(of_type("__module__", kind)).startswith(("equinox.", "flax.nnx."))
    return library and of_type("__name__", kind) in _LIBRARY_JITS and member(kind, "lower") is not None
