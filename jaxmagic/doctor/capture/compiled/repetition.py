"""Finds the lines from which a jaxpr has many equations, and describes them as rules need them.

Unlike ``runtime/tracing.py``, this follows the calls of a line: the equations of a library's layer count for the
line that calls the layer. Only attributes of JAX's objects are read; where they have changed, nothing is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from types import CodeType
from typing import Any, NamedTuple

from ....records.call_stack import Frame, is_users
from ....runtime.tracing import inner_jaxprs
from ...record.program import RepeatedLine
from ..frames import known

#: The most equations that are counted, which takes about 100 ms.
_MOST_EQUATIONS = 20_000

#: Primitives whose inner jaxprs run any number of times, or not at all.
_LOOPS = frozenset({"scan", "while", "cond"})

#: A line with fewer equations of one kind is not kept.
_LEAST = 8

#: At least this share of the equations of a line have to repeat, with one call stack, as often as the line ran.
_MOST_OF_IT = 0.75

#: Function, file and line.
_Place = tuple[str, str, int]


class RepeatedPlace(NamedTuple):
    """The equations of one line, and of what it calls, outside of loops.

    Attributes:
        place: function, file and line.
        equations: how many equations come from it.
        repeated: how many of these belong to a primitive with one result shape that it has at least 8 times.
        primitives: the primitives that it has at least 8 times with one result shape, with their counts.
        rounds: how often the line ran, as far as call stacks tell: most of its equations repeat at least this often
            with one call stack.
    """

    place: _Place
    equations: int
    repeated: int
    primitives: tuple[tuple[str, int], ...]
    rounds: int


class RepeatedPlaces(NamedTuple):
    """The lines of a jaxpr that have many equations.

    Attributes:
        equations: how many equations the jaxpr has; those in the body of a loop count once.
        places: the lines, those with most equations first.
    """

    equations: int
    places: tuple[RepeatedPlace, ...]


def repeated_places(jaxpr: Any, code: CodeType | None) -> RepeatedPlaces | None:
    """Find the user's lines with many equations outside of loops; ``None`` if this JAX does not show them.

    Args:
        jaxpr: the jaxpr of a jitted function.
        code: the code of this function: lines of its callers do not count.

    >>> import jax
    >>> def f(x):
    ...     for _ in range(20):
    ...         x = jax.lax.sin(x)
    ...     return x
    >>> repeated_places(jax.make_jaxpr(f)(1.0), f.__code__).equations
    20
    """
    try:
        return _counted(jaxpr, _Stacks(code))
    except Exception:
        return None


def traced_code(jaxpr: Any, codes: Collection[CodeType]) -> CodeType | None:
    """Return the code of the function whose call led to a jaxpr; ``None`` if that is not one of those given.

    JAX gives the equations of a backward pass the call stacks of the forward pass.
    """
    found: set[CodeType] = set()
    with suppress(Exception):
        for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns[:_MOST_EQUATIONS]:
            traceback = equation.source_info.traceback
            callers = () if traceback is None else traceback.raw_frames()[0]
            found |= {outermost for outermost in [each for each in callers if each in codes][-1:]}
    return found.pop() if len(found) == 1 else None


def _counted(jaxpr: Any, stacks: _Stacks) -> RepeatedPlaces:
    counts: dict[_Place, Counter[tuple[str, Any]]] = {}
    stacks_of: dict[_Place, Counter[tuple[object, ...]]] = {}
    total = 0
    pending: list[tuple[Any, frozenset[_Place], tuple[object, ...], bool]] = [(jaxpr, frozenset(), (), False)]
    while pending and total < _MOST_EQUATIONS:
        current, callers, outer, inside = pending.pop()
        for equation in getattr(current, "jaxpr", current).eqns[: _MOST_EQUATIONS - total]:
            name = str(equation.primitive.name)
            places = callers if inside else callers | stacks.places(equation)
            stack = outer if inside else (*outer, stacks.identity(equation))
            inner = list(inner_jaxprs(equation))
            pending += [(each, places, stack, inside or name in _LOOPS) for each in inner]
            if inner and name not in _LOOPS:
                continue
            total += 1
            if not inside:
                kind = name, equation.outvars[0].aval if equation.outvars else None
                for place in places:
                    counts.setdefault(place, Counter())[kind] += 1
                    stacks_of.setdefault(place, Counter())[(name, *stack)] += 1
    rounds = {place: _rounds(counter) for place, counter in stacks_of.items()}
    return RepeatedPlaces(total, tuple(_repeated(counts, rounds)))


def _rounds(stacks: Counter[tuple[object, ...]]) -> int:
    """Return how often most equations repeat with one call stack."""
    least, so_far = _MOST_OF_IT * stacks.total(), 0
    for _, count in stacks.most_common():
        so_far += count
        if so_far >= least:
            return count
    return 0


def _repeated(counts: dict[_Place, Counter[tuple[str, Any]]], rounds: dict[_Place, int]) -> Iterator[RepeatedPlace]:
    for place, counter in sorted(counts.items(), key=lambda each: -each[1].total()):
        many = [(name, count) for (name, _), count in counter.most_common() if count >= _LEAST]
        if many:
            repeated = sum(count for _, count in many)
            yield RepeatedPlace(place, counter.total(), repeated, tuple(many[:5]), rounds[place])


class _Stacks:
    """Reads the user's lines on the stacks of equations, up to the jitted function."""

    def __init__(self, code: CodeType | None) -> None:
        self._code = code
        self._known: dict[tuple[CodeType, int], _Place | None] = {}

    def places(self, equation: Any) -> frozenset[_Place]:
        """Return the user's lines that led to an equation; none if the jitted function is not among its callers."""
        traceback = equation.source_info.traceback
        if traceback is None or self._code is None:
            return frozenset()
        found = []
        codes, positions = traceback.raw_frames()
        for code, position in zip(codes, positions, strict=True):
            if place := self._place(code, position):
                found.append(place)
            if code is self._code:
                return frozenset(found)
        return frozenset()

    def identity(self, equation: Any) -> object:
        """Return a key that is equal for equations with the same call stack."""
        traceback = equation.source_info.traceback
        if traceback is None:
            return None
        codes, positions = traceback.raw_frames()
        return tuple(map(id, codes)), tuple(positions)

    def _place(self, code: CodeType, position: int) -> _Place | None:
        key = code, position
        if key not in self._known:
            line = _line_at(code, position)
            frame = Frame(function=code.co_name, file=code.co_filename, line=line)
            self._known[key] = (code.co_name, code.co_filename, line) if line and is_users(frame) else None
        return self._known[key]


def _line_at(code: CodeType, position: int) -> int:
    """Return the line of an instruction; 0 if unknown."""
    return next((line or 0 for start, end, line in code.co_lines() if start <= position < end), 0)


def described_lines(found: RepeatedPlaces | None) -> tuple[RepeatedLine, ...] | None:
    """Return the lines, those with most equations first; ``None`` if they are unknown."""
    if found is None:
        return None
    described = []
    for repeated in found.places:
        function, file, line = repeated.place
        frame = known(Frame(function=function, file=file, line=line))
        if frame is not None:
            described.append(
                RepeatedLine(
                    line=frame,
                    equations=repeated.equations,
                    repeated=repeated.repeated,
                    primitives=repeated.primitives,
                    rounds=repeated.rounds,
                )
            )
    return tuple(described)
