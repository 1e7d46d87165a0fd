"""Groups the lines of a jitted function that were traced many times by the loops of Python that ran them."""

from __future__ import annotations

import ast
from collections import Counter
from math import prod
from typing import NamedTuple

from .....records.call_stack import is_users
from ....record.program import Program, RepeatedLine
from ..syntax import Loop, loops_around, tree_of
from .loop_facts import counter_of, is_range, is_sequential, iterated, trip_count

#: What JAX makes of ``xs[i]``.
_SLICES = "slice", "dynamic_slice", "gather"


class Unrolled(NamedTuple):
    """A loop that was unrolled.

    Attributes:
        loop: the loop.
        enclosing: the loops around it, outermost first.
        own: its lines that were traced to many equations, without those of loops in it.
        inner: those of loops in it.
        header: the number of equations that make its items.
        slices: how many slices its lines take.
        rows: whether it goes over the rows of arrays, as far as these equations tell.
        converts: the dtype to which a single round converts, as the first one does if what is carried changes its
            dtype; empty if there is none.
    """

    loop: Loop
    enclosing: tuple[Loop, ...]
    own: list[RepeatedLine]
    inner: list[RepeatedLine]
    header: int = 0
    slices: int = 0
    rows: bool = False
    converts: str = ""

    @property
    def lines(self) -> list[RepeatedLine]:
        """All lines that were traced to many equations."""
        return [*self.own, *self.inner]

    @property
    def equations(self) -> int:
        """The number of equations that come from these lines."""
        return sum(each.equations for each in self.lines)

    @property
    def counts(self) -> dict[str, int]:
        """The number of repetitions of each primitive, most first."""
        counts: dict[str, int] = {}
        for line in self.lines:
            for primitive, count in line.primitives:
                counts[primitive] = counts.get(primitive, 0) + count
        return dict(sorted(counts.items(), key=lambda each: -each[1]))

    @property
    def takes_slices(self) -> bool:
        """Whether each iteration takes as many slices of arrays as the loop has items, so that these are no lists."""
        if not isinstance(self.loop, ast.For):
            return False
        counter = counter_of(self.loop)
        if counter is None:
            return self.header > 0
        indices = [node for each in self.loop.body for node in ast.walk(each) if isinstance(node, ast.Subscript)]
        uses = sum(isinstance(each.ctx, ast.Load) for each in indices)
        return 0 < uses * (self.rounds or self.runs) <= self.slices

    @property
    def runs(self) -> int:
        """How often its lines ran, at least."""
        return min(each.rounds for each in self.lines)

    @property
    def rounds(self) -> int | None:
        """The number of rounds, from the syntax, or from how often its lines ran; ``None`` if neither tells."""
        around = prod(trip_count(each) or 0 for each in self.enclosing)
        ran = min((each.rounds for each in self.own), default=0) // around if around else 0
        return trip_count(self.loop) or ran or None

    @property
    def saved(self) -> float | None:
        """The number of equations that a loop of JAX would save; ``None`` if it is unknown."""
        return None if self.rounds is None else self.equations * (1 - 1 / self.rounds)


def unrolled_loops(program: Program) -> list[Unrolled]:
    """Group the lines by the loops of Python that run them, if a loop of JAX could replace these."""
    groups: dict[tuple[str, int, int], Unrolled] = {}
    for repeated in program.repeated_lines or ():
        line = repeated.line
        tree = tree_of(line.file) if is_users(line) else None
        loops = [] if tree is None else loops_around(tree, line.line, line.function)
        for place, loop in enumerate(loops):
            key = line.file, loop.lineno, loop.col_offset
            group = groups.setdefault(key, Unrolled(loop, tuple(loops[:place]), [], []))
            (group.own if loop is loops[-1] else group.inner).append(repeated)
    counted_once = [
        each._replace(own=_of_one_function(each.own), inner=_of_one_function(each.inner)) for each in groups.values()
    ]
    found = [
        each._replace(
            header=_in_header(each, program),
            slices=_slices(each, program),
            rows=_takes_rows(each, program),
            converts=_converts(each, program),
        )
        for each in counted_once
    ]
    return [each for each in found if each.rows or is_sequential(each.loop)]


def _of_one_function(lines: list[RepeatedLine]) -> list[RepeatedLine]:
    """Return the lines of the function that most equations come from.

    A comprehension may have a call of its own, within the call of the function around it: both have its equations.
    """
    equations: Counter[str] = Counter()
    for each in lines:
        equations[each.line.function] += each.equations
    function = max(equations, key=lambda name: equations[name], default="")
    return [each for each in lines if each.line.function == function]


def _slices(unrolled: Unrolled, program: Program) -> int:
    """Return how many slices the lines of a loop take, of the most frequent kind."""
    file, loop = unrolled.lines[0].line.file, unrolled.loop
    counts = dict.fromkeys(_SLICES, 0)
    for each in program.equations or ():
        at = None if each.inside_call else each.line
        if at is not None and at.file == file and loop.lineno <= at.line <= (loop.end_lineno or 0):
            counts[each.primitive] = counts.get(each.primitive, 0) + each.count
    return max(counts[name] for name in _SLICES)


def _converts(unrolled: Unrolled, program: Program) -> str:
    """Return the dtype to which some lines convert once more than they run, as the first of several rounds does.

    A backward pass converts less often, as nothing needs the gradient of the first round.
    """
    file, loop, runs = unrolled.lines[0].line.file, unrolled.loop, unrolled.runs
    if not isinstance(loop, ast.For):
        return ""
    counts: Counter[tuple[int, str]] = Counter()
    for each in program.equations or ():
        if each.primitive == "convert_element_type" and each.line is not None and each.line.file == file:
            counts[each.line.line, each.dtype] += each.count
    lines = range(loop.lineno, (loop.end_lineno or 0) + 1)
    once = (
        dtype for (line, dtype), count in counts.items() if line in lines and runs and 0 < count % runs <= runs // 2
    )
    return next(once, "")


def _takes_rows(unrolled: Unrolled, program: Program) -> bool:
    """Return whether a loop goes over rows of arrays: its first lines take as many of them as it has rounds."""
    source = iterated(unrolled.loop)
    if source is None or is_range(source):
        return False
    file, last = unrolled.lines[0].line.file, source.end_lineno or source.lineno
    header = range(min(unrolled.loop.lineno, source.lineno), last + 1)
    counts: Counter[str] = Counter()
    for each in program.equations or ():
        if (
            each.line is not None
            and not each.inside_call
            and (each.line.file, each.line.line in header) == (file, True)
        ):
            counts[each.primitive] += each.count
    inside = {id(node) for node in ast.walk(source)}
    indices = [node for node in ast.walk(unrolled.loop) if isinstance(node, ast.Subscript) and id(node) not in inside]
    indexed = sum(node.lineno in header for node in indices)
    rows, rounds = min(counts["slice"] + counts["dynamic_slice"], counts["squeeze"]), unrolled.rounds or unrolled.runs
    return rows >= rounds * (1 + indexed) or 0 < counts["unstack"] < rounds


def _in_header(unrolled: Unrolled, program: Program) -> int:
    """Return how many equations take the items of a loop apart: those of its first line, if its body is below it."""
    file, line = unrolled.lines[0].line.file, unrolled.loop.lineno
    if any(each.line.line == line for each in unrolled.own):
        return 0
    lines = ((each.line, each.count) for each in program.equations or () if not each.inside_call)
    return sum(count for at, count in lines if at is not None and (at.file, at.line) == (file, line))
