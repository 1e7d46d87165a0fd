"""Count the equations of a jaxpr by primitive and source line, through JAX's internals.

JAX's public API shows a jaxpr as text, without lines. Where its internals have changed, lines are unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

#: The most equations that are counted, which takes about 50 ms.
_MOST_EQUATIONS = 20_000

#: Primitives whose inner jaxprs run any number of times, or not at all.
_LOOPS = frozenset({"scan", "while", "cond"})


class EquationKey(NamedTuple):
    """What equations are counted by.

    Attributes:
        primitive: the name of the primitive.
        line: function, file and line of the user's innermost call; ``None`` if unknown.
        inside_loop: whether it is in the body of a loop or branch.
        dtype: the element type of the first result; empty if there is none.
    """

    primitive: str
    line: tuple[str, str, int] | None
    inside_loop: bool
    dtype: str


def count_equations(jaxpr: Any) -> dict[EquationKey, int] | None:
    """Count the equations of a jaxpr and of those inside it; ``None`` if this JAX does not show them.

    An inner jaxpr counts for each equation that calls it.

    >>> import jax, jax.numpy as jnp
    >>> counted = count_equations(jax.make_jaxpr(lambda x: jnp.sin(jnp.sin(x)))(1.0))
    >>> [(key.primitive, count) for key, count in counted.items()]
    [('sin', 2)]
    """
    try:
        from jax._src import core

        kinds = (core.Jaxpr, getattr(core, "ClosedJaxpr", core.Jaxpr))
        counted: Counter[EquationKey] = Counter()
        left = _MOST_EQUATIONS
        pending: list[tuple[Any, bool]] = [(jaxpr, False)]
        while pending and left > 0:
            current, inside = pending.pop()
            for equation in getattr(current, "jaxpr", current).eqns[:left]:
                left -= 1
                name = str(equation.primitive.name)
                inner = list(_inner(equation, kinds))
                pending += [(each, inside or name in _LOOPS) for each in inner]
                if not inner or name in _LOOPS:
                    counted[EquationKey(name, _line(equation), inside, _dtype(equation))] += 1
    except Exception:
        return None
    return dict(counted)


def _inner(equation: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    for parameter in equation.params.values():
        for each in parameter if type(parameter) in (tuple, list) else (parameter,):
            if issubclass(type(each), kinds):  # not isinstance(), which would read __class__ of the user's objects
                yield each


def _line(equation: Any) -> tuple[str, str, int] | None:
    with suppress(Exception):
        from jax._src import source_info_util

        info = equation.source_info
        try:
            frames = iter(source_info_util.user_frames(info.traceback))
        except (AttributeError, TypeError):  # before 0.8 it took the whole source_info
            frames = iter(source_info_util.user_frames(info))
        frame = next(frames, None)
        if frame is not None:
            return frame.function_name, frame.file_name, frame.start_line
    return None


def _dtype(equation: Any) -> str:
    with suppress(Exception):
        return str(equation.outvars[0].aval.dtype)
    return ""
