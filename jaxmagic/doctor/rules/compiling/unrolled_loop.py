"""Finds loops of Python that JAX has unrolled into one long program."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from .... import units
from ....compilation.record.compilation import Compilation
from ....records.call_stack import is_users
from ....records.note import Note, note
from ...analysis.program_names import name_in_xla
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ...record.program import Program, RepeatedLine
from ..rewriting.loops.loop_code import loop_code
from ..rewriting.loops.loop_facts import (
    counter_of,
    each_appends,
    is_range,
    is_sequential,
    iterated,
    lists_appended,
    makes_array,
    mapped_rows,
    trip_count,
    way_of,
)
from ..rewriting.syntax import Loop, function_around, loops_around, tree_of, with_imports
from ..rule import Rule, source_at
from .compile_claims import numbers_of

#: A loop is unrolled if its lines were traced at least this often.
_LEAST_ROUNDS = 8

#: It has at least this share of the equations of its program.
_LEAST_SHARE = 0.5

#: At least this share of its equations are of primitives that repeat with one shape: its rounds are alike.
_LEAST_ALIKE = 0.75

#: A program takes about this long to compile even if it is short, also with a loop of JAX.
_SHORT_NS = 200_000_000

#: The loop has to cost at least this much beyond that.
_LEAST_NS = 300_000_000


#: What JAX makes of ``xs[i]``.
_SLICES = "slice", "dynamic_slice", "gather"


class _Unrolled(NamedTuple):
    """A loop, with its lines that were traced to many equations, and the number of equations that make its items.

    It goes over the rows of arrays if `rows`, as far as these equations tell.
    """

    loop: Loop
    lines: list[RepeatedLine]
    enclosing: int
    header: int = 0
    slices: int = 0
    rows: bool = False

    @property
    def equations(self) -> int:
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
        return 0 < uses * self.rounds <= self.slices

    @property
    def rounds(self) -> int:
        """The number of rounds, from the syntax, or from how often its lines were traced."""
        return trip_count(self.loop) or min(each.rounds for each in self.lines)


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the loop that most of a program comes from, if the program took long to compile."""
    seen: set[tuple[str | None, ...]] = set()
    for program in sorted(evidence.programs or (), key=_is_backward_pass):
        key = program.location or program.transformed_at, program.executable.name
        if program.eager or not program.repeated_lines or not program.equations or key in seen:
            continue
        compilations = _compilations(program, evidence)
        if sum(max(each.total_ns - _SHORT_NS, 0) for each in compilations) >= _LEAST_NS:
            for finding in _look_at(program, compilations, evidence):
                seen.add(key)
                yield finding


def _is_backward_pass(program: Program) -> bool:
    """Return whether nobody called the function of a program: what is said is about the forward pass, if it ran."""
    return program.function is None and program.transformed is None


def _compilations(program: Program, evidence: Evidence) -> list[Compilation]:
    """Return the compilations of a function in the first run, but for what the persistent cache had."""
    location = program.location or program.transformed_at
    return [
        each
        for each in evidence.first.compilations
        if each.compiled
        and each.thread is None
        and each.cache != "hit"
        and not each.eager
        and (
            each.location == location if location else program.executable.name == f"jit_{name_in_xla(each.function)}"
        )
    ]


def _look_at(program: Program, compilations: list[Compilation], evidence: Evidence) -> Iterator[RuleFinding]:
    time_ns = sum(max(each.total_ns - _SHORT_NS, 0) for each in compilations)
    total = sum(each.count for each in program.equations or ())
    found = [each for each in _unrolled(program) if _is_most(each, total) and _is_alike(each)]
    found = [each for each in found if each.rounds >= _LEAST_ROUNDS]
    if not found:
        return
    unrolled = max(found, key=lambda each: (each.equations, -each.enclosing))
    line = max(unrolled.lines, key=lambda each: each.equations).line
    share = min(unrolled.equations / total, 1)
    cost_ns = share * (1 - 1 / unrolled.rounds) * time_ns
    if cost_ns < _LEAST_NS:
        return
    alone = len(found) == 1 and not unrolled.enclosing
    tree = tree_of(line.file)
    function = None if tree is None else function_around(tree, unrolled.loop.lineno)
    arrays = unrolled.takes_slices
    code = loop_code(unrolled.loop, function, arrays=arrays) if alone else None
    counts = unrolled.counts
    names = list(counts)[:3]
    yield RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.unrolled_loop",
            function=compilations[0].function,
            equations=min(unrolled.equations, total),  # lines of a recursive function count the same ones
            total=total,
            primitives=", ".join(f"{name} {counts[name]}" for name in names),
        ),
        line=line.location,
        source=source_at(line),
        evidence=(
            note(
                "doctor.unrolled_compile",
                time_ns=sum(each.total_ns for each in compilations),
                programs=len(compilations),
            ),
        ),
        cost_ns=cost_ns if alone else None,  # of several loops in each other, it is not known how often each one runs
        basis="estimated" if alone else None,
        per="first run",
        compiles=numbers_of(compilations, evidence),
        remedy=_remedy(unrolled.loop, arrays=arrays, rows=unrolled.rows),
        code=None if code is None else with_imports(code, tree),
    )


def _remedy(loop: Loop, *, arrays: bool, rows: bool) -> Note:
    if rows and not is_sequential(loop):
        return note("doctor.unrolled_remedy", loop="vmap", over="", collected="", mapped=mapped_rows(loop))
    way = way_of(loop)
    counter = counter_of(loop) if isinstance(loop, ast.For) else None
    indexed = () if counter is None else counter.indexed
    if way == "scan" and indexed and not arrays and not lists_appended(loop):
        way = "layers"
    over = indexed if arrays else ()
    if isinstance(loop, ast.For) and counter is None and (arrays or makes_array(loop.iter)):
        over = (ast.unparse(loop.iter),) if isinstance(loop.iter, ast.Name) or makes_array(loop.iter) else ()
    always = each_appends(loop)
    sometimes = [each for each in lists_appended(loop) if each not in always]
    advice = note("doctor.unrolled_remedy", loop=way, over=", ".join(over), collected=", ".join(always))
    if sometimes:
        return replace(advice, facts=advice.facts | {"selected": ", ".join(sometimes)})
    return advice


def _unrolled(program: Program) -> list[_Unrolled]:
    """Group the lines by the innermost loop of Python that runs them, if a loop of JAX could replace it."""
    groups: dict[tuple[str, int, int], _Unrolled] = {}
    for repeated in program.repeated_lines or ():
        line = repeated.line
        tree = tree_of(line.file) if is_users(line) else None
        loops = [] if tree is None else loops_around(tree, line.line, line.function)
        if not loops:
            continue
        loop = loops[-1]
        key = line.file, loop.lineno, loop.col_offset
        groups.setdefault(key, _Unrolled(loop, [], len(loops) - 1)).lines.append(repeated)
    counted_once = [each._replace(lines=_of_one_function(each.lines)) for each in groups.values()]
    found = [
        each._replace(
            header=_in_header(each, program), slices=_slices(each, program), rows=_takes_rows(each, program)
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
    function = max(equations, key=lambda name: equations[name])
    return [each for each in lines if each.line.function == function]


def _slices(unrolled: _Unrolled, program: Program) -> int:
    """Return how many slices the lines of a loop take, of the most frequent kind."""
    file, loop = unrolled.lines[0].line.file, unrolled.loop
    counts = dict.fromkeys(_SLICES, 0)
    for each in program.equations or ():
        at = None if each.inside_call else each.line
        if at is not None and at.file == file and loop.lineno <= at.line <= (loop.end_lineno or 0):
            counts[each.primitive] = counts.get(each.primitive, 0) + each.count
    return max(counts[name] for name in _SLICES)


def _takes_rows(unrolled: _Unrolled, program: Program) -> bool:
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
    rows = min(counts["slice"] + counts["dynamic_slice"], counts["squeeze"])
    return rows >= unrolled.rounds * (1 + indexed) or 0 < counts["unstack"] < unrolled.rounds


def _in_header(unrolled: _Unrolled, program: Program) -> int:
    """Return how many equations take the items of a loop apart: those of its first line, if its body is below it."""
    file, line = unrolled.lines[0].line.file, unrolled.loop.lineno
    if any(each.line.line == line for each in unrolled.lines):
        return 0
    lines = ((each.line, each.count) for each in program.equations or () if not each.inside_call)
    return sum(count for at, count in lines if at is not None and (at.file, at.line) == (file, line))


def _is_most(unrolled: _Unrolled, total: int) -> bool:
    """Return whether most equations come from a loop; those that take its items apart count for neither side."""
    return unrolled.equations >= _LEAST_SHARE * max(total - unrolled.header, 1)


def _is_alike(unrolled: _Unrolled) -> bool:
    return sum(each.repeated for each in unrolled.lines) >= _LEAST_ALIKE * unrolled.equations


RULE = Rule(
    name="unrolled-loop",
    looks_for="Python loops in jitted functions, which make programs long",
    decides=f"Reports a for or while loop whose lines were traced at least {_LEAST_ROUNDS} times, according to the "
    f"call stacks of equations, if at least {units.percent(_LEAST_SHARE)} of the equations of a program come from "
    f"it, at least {units.percent(_LEAST_ALIKE)} of these repeat with the same shape, and their share of the time to "
    f"compile the program, beyond the {_SHORT_NS // 10**6} ms that short programs take as well, is at least "
    f"{_LEAST_NS // 10**6} ms. Loops whose iterations do not depend on each other count if they go over "
    "range() or the rows of an array, but not over the leaves of a pytree. The cost is this share of the time, "
    "because it is unknown how long each equation takes to compile. "
    "With --verify, the function is compiled with all iterations and with a third of them, which shows how long they "
    "take. Programs that the finding recompile would save do not count.",
    source="https://docs.jax.dev/en/latest/control-flow.html",
    look=look,
    needs=("programs",),
)
