"""Finds the sorts in a jaxpr of which only the first or the last few elements are used.

Only attributes of JAX's objects are read; where they have changed, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ....records.call_stack import Frame
from ....runtime.tracing import inner_jaxprs, line_of
from ...record.partial_sort import PartialSort
from ..frames import known

#: The most equations that are searched.
_MOST_EQUATIONS = 20_000

#: Primitives that call the jaxpr in them once, with their own operands.
_CALLS = frozenset({"jit", "pjit"})

#: HLO's names of element types that are sorted.
_TYPES = {"float32": "f32", "float64": "f64", "bfloat16": "bf16", "float16": "f16"}


class _Part(NamedTuple):
    """The used elements of a result, counted from its beginning or its end."""

    length: int
    from_end: bool


def partial_sorts(jaxpr: Any) -> tuple[PartialSort, ...]:
    """Return the sorts of floating-point numbers of which few elements are used, along the last axis.

    If a sort of the same shape is used as a whole, neither is returned: in the compiled program, they cannot be told
    apart.

    >>> import jax, jax.numpy as jnp
    >>> (found,) = partial_sorts(jax.make_jaxpr(lambda x: jnp.argsort(x)[:3])(jnp.ones(50)))
    >>> found.shape, found.used, found.end, found.indices
    ('f32[50]', 3, 'smallest', True)
    """
    try:
        found = list(_found(jaxpr))
    except Exception:
        return ()
    whole = {shape for shape, each in found if each is None}
    return tuple(each for shape, each in found if each is not None and shape not in whole)


def _found(jaxpr: Any) -> Iterator[tuple[str, PartialSort | None]]:
    """Yield the shape of each sort, and its description if only a part of it is used."""
    left = _MOST_EQUATIONS
    pending: list[_Level] = [_Level(jaxpr, None, None)]
    while pending:
        level = pending.pop()
        for equation in level.jaxpr.eqns:
            left -= 1
            if left < 0:
                raise ValueError("too many equations")
            name = str(equation.primitive.name)
            around = (level, equation) if name in _CALLS else (None, None)
            pending += [_Level(inner, *around) for inner in inner_jaxprs(equation)]
            if name == "sort":
                yield _shape(equation), _described(equation, level)


class _Level:
    """A jaxpr, with the equation around it that calls it if both have the same results.

    Args:
        jaxpr: the jaxpr, open or closed.
        around: the jaxpr that calls it.
        call: the equation of `around` that does so.
    """

    def __init__(self, jaxpr: Any, around: _Level | None, call: Any) -> None:
        self.jaxpr, self.around, self.call = getattr(jaxpr, "jaxpr", jaxpr), around, call
        self._users: dict[Any, list[Any]] | None = None

    def users(self, variable: Any) -> list[Any]:
        """Return the equations that use a variable."""
        if self._users is None:
            self._users = {}
            for equation in self.jaxpr.eqns:
                for operand in equation.invars:
                    if not hasattr(operand, "val"):  # a literal has a value, and may not be hashable
                        self._users.setdefault(operand, []).append(equation)
        return self._users.get(variable, [])


def _described(equation: Any, level: _Level) -> PartialSort | None:
    keys = equation.invars[0].aval
    axis = keys.ndim - 1
    operands = equation.invars
    if equation.params["dimension"] != axis or equation.params["num_keys"] != 1 or len(operands) > 2:
        return None
    if len(operands) == 2 and not _are_indices(operands[1], level):
        return None
    values, *indices = [_used(each, level, axis) for each in equation.outvars]
    parts = {part for used in (values, *indices) for part in used or ()}
    if values is None or None in indices or len(parts) != 1:
        return None
    (part,) = parts
    outer, outermost = level, equation
    while outer.around is not None:
        outer, outermost = outer.around, outer.call
    place = line_of(outermost)
    return PartialSort(
        line=None if place is None else known(Frame(function=place[0], file=place[1], line=place[2])),
        shape=_shape(equation),
        length=keys.shape[axis],
        used=part.length,
        end="largest" if part.from_end else "smallest",
        indices=any(indices),
    )


def _are_indices(variable: Any, level: _Level) -> bool:
    """Return whether a variable counts up or down along its last axis."""
    for _ in range(3):
        made = next((each for each in level.jaxpr.eqns if variable in each.outvars), None)
        if made is None:
            return False
        if made.primitive.name == "iota":
            return bool(made.params["dimension"] == variable.aval.ndim - 1)
        broadcast = made.params.get("broadcast_dimensions")
        if made.primitive.name != "rev" and (not broadcast or broadcast[-1] != variable.aval.ndim - 1):
            return False
        variable = made.invars[0]
    return False


def _used(variable: Any, level: _Level, axis: int, reversed_: bool = False) -> list[_Part] | None:
    """Return the parts of a variable that are used; ``None`` if one of them is no slice at one end."""
    parts: list[_Part] = []
    for equation in level.users(variable):
        name = str(equation.primitive.name)
        if name == "slice":
            part = _sliced(equation, axis)
            if part is None:
                return None
            parts.append(part._replace(from_end=part.from_end != reversed_))
        elif name == "rev" and tuple(equation.params["dimensions"]) == (axis,):
            inner = _used(equation.outvars[0], level, axis, not reversed_)
            if inner is None:
                return None
            parts += inner
        elif name in _CALLS and (called := next(inner_jaxprs(equation), None)) is not None:
            inside = _Level(called, level, equation)
            places = [place for place, operand in enumerate(equation.invars) if operand is variable]
            for place in places:
                inner = _used(inside.jaxpr.invars[place], inside, axis, reversed_)
                if inner is None:
                    return None
                parts += inner
        else:
            return None
    for number, result in enumerate(level.jaxpr.outvars):
        if result is variable:
            if level.around is None:
                return None
            outer = _used(level.call.outvars[number], level.around, axis, reversed_)
            if outer is None:
                return None
            parts += outer
    return parts


def _sliced(equation: Any, axis: int) -> _Part | None:
    shape, parameters = equation.invars[0].aval.shape, equation.params
    starts, limits = parameters["start_indices"], parameters["limit_indices"]
    if any(each != 1 for each in parameters["strides"] or ()):
        return None
    count, length = limits[axis] - starts[axis], shape[axis]
    if starts[axis] == 0:
        return _Part(count, False)
    return _Part(count, True) if limits[axis] == length else None


def _shape(equation: Any) -> str:
    keys = equation.invars[0].aval
    return f"{_TYPES.get(str(keys.dtype), str(keys.dtype))}[{','.join(map(str, keys.shape))}]"
