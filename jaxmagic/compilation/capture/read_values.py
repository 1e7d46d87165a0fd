"""Describe the values that a function reads when it is called, so that two records can say whether they differ.

Each variable has an equal share of the limit, so that a large pytree hides no other variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...runtime.around import enclosed, inherits, is_a, is_exactly
from ..record.events import CUT, Held
from .attributes import is_users_class, name_of_class
from .contents import Walk, globals_named
from .function_identity import innermost

#: The most values that are described, and the fewest for each variable.
_MOST, _LEAST = 40, 4


def values_read(function: FunctionType) -> dict[str, Held]:
    """Return the variables that a function reads and the values that they hold, by path; functions are left out.

    >>> def make(rate, name):
    ...     return lambda x: x * rate if name else x
    >>> {path: each.words for path, each in values_read(make(0.5, "a")).items()}
    {'name': "'a'", 'rate': '0.5'}
    """
    variables = dict(_variables(function))
    share = max(_MOST // max(len(variables), 1), _LEAST)
    found: dict[str, Held] = {}
    for name, value in variables.items():
        if len(found) >= _MOST:
            found[CUT] = Held("unknown", CUT, None)
            break
        for path, each in _Reader(share, value).read(name, value).items():
            found.setdefault(path, each)
    return {path.replace(".__wrapped__", ""): each for path, each in found.items() if each.kind != "function"}


def _variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the closure, default and global variables of a function, without modules."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    yield from enclosed(function).items()
    yield from zip(names[len(names) - len(defaults) :], defaults, strict=True)
    held = function.__globals__
    for name in globals_named(code):
        if name in held and not is_a(held[name], (ModuleType, BuiltinFunctionType)):
            yield name, held[name]


class _Reader(Walk):
    """A walk that also says of arrays whether they are NumPy's, and over how many devices they are spread."""

    def __init__(self, most: int, value: Any) -> None:
        within = innermost(value)
        super().__init__(most, within.__globals__ if is_exactly(within, FunctionType) else None)

    def read(self, name: str, value: Any) -> Mapping[str, Held]:
        """Return a variable and the values that it holds."""
        try:
            self.value(name, value)
        except Exception:
            self.held.setdefault(name, Held("unknown", "unknown", None))
        return self.held

    def _inside(self, path: str, value: Any, depth: int, ours: bool) -> None:
        kind = type(value)
        if inherits(kind, dict, list) and len(value) > self._most:  # the keys of all would take long
            first: Any = (
                dict(islice(dict.items(value), self._most))
                if inherits(kind, dict)
                else list(islice(list.__iter__(value), self._most))
            )
            super()._inside(path, first, depth, ours)
            self.held[path] = Held("object", f"a {name_of_class(kind)} of {len(value)}", None)
        else:
            super()._inside(path, value, depth, ours)

    def value(self, path: str, value: Any, depth: int = 0, *, ours: bool = True) -> None:
        super().value(path, value, depth, ours=ours)
        found = self.held.get(path)
        if found is not None and found.kind == "array" and not is_users_class(type(value)):
            self.held[path] = replace(found, words=f"{found.words}{_placed(value)}")


def _placed(array: Any) -> str:
    import jax

    if inherits(type(array), np.ndarray):
        return " of NumPy"
    if inherits(type(array), jax.core.Tracer):
        return ""
    count = len(array.sharding.device_set)
    return "" if count == 1 else f" on {count} devices"
