"""The one call for a loop that waits in every round, on evidence that was never measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabricate import hlo

from jaxmagic.doctor.record.evidence import Evidence, HostUse, HostWait
from jaxmagic.doctor.record.jitted_names import StaticParameters
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.one_call import one_call_around
from jaxmagic.doctor.rules.host.host_time import HostTime
from jaxmagic.doctor.rules.host.wait import _waits
from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.hlo import Sharded

STEP = "@jax.jit\ndef step(w, x):\n    return w - x, (w * x).sum()\n"
LOOP = "def train(w, x, log):\n    for i in range(9):\n        {call}\n        {wait}  # waits\n    return w\n"
CALL, WAIT = "w, loss = step(w, x)", "log.append(f'{i}: {loss.item():.3f}')"


@pytest.fixture
def found(timing: Any, executable: Any, tmp_path: Path) -> Any:
    """Return the evidence of programs of ``step`` with arguments of these shapes, and the line that waits."""

    def make(
        call: str = CALL, wait: str = WAIT, shapes: tuple[str, ...] = ("f32[3]",), static: tuple[str, ...] = ()
    ) -> tuple[Frame, Evidence]:
        file = tmp_path / "train.py"
        file.write_text(f"import jax\n{STEP}{LOOP.format(call=call, wait=wait)}")
        lines = file.read_text().splitlines()
        called, waits = lines.index(f"        {call}") + 1, lines.index(f"        {wait}  # waits") + 1
        called_at = Frame(function="train", file=str(file), line=called)
        known = {"executable": executable(name="jit_step"), "function": "step", "arguments": ("w", "x")}
        programs = []
        for shape in shapes:
            module = hlo.module(name="jit_step", inputs=(Sharded(name="x", shape=shape, pieces=None),))
            programs.append(Program(module=module, called_at=called_at, **known))
        declared = (StaticParameters(function="step", names=static),) if static else ()
        evidence = Evidence(code="", first=timing(), observed=timing(), programs=tuple(programs), static=declared)
        return Frame(function="train", file=str(file), line=waits), evidence

    return make


def test_a_loop_that_logs_what_each_round_returned_becomes_one_call(found: Any) -> None:
    code = one_call_around(*found())
    assert code is not None
    assert "w, loss = step(w, x)\n        return w, loss\n" in code
    assert code.endswith("log.append(f'{i}: {loss.item():.3f}')")


@pytest.mark.parametrize(
    "changes",
    [
        {"call": "w, loss = other(w, x)"},
        {"call": "loss = x"},
        {"wait": "save(loss.item())"},
        {"wait": "if loss.item() < 0: break"},
        {"shapes": ("f32[3]", "f32[4]")},
        {"static": ("x",)},
        {"shapes": ()},
    ],
    ids=str,
)
def test_another_loop_is_left_alone(found: Any, changes: dict[str, Any]) -> None:
    assert one_call_around(*found(**changes)) is None


def test_the_finding_has_the_call_and_says_where_values_are_read(found: Any) -> None:
    line, evidence = found()
    wait = HostWait(line=line, function="item", library=None, count=9, wait_ns=1)
    use = HostUse(dispatches=(), idle_ns=1, waited_ns=1, waits=9)
    time = HostTime(use, 1.0, (wait,), 1.0, 0.0, 0.0, 1.0, 1.0)
    finding = _waits(time, evidence)
    assert finding.code == one_call_around(line, evidence)
    assert "read what all rounds returned after the loop" in str(finding.remedy)
    elsewhere = HostWait(
        line=Frame(function="f", file=line.file, line=1), function="item", library=None, count=9, wait_ns=1
    )
    assert _waits(time._replace(waits=(wait, elsewhere)), evidence).code is None
