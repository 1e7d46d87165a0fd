"""Which findings are about the same loop, by the lines that called their programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.jitting.shared_loop import with_shared_loops
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note

SOURCE = """def update(q):
    return 0.9 * q

def train(q):
    for _ in range(30):
        g = grad(q)
        q = update(q) - g
    for _ in range(30):
        q = q + 1
    return q
"""


@pytest.fixture
def found(evidence: Any, executable: Any, tmp_path: Path) -> Callable[..., list[str]]:
    """Findings, given by rules and lines; returns what each says of the same loop."""
    file = tmp_path / "train.py"
    file.write_text(SOURCE)

    def line(function: str, number: int) -> Frame:
        return Frame(function=function, file=str(file), line=number)

    def program(*stack: Frame, location: str | None = None) -> Program:
        made = Program(executable=executable(name="jit_f"), module=None, function="f", eager=True)
        return replace(made, called_at=stack[0], called_from=stack, location=location)

    outer = line("<module>", 12)
    programs = (
        program(line("update", 2), line("train", 7), outer),
        program(line("train", 6), outer, location="grad.py:1"),
        program(line("train", 9), outer),
    )

    def find(*places: tuple[str, str]) -> list[str]:
        findings = [
            RuleFinding(
                rule=rule,
                found=note("doctor.not_jitted_remedy", way="group"),
                line=at if ":" in at else line("train", int(at)).location,
            )
            for rule, at in places
        ]
        told = with_shared_loops(findings, evidence(programs=programs))
        return [
            str(each.evidence[0].facts["rules"]).replace(str(file), "train.py") if each.evidence else ""
            for each in told
        ]

    return find


def test_lines_of_one_loop_share_it(found: Callable[..., list[str]]) -> None:
    told = found(("not-jitted", "7"), ("dispatch-bound", "6"))
    assert [each.split(" at ")[0] for each in told] == ["dispatch-bound", "not-jitted"]


def test_so_does_a_function_that_the_loop_calls(found: Callable[..., list[str]]) -> None:
    assert all(found(("not-jitted", "2"), ("dispatch-bound", "6")))


def test_so_does_a_jitted_function_whose_calls_are_on_several_lines(found: Callable[..., list[str]]) -> None:
    assert found(("dispatch-bound", "grad.py:1"), ("not-jitted", "7"))[1] == "dispatch-bound at grad.py:1"


@pytest.mark.parametrize(
    "places",
    [
        [("not-jitted", "7"), ("dispatch-bound", "9")],  # in two loops
        [("not-jitted", "7"), ("dispatch-bound", "10")],  # in none
        [("not-jitted", "7"), ("recompile", "6")],  # another remedy
        [("not-jitted", "7")],
    ],
)
def test_others_share_none(found: Callable[..., list[str]], places: list[tuple[str, str]]) -> None:
    assert found(*places) == [""] * len(places)
