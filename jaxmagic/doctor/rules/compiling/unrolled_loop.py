"""Finds loops of Python that JAX has unrolled into one long program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from .... import units
from ....compilation.record.compilation import Compilation
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...analysis.program_names import name_in_xla
from ...analysis.scan_residuals import BACKWARD
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ...record.program import Program
from ..rewriting.loop_of_jax import has_layers, mapped_rows, way_of
from ..rewriting.loops.loop_code import loop_code
from ..rewriting.loops.loop_facts import counter_of, each_appends, is_sequential, lists_appended, makes_array
from ..rewriting.loops.unrolled_loops import Unrolled, unrolled_loops
from ..rewriting.syntax import Loop, function_around, tree_of, with_imports
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

#: A loop of JAX takes as long to compile as about so many iterations of an unrolled one, besides.
_LOOP_ROUNDS = 3

#: With a gradient, there is a second loop, and both take about so many times as long.
_WITH_GRADIENT = 2

#: The loop has to cost at least this much beyond that.
_LEAST_NS = 300_000_000


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
    total = sum(each.count for each in program.equations or ())
    found = [each for each in unrolled_loops(program) if _is_most(each, total) and _is_alike(each)]
    found = [each for each in found if (each.rounds or each.runs) >= _LEAST_ROUNDS]
    if not found:
        return
    unrolled = max(found, key=lambda each: (each.saved or 0, -len(each.enclosing)))
    line = _line_of(unrolled)
    share = min(unrolled.equations / total, 1)  # lines of a recursive function count the same equations
    gradient = _has_gradient(program)
    cost_ns = sum(promised_ns(each.total_ns, share, unrolled.rounds, gradient=gradient) for each in compilations)
    if cost_ns < _LEAST_NS:
        return
    tree = tree_of(line.file)
    function = None if tree is None else function_around(tree, unrolled.loop.lineno)
    arrays = unrolled.takes_slices
    code = loop_code(unrolled.loop, function, arrays=arrays, enclosing=unrolled.enclosing)
    if unrolled.converts:  # a loop of JAX would fail
        code = None
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
            *([note("doctor.unrolled_converts", dtype=unrolled.converts)] if unrolled.converts else []),
        ),
        cost_ns=None if unrolled.rounds is None else cost_ns,  # of loops in each other, that may be unknown
        basis=None if unrolled.rounds is None else "estimated",
        per="first run",
        compiles=numbers_of(compilations, evidence),
        remedy=_remedy(unrolled.loop, arrays=arrays, rows=unrolled.rows),
        code=None if code is None else with_imports(code, tree),
    )


def promised_ns(total_ns: float, share: float, rounds: int | None, *, gradient: bool) -> float:
    """Return what a loop of JAX is expected to spare of the time that a program compiles.

    ``python tests/benchmarks/run.py --only unrolled`` compares that with what it spares.

    Args:
        total_ns: the time that the program compiles.
        share: the share of its equations that come from the loop.
        rounds: the number of iterations; very many if it is unknown.
        gradient: whether it computes a gradient of the loop.
    """
    loops = _WITH_GRADIENT if gradient else 1
    spared = 1.0 if rounds is None else max(1 - loops * _LOOP_ROUNDS / rounds, 0)
    return max(total_ns - loops * _SHORT_NS, 0) * share * spared


def _has_gradient(program: Program) -> bool:
    instructions = () if program.module is None else program.module.instructions.values()
    return any(BACKWARD in each.op_name for each in instructions)


def _line_of(unrolled: Unrolled) -> Frame:
    """Return the line that most equations come from, or the first line of a loop around another loop."""
    line = max(unrolled.lines, key=lambda each: each.equations).line
    starts = {node.lineno for node in ast.walk(unrolled.loop) if isinstance(node, Loop)}
    return replace(line, line=unrolled.loop.lineno) if unrolled.inner or line.line in starts else line


def _remedy(loop: Loop, *, arrays: bool, rows: bool) -> Note:
    if rows and not is_sequential(loop):
        return note("doctor.unrolled_remedy", loop="vmap", over="", collected="", mapped=mapped_rows(loop))
    way = way_of(loop)
    counter = counter_of(loop) if isinstance(loop, ast.For) else None
    indexed = () if counter is None else counter.indexed
    if way == "scan" and indexed and not arrays and not lists_appended(loop):
        way = "layers"
    if way == "layers" and isinstance(loop, ast.For) and not isinstance(loop.iter, ast.Name | ast.Attribute):
        way = way if indexed or has_layers(loop) else "items"
    over = indexed if arrays else ()
    if isinstance(loop, ast.For) and counter is None and (arrays or makes_array(loop.iter)):
        over = (ast.unparse(loop.iter),) if isinstance(loop.iter, ast.Name) or makes_array(loop.iter) else ()
    always = each_appends(loop)
    sometimes = [each for each in lists_appended(loop) if each not in always]
    advice = note("doctor.unrolled_remedy", loop=way, over=", ".join(over), collected=", ".join(always))
    if sometimes:
        return replace(advice, facts=advice.facts | {"selected": ", ".join(sometimes)})
    return advice


def _is_most(unrolled: Unrolled, total: int) -> bool:
    """Return whether most equations come from a loop; those that take its items apart count for neither side."""
    return unrolled.equations >= _LEAST_SHARE * max(total - unrolled.header, 1)


def _is_alike(unrolled: Unrolled) -> bool:
    return sum(each.repeated for each in unrolled.lines) >= _LEAST_ALIKE * unrolled.equations


RULE = Rule(
    name="unrolled-loop",
    looks_for="Python loops in jitted functions, which make programs long",
    decides=f"Reports a for or while loop whose lines were traced at least {_LEAST_ROUNDS} times, according to the "
    f"call stacks of equations, if at least {units.percent(_LEAST_SHARE)} of the equations of a program come from "
    f"it, at least {units.percent(_LEAST_ALIKE)} of these repeat with the same shape, and a loop of JAX would spare "
    f"at least {_LEAST_NS // 10**6} ms. That is an estimate, because it is unknown how long each equation takes to "
    "compile: their share of the time to compile the program, beyond the "
    f"{_SHORT_NS // 10**6} ms that short programs take as well, and without the part of {_LOOP_ROUNDS} iterations, "
    f"since compiling a loop of JAX takes about as long; with a gradient, {_WITH_GRADIENT} times as much of both. "
    "Loops whose iterations do not depend on each other count if they go over range() or the rows of an array, but "
    "not over the leaves of a pytree. Of loops in each other, the one is reported that would save most equations. "
    "With --verify, the function is compiled with all iterations, with a third of them, and with the loop of JAX; if "
    "that gains less, it is the cost. Programs that the finding recompile would save do not count.",
    source="https://docs.jax.dev/en/latest/control-flow.html",
    look=look,
    needs=("programs",),
)
