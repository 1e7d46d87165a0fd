"""Find the user's own function and arguments where a library jits a function of its own around them.

``equinox.filter_jit`` splits the arguments into arrays and the rest, and passes both to a function that it keeps for
all functions of one name. JAX knows only that function, whose arguments are called ``dynamic_nodonate['rest'][17]``.
The user's own function and arguments are in the library's frame.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from types import FrameType, FunctionType
from typing import Any, NamedTuple

#: How many frames above JAX's own are searched for the library's frame.
_DEEPEST = 12


class UserCall(NamedTuple):
    """A call as its author wrote it.

    Attributes:
        function: the function that was given to ``jit``.
        args: the arguments by position.
        kwargs: the arguments by keyword.
        static: the names of the static arguments.
        name: the name of the function, if a library knows it.
        library: whether a library wraps the function before ``jax.jit`` does.
        arrays_only: whether everything that is not an array is static.
    """

    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    static: Collection[str] = ()
    name: str = ""
    library: bool = False
    arrays_only: bool = False


def wrapped_by_library(frame: FrameType | None, *, with_function: bool) -> UserCall | None:
    """Find the user's call behind `frame`, if a known library made the call of JAX.

    Args:
        frame: the caller of JAX.
        with_function: whether to read the function itself, which takes longer than its name.
    """
    for _ in range(_DEEPEST):
        if frame is None:
            return None
        module = str(frame.f_globals.get("__name__", ""))
        if module == "equinox._jit" and frame.f_code.co_name == "_call":
            return _from_equinox(frame, with_function)
        if not module.startswith(("jax.", "equinox.")):
            return None
        frame = frame.f_back
    return None


def _from_equinox(frame: FrameType, with_function: bool) -> UserCall | None:
    local = frame.f_locals
    try:
        jitted, args, kwargs = local["jit_wrapper"], local["args"], local["kwargs"]
        name, function = str(jitted.fn).rpartition("<locals>.")[2], jitted.__wrapped__ if with_function else None
    except (KeyError, AttributeError):
        return None
    if with_function and not isinstance(function, FunctionType | functools.partial):
        # A module is re-created with its arrays, but its program is not: treat it as an argument of its method.
        method, owner = getattr(function, "__func__", None), getattr(function, "__self__", None)
        if method is None:
            method, owner = getattr(type(function).__call__, "method", type(function).__call__), function
        function, args = getattr(method, "method", method), (owner, *args)
    return UserCall(function, args, kwargs, name=name, library=True, arrays_only=True)
