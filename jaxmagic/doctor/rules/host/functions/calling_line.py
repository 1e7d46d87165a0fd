"""Finds the user's line that calls eager operations."""

from __future__ import annotations

import ast
from collections import Counter
from functools import partial

from .....records.call_stack import Frame, owner
from ....record.evidence import Dispatch, Evidence
from ....record.program import Program
from ..host_time import names_of_program
from ..syntax import Loop, around, function_around, loop_around, own_nodes
from .inside_function import Calling

#: Fewer samples of the host's line are chance.
_LEAST_SAMPLES = 3

#: JAX's names of comparisons. ``a < b`` may call ``less`` of ``a`` or ``greater`` of ``b``.
_COMPARING = frozenset({"equal", "greater", "greater_equal", "less", "less_equal", "not_equal"})


def calling_line(calls: list[Dispatch], evidence: Evidence) -> Frame | None:
    """Return the user's line that calls the operations; ``None`` if it is unknown.

    With enough samples of the host, it is the line with most samples in the function with most samples. Otherwise it
    is the line for which the programs were traced first, which need not be where they are called most often; or the
    only one with a condition that compares and waits as often.
    """
    sampled = _samples(evidence)
    if max(sampled.values(), default=0) >= _LEAST_SAMPLES:
        functions = Counter[tuple[str, str] | None]()
        for line, samples in sampled.items():
            functions[_place(line)] += samples
        most = functions.most_common(1)[0][0]
        return next(line for line, _ in sampled.most_common() if _place(line) == most)
    traced = Counter(each.function for each in evidence.first.compilations if each.compiled and each.tracing_ns)
    for call in calls:
        programs = [each for each in evidence.programs or () if each.eager and call.name in names_of_program(each)]
        if not programs or traced[call.name] < len(programs):
            continue  # one of them has the line of other code, which ran before
        lines = {_first_line(each) for each in programs}
        if len(lines) == 1 and (line := lines.pop()) is not None and not _is_beside_loop(line):
            return line
    return _condition(calls[0], evidence) if calls else None


def _condition(call: Dispatch, evidence: Evidence) -> Frame | None:
    """Return the line of the only condition that waits for most results of a comparison, as ``if err < tol``."""
    lines = {
        each.line
        for each in evidence.waits or ()
        if each.line is not None and each.function == "__bool__" and 2 * each.count > call.count
        if any(map(partial(_compares, each.line), around(each.line)[-1:]))
    }
    return lines.pop() if len(lines) == 1 and call.name in _COMPARING else None


def _compares(line: Frame, statement: ast.AST) -> bool:
    compared = (each for each in own_nodes(statement) if isinstance(each, ast.Compare))
    return any(each.lineno <= line.line <= (each.end_lineno or 0) for each in compared)


def _samples(evidence: Evidence) -> Counter[Frame | None]:
    """Return the samples of lines that call operations, without those in which JAX traced or compiled them."""
    found, calling = Counter[Frame | None](), Calling.of(evidence)
    jitted = {each.function for each in evidence.programs or () if not each.eager} - {None}
    for each in evidence.host or ():
        frames = each.stack or ([] if each.line is None else [each.line])
        if calling.calls(each.called) and not any(frame.function.rpartition(".")[2] in jitted for frame in frames):
            found[each.line] += each.samples
    for compilation in () if evidence.repeated else evidence.first.compilations:
        lines = [
            program.called_at
            for program in evidence.programs or ()
            if program.eager and compilation.function in names_of_program(program)
        ]
        for line in lines:
            if line in found:
                found[line] -= round(compilation.total_ns / len(lines) / evidence.host_interval_ns)
    return +found


def _place(line: Frame | None) -> tuple[str, str] | None:
    return None if line is None else (line.function, line.file)


def _first_line(program: Program) -> Frame | None:
    if program.module is None:
        return None
    lines = (owner(each.stack) for each in program.module.instructions.values() if each.stack and not each.traced_for)
    return next(lines, None)


def _is_beside_loop(line: Frame) -> bool:
    """Return whether a line runs once where a loop beside it may call the same operations many times."""
    nodes = around(line)
    if not nodes or loop_around(line) is not None or _has_loop(nodes[-1]):
        return False
    return _has_loop(function_around(line) or nodes[0])


def _has_loop(node: ast.AST) -> bool:
    return any(isinstance(each, Loop | ast.comprehension) for each in (node, *own_nodes(node)))
