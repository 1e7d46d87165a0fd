"""Keeps a function that is defined and jitted again from being compiled again."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from ....records.note import note
from ....runtime.around import is_exactly
from ...record.finding import RuleFinding
from .function_copies import module_with
from .remedy import Change, NotTried
from .tried_code import TriedCode

#: At most this many functions are kept: more than that are different functions, and hold what they have captured.
_MOST_KEPT = 64

#: Functions inside functions are compared down to this depth.
_DEEPEST = 8

#: Values that are the same if they are equal and of the same type; the text tells 0.0 from -0.0.
_PLAIN = bool, int, float, complex, str, bytes, types.NoneType


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose that ``jax.jit`` returns the same function for the same source, captured values and options."""
    import jax

    if finding.found.facts.get("cause", "new function") != "new function":
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    memo = _Memo(jax.jit)
    return Change({id(jax): module_with(jax, jit=memo.jit), id(jax.jit): memo.jit}, used=lambda: memo.hits > 0)


class _Memo:
    """A cache of jitted functions, by function and options.

    Attributes:
        hits: how often a function was there already.
    """

    def __init__(self, jit: Callable[..., Any]) -> None:
        self.hits = 0
        self._jit = jit
        self._made: dict[Any, Any] = {}

    def jit(self, fun: Any = None, /, **options: Any) -> Any:
        """Stand in for ``jax.jit``."""
        if "fun" in options:
            fun = options.pop("fun")
        if fun is None:
            return functools.partial(self.jit, **options)
        key = identity(fun), tuple((name, identity(value)) for name, value in sorted(options.items()))
        if key in self._made:
            self.hits += 1
        else:
            if len(self._made) >= _MOST_KEPT:
                self._made.clear()
            self._made[key] = self._jit(fun, **options)  # which holds what the key has the ids of
        return self._made[key]


def identity(value: Any, depth: int = 0) -> Any:
    """Return a key that is equal for objects that do the same: for functions, their code and what they captured.

    >>> made = [lambda x: x + n for n in (1, 2, 1) for n in [n]]
    >>> [identity(make(n)) == identity(make(1)) for n in (1, 2) for make in [lambda n: lambda x: x + n]]
    [True, False]
    """
    if is_exactly(value, *_PLAIN):
        return type(value).__name__, repr(value)
    if depth < _DEEPEST:
        if is_exactly(value, tuple):
            return "tuple", tuple(identity(each, depth + 1) for each in value)
        if is_exactly(value, functools.partial):
            keywords = tuple((name, identity(each, depth + 1)) for name, each in sorted(value.keywords.items()))
            return "partial", identity(value.func, depth + 1), identity(value.args, depth + 1), keywords
        if is_exactly(value, types.MethodType):
            return "method", identity(value.__func__, depth + 1), id(value.__self__)
        if is_exactly(value, types.FunctionType):
            return "function", id(value.__globals__), value.__code__, *_captured(value, depth)
    return "object", id(value)


def _captured(function: types.FunctionType, depth: int) -> tuple[Any, ...]:
    cells: list[Any] = []
    for cell in function.__closure__ or ():
        try:
            cells.append(identity(cell.cell_contents, depth + 1))
        except ValueError:  # an empty cell
            cells.append(("empty", id(cell)))
    keywords = tuple((name, identity(each, depth + 1)) for name, each in (function.__kwdefaults__ or {}).items())
    return tuple(cells), identity(function.__defaults__, depth + 1), keywords
