"""Finds the user's line that calls eager operations."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from functools import partial

from .....records.call_stack import Frame
from ....record.evidence import Dispatch, Evidence
from ..host_time import names_of_program
from ..syntax import Loop, around, function_around, loop_around, own_nodes
from .first_called import first_called, most_called
from .inside_function import Calling, SourceRange, at_least

#: Fewer samples of the host's line are chance.
_LEAST_SAMPLES = 3

#: A line that may call no more than this share of the operations is named only if no other called more of them first.
_LEAST_MOST = 0.5

#: JAX's names of comparisons. ``a < b`` may call ``less`` of ``a`` or ``greater`` of ``b``.
_COMPARING = frozenset({"equal", "greater", "greater_equal", "less", "less_equal", "not_equal"})


def calling_line(calls: list[Dispatch], evidence: Evidence) -> Frame | None:
    """Return the user's line that calls the operations; ``None`` if it is unknown.

    With enough samples of the host, it is the line with most samples in the function with most samples. Of these,
    neither has a larger share than of the operations that it may call; and a few samples show no more than the
    operations that it was the first to call. Otherwise it is the line that called them first in the first run, which
    need not be where they are called most often; or the only one with a condition that compares and waits as often.
    """
    sampled = _samples(evidence)
    if max(sampled.values(), default=0) >= _LEAST_SAMPLES:
        functions: dict[tuple[str, str] | None, list[Frame | None]] = {}
        for line, _ in sampled.most_common():
            functions.setdefault(_place(line), []).append(line)
        most = max(functions.values(), key=lambda lines: _share(lines, sampled, calls, evidence))
        line = max(most, key=lambda line: _share([line], sampled, calls, evidence))
        return line if _most(line, calls, evidence) > _LEAST_MOST else _first_of_most(calls, evidence) or line
    first = _first_of_most(calls, evidence)
    if first is not None and not _is_beside_loop(first):
        return first
    for call in calls:
        programs = [each for each in evidence.programs or () if each.eager and call.name in names_of_program(each)]
        lines = {each.called_at for each in programs}
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
    return +found


def _share(
    lines: Sequence[Frame | None], sampled: Counter[Frame | None], calls: Sequence[Dispatch], evidence: Evidence
) -> float:
    """Return the share of the operations that some lines of one function call, as far as it is known."""
    total = sampled.total()
    most = sum(min(sampled[each] / total, _most(each, calls, evidence)) for each in lines)
    places = {(each.file, each.line) for each in lines if each is not None}
    first = first_called(lambda line: (line.file, line.line) in places, calls, evidence) if places else None
    return (
        most
        if first is None
        else min(most, max(first, at_least(sum(sampled[each] for each in lines) / total, total)))
    )


def _first_of_most(calls: Sequence[Dispatch], evidence: Evidence) -> Frame | None:
    """Return the line that called most of the operations first; ``None`` if there is none."""
    lines = dict.fromkeys(each.called_at for each in evidence.programs or () if each.eager and each.called_at)
    for line in lines:
        if (first_called(line.__eq__, calls, evidence) or 0.0) > _LEAST_MOST:
            return line
    return None


def _most(line: Frame | None, calls: Sequence[Dispatch], evidence: Evidence) -> float:
    return 1.0 if line is None else most_called([SourceRange(line.file, line.line, line.line)], calls, evidence)


def _place(line: Frame | None) -> tuple[str, str] | None:
    return None if line is None else (line.function, line.file)


def _is_beside_loop(line: Frame) -> bool:
    """Return whether a line runs once where a loop beside it may call the same operations many times."""
    nodes = around(line)
    if not nodes or loop_around(line) is not None or _has_loop(nodes[-1]):
        return False
    return _has_loop(function_around(line) or nodes[0])


def _has_loop(node: ast.AST) -> bool:
    return any(isinstance(each, Loop | ast.comprehension) for each in (node, *own_nodes(node)))
