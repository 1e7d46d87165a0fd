"""Finds the equations of a jaxpr that compute with captured arrays only, which XLA may do while it compiles.

Only attributes of JAX's objects are read; where they have changed, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any

from ....records.call_stack import Frame
from ....runtime.tracing import inner_jaxprs, line_of
from ...record.constant_work import ConstantWork
from ..frames import known

#: Work on fewer elements takes XLA no time worth mentioning.
_LEAST_ELEMENTS = 1_000

#: Primitives that call the jaxpr in them once, with their own operands.
_CALLS = frozenset({"jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call"})

#: The most equations that are looked at.
_MOST_EQUATIONS = 20_000


class _Origin(IntEnum):
    """The sources of a value; of several, the largest one counts."""

    LITERAL = 0
    CAPTURED = 1
    ARGUMENT = 2


def constant_work(jaxpr: Any) -> tuple[ConstantWork, ...]:
    """Return the equations with many elements of captured arrays, no argument, and results that are used.

    >>> import jax, jax.numpy as jnp, numpy as np
    >>> table = np.ones(5000)
    >>> (found,) = constant_work(jax.make_jaxpr(lambda x: x + jnp.cumsum(table))(1.0))
    >>> found.primitive, found.elements
    ('cumsum', 5000)
    """
    try:
        inner = getattr(jaxpr, "jaxpr", jaxpr)
        return tuple(_Walk().found(inner, [_Origin.ARGUMENT] * len(inner.invars)))
    except Exception:
        return ()


class _Walk:
    """The equations of a jaxpr and of what it calls, in order.

    Attributes:
        results: the origins of the results of the jaxpr whose equations were found last.
    """

    def __init__(self) -> None:
        self.results: list[_Origin] = []
        self._left = _MOST_EQUATIONS

    def found(self, jaxpr: Any, arguments: Sequence[_Origin], call: Any = None) -> Iterator[ConstantWork]:
        """Yield the equations on captured arrays, of a jaxpr with the origins of its arguments.

        The line of an equation is that of the outermost call around it.
        """
        origins = dict(zip(jaxpr.invars, arguments, strict=True))

        def origin(operand: Any) -> _Origin:
            return _Origin.LITERAL if hasattr(operand, "val") else origins.get(operand, _Origin.CAPTURED)

        for equation in _used(jaxpr):
            self._left -= 1
            if self._left < 0:
                raise ValueError("too many equations")
            operands = [origin(each) for each in equation.invars]
            called = list(inner_jaxprs(equation))
            if equation.primitive.name in _CALLS and len(called) == 1:
                yield from self.found(getattr(called[0], "jaxpr", called[0]), operands, call or equation)
                results = self.results
            else:
                whole = _Origin.ARGUMENT if called or equation.effects else max(operands, default=_Origin.LITERAL)
                results = [whole] * len(equation.outvars)
                if whole == _Origin.CAPTURED and (work := _described(equation, call or equation)) is not None:
                    yield work
            origins.update(zip(equation.outvars, results, strict=True))
        self.results = [origin(each) for each in jaxpr.outvars]


def _used(jaxpr: Any) -> list[Any]:
    """Return the equations whose results are used, in order."""
    used = {each for each in jaxpr.outvars if not hasattr(each, "val")}
    found = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or used.intersection(equation.outvars):
            used.update(each for each in equation.invars if not hasattr(each, "val"))
            found.append(equation)
    return found[::-1]


def _described(equation: Any, call: Any) -> ConstantWork | None:
    name = str(equation.primitive.name)
    elements = max(int(each.aval.size) for each in equation.invars)
    place = line_of(call)
    if elements < _LEAST_ELEMENTS or place is None:
        return None
    line = known(Frame(function=place[0], file=place[1], line=place[2]))
    return None if line is None else ConstantWork(primitive=name, line=line, elements=elements)
