"""The numbers that a line gives to a jitted function are counted, and nothing that may be an array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.rules.host.functions.given_numbers import numbers_given
from jaxmagic.records.call_stack import Frame

INPUTS = (
    Input(path="rate", kind="number", type="float"),
    Input(path="cfg.lr", kind="number", type="float"),
    Input(path="w", kind="jax array", type="float32[8]", size_bytes=32),
    Input(path="scale", kind="numpy array", type="float32[]", size_bytes=4),
)

RUN = "def run(w, lr):\n    for t in range(9):\n        "
CELL = "for t in range(9):\n    "


@pytest.mark.parametrize(
    ("source", "code", "count"),
    [
        (f"{CELL}w = step(w, 0.1)  # here\n", "", 1),
        (f"{CELL}w = step(w, t)  # here\n", "", 1),
        (f"{CELL}w = step(w, rate / (1 + t), t)  # here\n", "", 2),
        (f"{CELL}w = step(w, c=-rate)  # here\n", "", 1),
        (f"{CELL}w = step(w, cfg.lr)  # here\n", "", 1),
        (f"{CELL}w = step(w, np.float32(0.1), numpy.int32(t))  # here\n", "import numpy\n", 2),
        (f"{CELL}w = step(w, scale)  # here\n", "", 0),
        (f"{CELL}w = step(w, w.mean() * 2)  # here\n", "", 0),
        (f"{CELL}w = step(w, jnp.float32(0.1))  # here\n", "", 0),
        (f"{CELL}w = step(w, x)  # here\n", "", 0),
        (f"{CELL}w = step(step(w, 0.1), x)  # here\n", "", 0),
        (f"{RUN}w = step(w, lr)  # here\n", "run(w, rate)", 1),
        (f"{RUN}w = step(w, lr)  # here\n", "run(w, scale)", 0),
        (f"{RUN}w, lr = step(w, lr)  # here\n", "run(w, rate)", 0),
    ],
)
def test_only_numbers_are_counted(source: str, code: str, count: int, timing: Any, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(source)
    here = next(number for number, line in enumerate(source.splitlines(), 1) if "# here" in line)
    line = Frame(function="run" if "def run" in source else "<module>", file=str(file), line=here)
    evidence = Evidence(code=code, first=timing(), observed=timing(), inputs=INPUTS)
    assert numbers_given("step", line, evidence) == count


def test_without_a_line_there_is_none(timing: Any) -> None:
    assert numbers_given("step", None, Evidence(code="", first=timing(), observed=timing(), inputs=INPUTS)) == 0
