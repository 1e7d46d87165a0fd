"""Findings about eager operations of one line become one."""

from __future__ import annotations

from typing import Any

from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling.operations import operations_joined
from jaxmagic.records.note import note

LINE = "cell 1:3"


def finding(function: str, cost_ns: float, programs: int, compiles: tuple[int, ...], **fields: Any) -> RuleFinding:
    given: dict[str, Any] = {"line": LINE, "per": "first run", "remedy": note("doctor.recompile_one_size")} | fields
    found = note(
        "doctor.recompile", function=function, cause="shape", programs=programs, every_run=0, reason="another shape"
    )
    return RuleFinding(rule="recompile", found=found, cost_ns=cost_ns, basis="measured", compiles=compiles, **given)


def test_operations_of_one_line_are_joined() -> None:
    several = [
        finding(name, cost, 2, (cost, 9 - cost)) for cost, name in enumerate(("add", "mul", "gather", "sub"), 1)
    ]
    (joined,) = operations_joined(several)
    assert str(joined.found) == (
        "4 operations (sub, gather, mul and 1 more) compile again 8 times in the first run for different shapes."
    )
    assert (joined.cost_ns, joined.compiles) == (10, (1, 2, 3, 4, 5, 6, 7, 8))
    (two,) = operations_joined(several[:2])
    assert str(two.found).startswith("2 operations (mul, add) compile again 4 times")


def test_what_differs_in_line_run_or_remedy_is_not_joined() -> None:
    first = finding("add", 1, 1, (0,))
    for other in (
        {"line": "cell 1:4"},
        {"line": None},
        {"per": "run"},
        {"remedy": None},
        {"remedy": note("doctor.recompile_pad")},
    ):
        both = [first, finding("mul", 2, 1, (1,), **other)]
        assert operations_joined(both) == both
    unknown = [finding("add", 1, 1, (0,), line=None), finding("mul", 1, 1, (1,), line=None)]
    assert operations_joined(unknown) == unknown
