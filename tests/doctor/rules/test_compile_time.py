"""Long compilations are found with their lines, and the persistent cache is advised only where it helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import EquationCount, Evidence, Program
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compile_time import RULE
from jaxmagic.records.call_stack import Frame


@pytest.fixture
def seen(timing: Any, compilation: Any) -> Any:
    """Make evidence of compilations, each given by its durations of tracing and of XLA."""

    def make(*durations_ns: tuple[int, int], cache: Any = None, **changes: Any) -> Evidence:
        each = [
            compilation(tracing_ns=trace, lowering_ns=0, compilation_ns=xla, cache=cache)
            for trace, xla in durations_ns
        ]
        first = timing(*each)
        return Evidence(code="f(x)", first=first, observed=first, **changes)

    return make


@pytest.fixture
def program(executable: Any) -> Program:
    line = Frame(function="f", file="train.py", line=7)
    return Program(
        executable=executable(),
        module=None,
        function="f",
        location="cell.py:1",
        equations=(
            EquationCount(primitive="sin", line=line, count=80),
            EquationCount(primitive="dot_general", line=line, count=80),
            EquationCount(primitive="add", line=replace(line, line=8), count=10),
        ),
    )


def kinds(finding: RuleFinding) -> list[str]:
    return [each.kind.removeprefix("doctor.") for each in finding.evidence]


def test_a_second_of_xla_counts_and_the_cache_spares_it(seen: Any) -> None:
    (finding,) = RULE.look(seen((5 * 10**8, 10**9)))
    assert finding.cost_ns == 1.5e9
    assert finding.remedy is not None
    assert finding.remedy.facts == {"spared_ns": 10**9}
    assert list(RULE.look(seen((5 * 10**8, 10**9 - 1)))) == []


def test_long_tracing_counts_from_three_seconds_on_but_no_cache_spares_it(seen: Any) -> None:
    (finding,) = RULE.look(seen((25 * 10**8, 5 * 10**8)))
    assert finding.remedy is None
    assert finding.code is None
    assert kinds(finding) == ["cache_off", "cache_too_short"]
    assert list(RULE.look(seen((25 * 10**8, 4 * 10**8)))) == []


def test_a_cache_that_is_on_is_not_advised(seen: Any) -> None:
    (finding,) = RULE.look(seen((0, 2 * 10**9), cache="miss", cache_dir="/tmp/cache"))
    assert finding.remedy is None
    assert kinds(finding) == ["cache_missed"]


def test_a_program_that_calls_python_is_never_in_the_cache(seen: Any, program: Program) -> None:
    assert program.equations is not None
    calls = EquationCount(primitive="debug_callback", line=None, count=1)
    program = replace(program, equations=(*program.equations, calls))
    for cache_dir in (None, "/tmp/cache"):
        (finding,) = RULE.look(seen((0, 2 * 10**9), cache="miss", cache_dir=cache_dir, programs=(program,)))
        assert finding.remedy is None
        assert "cache_callbacks" in kinds(finding)


def test_the_lines_with_most_equations_are_named(seen: Any, program: Program) -> None:
    (finding,) = RULE.look(seen((0, 2 * 10**9), programs=(program,)))
    (about,) = [each for each in finding.evidence if each.kind == "doctor.compile_time_line"]
    assert about.facts == {"line": "train.py:7", "source": "", "equations": 160, "total": 170}


def test_short_programs_have_no_lines(seen: Any, program: Program) -> None:
    assert program.equations is not None
    program = replace(program, equations=program.equations[:1])
    (finding,) = RULE.look(seen((0, 2 * 10**9), programs=(program,)))
    assert kinds(finding) == ["cache_off"]
