"""Tells which programs of one function are equal, and which differ in constants alone.

Only attributes of JAX's objects are read; where they have changed, nothing is known. Python values in the parameters
of an equation are compared by content, JAX's own objects by their ``==``, and anything else by identity. So programs
that are equal may count as different ones, and not the reverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ....runtime.around import is_exactly
from ....runtime.executed_programs import constants, host_copy, numpy_of
from ....runtime.tracing import inner_jaxprs
from ...record.program import ProgramKind

#: A jaxpr with more equations is not compared.
_MOST_EQUATIONS = 10_000

#: A larger constant equals no other one.
_MOST_BYTES = 1024**2

#: Equations with rules for derivatives, which are no part of the program.
_CUSTOM = "custom_jvp_call", "custom_vjp_call"

#: Packages whose objects may be compared by ``==``.
_TRUSTED = "jax", "jaxlib", "ml_dtypes", "numpy"


def kinds_of_programs(traced: Mapping[int, tuple[Any, Any, Any]]) -> dict[int, ProgramKind]:
    """Number the kinds of the programs of each function that has several.

    Args:
        traced: by program, what identifies its function, its jaxpr and the structure of its result; each of them is
            ``None`` if unknown.

    >>> import jax
    >>> jaxprs = [jax.make_jaxpr(lambda x: x * by)(1.0) for by in (2.0, 2.0, 3.0)]
    >>> kinds = kinds_of_programs({number: ("f", each, "*") for number, each in enumerate(jaxprs)})
    >>> [(each.operations, each.constants) for each in kinds.values()]
    [(0, 0), (0, 0), (0, 1)]
    """
    several = Counter(function for function, *_ in traced.values() if function is not None)
    found: dict[int, ProgramKind] = {}
    by_operations, by_constants = _Numbers(), _Numbers()
    walk = _Walk()
    for program, (function, jaxpr, result) in traced.items():
        if several[function] > 1 and jaxpr is not None and result is not None:
            with suppress(Exception):
                operations = by_operations.of((function, result, walk.number(jaxpr)))
                held = by_constants.of((operations, tuple(map(_constant, constants(jaxpr)))))
                found[program] = ProgramKind(operations=operations, constants=held)
    return found


class _TooLong(Exception):
    """A jaxpr is not compared."""


class _Numbers:
    """Numbers keys, equal ones alike."""

    def __init__(self) -> None:
        self._known: dict[object, int] = {}

    def of(self, key: object) -> int:
        return self._known.setdefault(key, len(self._known))


class _Walk:
    """Numbers jaxprs, equal ones alike whatever their constants are."""

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self._met: dict[int, int] = {}

    def number(self, jaxpr: Any) -> int:
        """Return the number of a jaxpr; all that were numbered have to be alive."""
        if id(jaxpr) not in self._met:
            self._met[id(jaxpr)] = self._numbers.of(tuple(self._parts(getattr(jaxpr, "jaxpr", jaxpr))))
        return self._met[id(jaxpr)]

    def _parts(self, jaxpr: Any) -> Iterator[object]:
        if len(jaxpr.eqns) > _MOST_EQUATIONS:
            raise _TooLong
        variables: dict[Any, int] = {}
        for each in (*jaxpr.constvars, *jaxpr.invars):
            variables[each] = len(variables)
            yield each.aval
        for equation in jaxpr.eqns:
            yield str(equation.primitive.name)
            yield self._parameters(equation)
            yield tuple(_operand(each, variables) for each in equation.invars)
            for each in equation.outvars:
                variables[each] = len(variables)
                yield each.aval
        yield tuple(_operand(each, variables) for each in jaxpr.outvars)

    def _parameters(self, equation: Any) -> object:
        if str(equation.primitive.name).startswith(_CUSTOM):
            return tuple(map(self.number, inner_jaxprs(equation)))
        inside = {id(each) for each in inner_jaxprs(equation)}
        return tuple((name, self._value(each, inside)) for name, each in sorted(equation.params.items()))

    def _value(self, value: Any, jaxprs: set[int]) -> object:
        if id(value) in jaxprs:
            return "jaxpr", self.number(value)
        kind = type(value)
        trusted = kind.__module__.partition(".")[0] in _TRUSTED
        if is_exactly(value, tuple, list) or (trusted and issubclass(kind, tuple)):
            return kind, tuple(self._value(each, jaxprs) for each in value)
        if value is None or is_exactly(value, bool, int, float, complex, str, bytes):
            return kind, repr(value)
        if trusted and issubclass(kind, np.ndarray):
            return _constant(value)
        if trusted or kind is type:
            hash(value)
            return kind, value
        return kind, id(value)


def _operand(operand: Any, variables: Mapping[Any, int]) -> object:
    """Return the number of a variable; of a constant in an equation, only its type."""
    return operand.aval if hasattr(operand, "val") else variables[operand]


def _constant(value: Any) -> object:
    """Return a key that only equal constants share."""
    value = numpy_of(value)
    if isinstance(value, bool | int | float | complex):  # JAX has subclasses with a dtype
        return type(value), str(getattr(value, "dtype", "")), repr(value)
    if value.nbytes > _MOST_BYTES:
        return object()
    held = value if isinstance(value, np.ndarray | np.generic) else host_copy(value)
    return object() if held is None else (str(held.dtype), held.shape, held.tobytes())
