"""Finds operations outside jit that are compiled for each value of a Python number, as ``jnp.roll(x, k)`` is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....record.evidence import Evidence
from ...rewriting.numbers.passed_numbers import numbers_in
from ...rewriting.syntax import loaded
from ..host_time import shapes_of
from ..syntax import around, function_around

#: From so many programs on, a number has many values.
_MANY_VALUES = 10

#: How many programs there are of each name and each shapes of arguments.
_Counts = dict[tuple[str, tuple[str, ...]], int]


class PerValue(NamedTuple):
    """An operation at one line that has many programs for arguments of the same shapes.

    Attributes:
        line: the line.
        operations: the names of the operations in XLA, such as ``"jit__roll_static"``.
        programs: how many of their programs are known.
        numbers: the variables whose values may differ, as far as the syntax tells.
    """

    line: Frame
    operations: tuple[str, ...]
    programs: int
    numbers: tuple[str, ...]


def per_value(evidence: Evidence) -> PerValue | None:
    """Return the operations that have a program for each value of a number; ``None`` if there are none."""
    by_line: dict[Frame, _Counts] = {}
    for each in evidence.programs or ():
        shapes = shapes_of(each) if each.eager else None
        if each.called_at is not None and shapes is not None:
            counts = by_line.setdefault(each.called_at, {})
            key = each.executable.name, shapes
            counts[key] = counts.get(key, 0) + 1
    found = [_found(line, counts, evidence) for line, counts in by_line.items()]
    return max((each for each in found if each is not None), key=lambda each: each.programs, default=None)


def traces(code: str | None) -> bool:
    """Return whether code jits a function without static arguments, so that all values have one program."""
    return code is not None and "static_arg" not in code


def of_each_value(operation: PerValue, evidence: Evidence) -> Note:
    """Return the advice to make one program of those of all values."""
    return note(
        "doctor.per_value_remedy",
        line=operation.line.location,
        operations=", ".join(each.removeprefix("jit_").strip("_") for each in operation.operations),
        numbers=", ".join(operation.numbers),
    )


def _found(line: Frame, counts: _Counts, evidence: Evidence) -> PerValue | None:
    nodes = around(line)
    if not nodes:
        return None
    written = sum(isinstance(each, ast.Call | ast.Subscript | ast.BinOp) for each in ast.walk(nodes[-1]))
    many = {key: count for key, count in counts.items() if count >= max(_MANY_VALUES, written + 1)}
    numbers = tuple(sorted(_numbers_at(line, evidence))) if many else ()
    names = tuple(dict.fromkeys(name for name, _ in many))
    return PerValue(line, names, sum(many.values()), numbers) if numbers else None


def _numbers_at(line: Frame, evidence: Evidence) -> Iterator[str]:
    """Yield the numbers of Python that the statement of a line passes to functions, or indexes with."""
    nodes = around(line)
    used = set[str]()
    for each in ast.walk(nodes[-1]):
        if isinstance(each, ast.Call):
            used |= {name for argument in each.args for name in _plain(argument)}
        elif isinstance(each, ast.Subscript):
            used |= loaded([each.slice])
    yield from used & {*numbers_in(function_around(line) or nodes[0], line.file, evidence)}


def _plain(argument: ast.expr) -> set[str]:
    """Return the names in an argument, without those in calls inside it."""
    return set() if any(isinstance(each, ast.Call) for each in ast.walk(argument)) else loaded([argument])
