"""Findings about eager operations that the same array of varying size reaches become one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling.operations import Operation, operations_joined, varying_sizes
from jaxmagic.doctor.rules.compiling.recompilations import Group
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note

SOURCE = """def means(points, labels):
    for k in range(5):
        members = points[labels == k]
        mean = members.mean(0)
        use(mean)

def other(x):
    return x[x > 0]
"""
SIZES = frozenset({"17", "23", "31"})
BY_VALUES = note("doctor.recompile_by_values", text="points[labels == k]", argument="")


@pytest.fixture
def file(tmp_path: Path) -> str:
    made = tmp_path / "means.py"
    made.write_text(SOURCE)
    return str(made)


def operation(
    function: str,
    cost_ns: float,
    compiles: tuple[int, ...],
    file: str,
    *lines: int,
    sizes: Any = SIZES,
    **fields: Any,
) -> Operation:
    frames = [Frame(function="other" if each > 6 else "means", file=file, line=each) for each in lines]
    cause = fields.pop("cause", "shape")
    given: dict[str, Any] = {"line": f"{file}:{lines[0]}" if len(set(lines)) == 1 else None, "per": "first run"}
    given |= {"remedy": note("doctor.recompile_one_size")} | fields
    facts = {"function": function, "cause": cause, "programs": 2, "every_run": 0, "reason": "another shape"}
    found = note("doctor.recompile", **facts)
    finding = RuleFinding(
        rule="recompile", found=found, cost_ns=cost_ns, basis="measured", compiles=compiles, **given
    )
    return Operation(finding, frames, sizes)


def test_operations_of_one_line_are_joined(file: str) -> None:
    several = [
        operation(name, cost, (cost, 9 - cost), file, 4)
        for cost, name in enumerate(("add", "mul", "gather", "sub"), 1)
    ]
    (joined,) = operations_joined(several)
    assert str(joined.found) == (
        "4 operations (sub, gather, mul and 1 more) compile again 8 times in the first run for different shapes."
    )
    assert (joined.cost_ns, joined.compiles, joined.evidence) == (10, (1, 2, 3, 4, 5, 6, 7, 8), ())
    (two,) = operations_joined(several[:2])
    assert str(two.found).startswith("2 operations (mul, add) compile again 4 times")


def test_the_line_that_makes_the_size_stands_for_those_that_it_reaches(file: str) -> None:
    made = operation("gather", 1, (0,), file, 3, remedy=BY_VALUES)
    (joined,) = operations_joined([operation("mean", 5, (1,), file, 4), operation("add", 2, (2,), file, 3, 4), made])
    assert (joined.line, joined.remedy, joined.cost_ns, joined.compiles) == (f"{file}:3", BY_VALUES, 8, (0, 1, 2))
    assert str(joined.found).startswith("3 operations (mean, add, gather)")
    assert [str(each) for each in joined.evidence] == [f"The same sizes reach {file}:4: mean = members.mean(0)"]


def test_what_differs_in_function_run_size_or_remedy_is_not_joined(file: str) -> None:
    first = operation("add", 1, (0,), file, 3)
    for other in (
        operation("mul", 2, (1,), file, 8),
        operation("mul", 2, (1,), file, 3, sizes=frozenset({"5", "6", "17"})),
        operation("mul", 2, (1,), file, 3, sizes=frozenset()),
        operation("mul", 2, (1,), file, 3, per="run"),
        operation("mul", 2, (1,), file, 3, cause="new function"),
        operation("mul", 2, (1,), file, 3, remedy=None),
        operation("mul", 2, (1,), file, 3, remedy=note("doctor.recompile_pad")),
    ):
        assert operations_joined([first, other]) == [first.finding, other.finding]
    unknown = [operation("add", 1, (0,), file), operation("mul", 1, (1,), file)]
    assert operations_joined(unknown) == [each.finding for each in unknown]


def test_sizes_vary_that_are_not_those_of_all_programs(compilation: Any) -> None:
    types = ("f32[17,3]", "f32[23,3]"), ("f32[31,3]", "f32[17,3]")
    causes = [Cause(kind="shape", reason="another shape", now=now, before=before) for now, before in types]
    made = [compilation(cause=each) for each in causes]
    assert varying_sizes(Group("add", None, "shape", made)) == SIZES
    assert varying_sizes(Group("add", None, "shape", [compilation()])) == frozenset()
