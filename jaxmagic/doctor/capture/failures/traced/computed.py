"""Computes a jaxpr with all values in between, and follows NaN and infinity back to the equation that made it.

The jaxpr is compiled once. Barriers between its equations keep XLA from computing something else, such as ``x`` for
``log(exp(x))``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .....runtime.jaxprs.equations import bytes_of, results_of
from .unchecked import unchecked

#: Operations that only evaluate the jaxpr in one of their parameters.
_CALLS = {
    **dict.fromkeys(("pjit", "jit", "remat2", "checkpoint", "remat"), "jaxpr"),
    **dict.fromkeys(("closed_call", "core_call", "custom_jvp_call", "custom_vjp_call"), "call_jaxpr"),
}

#: The most bytes of all values.
_MOST_BYTES = 2**28


@dataclass(slots=True, eq=False)
class Value:
    """A value of a jaxpr.

    Attributes:
        order: its place among all values; -1 for a literal.
        array: what was computed.
        step: the step that computed it; ``None`` for an input or a constant.
        number: the number of the input; ``None`` for others.
    """

    order: int
    array: Any
    step: Step | None = None
    number: int | None = None

    def bad(self, infinite: bool) -> Any:
        """Return where the value is NaN, or where it is infinite."""
        if not _is_float(self.array):
            return np.False_
        return (np.isinf if infinite else np.isnan)(np.asarray(self.array))

    def has(self, infinite: bool) -> bool:
        """Return whether the value has NaN, or infinity."""
        return bool(self.bad(infinite).any())


@dataclass(slots=True, eq=False)
class Step:
    """An equation that was computed, of the jaxpr or of one that it calls.

    Attributes:
        equation: the equation.
        callers: the equations that call the jaxpr with it, the outermost first.
        operands: its operands.
    """

    equation: Any
    callers: tuple[Any, ...]
    operands: list[Value]

    @property
    def name(self) -> str:
        """The name of the operation."""
        return str(self.equation.primitive.name)

    def bad_operands(self, infinite: bool) -> list[Value]:
        """Return the operands with NaN or infinity, without those that the step leaves out."""
        if self.name != "select_n":
            return [each for each in self.operands if each.has(infinite)]
        which, *cases = self.operands
        taken = np.asarray(which.array).astype(int)
        return [each for n, each in enumerate(cases) if bool((each.bad(infinite) & (taken == n)).any())]


def first(values: Sequence[Value], infinite: bool) -> Value | None:
    """Return the value in which the NaN or infinity of some others appeared first; ``None`` if they have none."""
    pending = [each for each in values if each.has(infinite)]
    seen: set[int] = set()
    origins = []
    while pending:
        value = pending.pop()
        if id(value) not in seen:
            seen.add(id(value))
            operands = [] if value.step is None else value.step.bad_operands(infinite)
            before = [each for each in operands if each.order >= 0]  # a literal belongs to the step that reads it
            pending += before
            origins += [] if before else [value]
    return min(origins, key=lambda each: each.order, default=None)


def results_with_steps(jaxpr: Any, args: Sequence[Any]) -> list[Value] | None:
    """Compute a jaxpr, and return its results; ``None`` if its values take too much memory."""
    if sum(map(bytes_of, _equations(jaxpr))) > _MOST_BYTES:
        return None
    kept: list[Value] = []
    results: list[Value] = []

    def values(*inputs: Any) -> list[Any]:
        run = _Run()
        given = [run.keep(each, number=n) for n, each in enumerate(inputs)]
        results[:] = run.results(jaxpr, given, ())
        kept[:] = run.kept
        return [each.array for each in kept]

    arrays = unchecked(values)(*args)
    for value, array in zip(kept, arrays, strict=True):
        value.array = array
    return results


class _Run:
    """Evaluates a jaxpr while it is traced, and keeps every value."""

    def __init__(self) -> None:
        self.kept: list[Value] = []

    def keep(self, array: Any, step: Step | None = None, number: int | None = None) -> Value:
        """Keep a value."""
        self.kept.append(Value(len(self.kept), array, step, number))
        return self.kept[-1]

    def results(self, body: Any, args: Sequence[Value], callers: tuple[Any, ...]) -> list[Value]:
        """Evaluate a jaxpr, and return its results."""
        import jax

        jaxpr = getattr(body, "jaxpr", body)
        constants = map(self.keep, getattr(body, "consts", ()))
        values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *args], strict=True))
        for equation in jaxpr.eqns:
            given = [self._read(each, values) for each in equation.invars]
            name = str(equation.primitive.name)
            if name in _CALLS:
                found = self.results(equation.params[_CALLS[name]], given, (*callers, equation))
            else:
                step = Step(equation, callers, given)
                computed = results_of(equation, [each.array for each in given])
                barred = (jax.lax.optimization_barrier(each) if _is_float(each) else each for each in computed)
                found = [self.keep(each, step) for each in barred]
            values |= zip(equation.outvars, found, strict=True)
        return [self._read(each, values) for each in jaxpr.outvars]

    def _read(self, variable: Any, values: dict[Any, Value]) -> Value:
        return Value(-1, variable.val) if hasattr(variable, "val") else values[variable]


def _equations(body: Any) -> Iterator[Any]:
    for equation in getattr(body, "jaxpr", body).eqns:
        name = str(equation.primitive.name)
        if name in _CALLS:
            yield from _equations(equation.params[_CALLS[name]])
        else:
            yield equation


def _is_float(value: Any) -> bool:
    import jax.numpy as jnp

    return bool(jnp.issubdtype(jnp.result_type(value), jnp.inexact))
