"""What ``jax.grad(loss)`` makes is jitted where ``loss`` exists before the loop that calls it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, HostShare
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.transformed_function import (
    is_mostly_transformed,
    jit_outermost,
    transformed_function,
)
from jaxmagic.doctor.rules.host.jitting.advice import advice_for
from jaxmagic.records.call_stack import Frame

LOSS = "def loss(w):\n    return (w**2).sum()\n"
STEP = "def step(w):\n    def loss(w):\n        return (w**2).sum()\n"
LOOP = "    for _ in range(9):\n"
CALL = "w = w - jax.grad(loss)(w)\n"

#: The code, and the function that it jits.
CASES = {
    "top_level": (f"{LOSS}for _ in range(9):\n    {CALL}", "loss_grad = jax.jit(jax.grad(loss))"),
    "named": (f"{LOSS}slope = jax.grad(loss)\nw = w - slope(w)\n", "slope = jax.jit(jax.grad(loss))"),
    "made_in_each_call": (f"{STEP}    {CALL}    return w\n", None),
    "jitted_as_well": (
        f"{LOSS}@jax.jit\ndef step(w):\n    return jax.value_and_grad(loss)(w)\n{CALL}",
        "loss_grad = jax.jit(jax.grad(loss))",
    ),
    "made_before_a_loop": (f"{STEP}{LOOP}        {CALL}    return w\n", "loss_grad = jax.jit(jax.grad(loss))"),
    "made_in_a_loop": (
        f"def train(w):\n{LOOP}        def loss(w):\n            return w.sum()\n        {CALL}",
        None,
    ),
}


@pytest.mark.parametrize(("source", "code"), CASES.values(), ids=CASES)
def test_code_that_can_be_jitted_once(source: str, code: str | None, tmp_path: Path, timing: Any) -> None:
    file = tmp_path / "train.py"
    file.write_text(source)
    lines = [Frame(function="loss", file=str(file), line=number) for number in range(1, source.count("\n") + 1)]
    at = next(each for each, text in zip(lines, source.splitlines(), strict=True) if "return" in text)
    host = tuple(HostShare(line=each, called="", samples=1, stack=(each,)) for each in lines)
    evidence = Evidence(code="w", first=timing(), observed=timing(), host=host)
    found = transformed_function(at, evidence)
    assert (found is None) == (code is None)
    remedy, given = jit_outermost(found, evidence)
    assert (remedy.facts["way"], given) == ("outermost", code)
    if found is not None:
        called = [each.first for each in found.part.called_at]
        assert called == [source.count("\n", 0, source.rindex("w = w - ")) + 1]
        assert transformed_function(replace(at, file="elsewhere.py"), replace(evidence, host=())) is None


@pytest.mark.parametrize(
    ("transformed", "direct", "other", "mostly"),
    [
        (9, 3, "", True),
        (6, 6, "", False),
        (3, 9, "", False),
        (5, 4, "", True),  # too few samples: no other line names it
        (5, 4, "print(loss(w))\n", False),
        (5, 4, "step = jax.jit(lambda w: w - loss(w))\n", True),
        (5, 4, "@jax.jit\ndef step(w):\n    return w - loss(w)\n", True),
    ],
)
def test_a_function_that_is_called_itself_as_well(
    transformed: int, direct: int, other: str, mostly: bool, tmp_path: Path, timing: Any, executable: Any
) -> None:
    file = str(tmp_path / "train.py")
    Path(file).write_text(LOSS + CALL + other)
    inside = Frame(function="loss", file=file, line=2)
    host = tuple(
        HostShare(line=inside, called="", samples=samples, stack=(inside, replace(inside, line=line)))
        for line, samples in ((3, transformed), (9, direct))
    )
    evidence = Evidence(code="w", first=timing(), observed=timing(), host=host)
    found = transformed_function(inside, evidence)
    assert found is not None
    assert is_mostly_transformed(found.part, evidence) is mostly
    program = Program(executable=executable(name="jit_sum"), module=None, eager=True, transformed="sum")
    advised = advice_for(inside, 50, replace(evidence, programs=(program,)))
    assert advised.code == ("loss_grad = jax.jit(jax.grad(loss))" if mostly else "loss = jax.jit(loss)")
