"""Static values that the session has seen before are found all the same: the code needs a program for each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import recompile
from jaxmagic.doctor.rules.compiling.earlier_programs import with_earlier
from jaxmagic.doctor.rules.compiling.recompilations import grouped

X = np.ones((8, 8), np.float32)
RATES = (0.5, 0.4, 0.3, 0.2, 0.1)


@pytest.fixture(autouse=True)
def however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 0)


def new_step() -> Any:
    @partial(jax.jit, static_argnames="rate")
    def step(x: Any, rate: float) -> Any:
        return jnp.sin(x) @ x * rate

    return step


def found(step: Any, rates: tuple[float, ...]) -> list[RuleFinding]:
    def code(x: Any) -> None:
        for rate in rates:
            step(x, rate=rate)

    return list(jaxmagic.diagnose(code, X, only=["recompile"]).findings)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (0, "step compiles again 4 times in the first run for different static values."),
        (2, "step compiles again 3 times in the first run for different static values, and once before it in"),
        (4, "step compiles again once in the first run for different static values, and 3 times before it in"),
        (5, "step compiled again 4 times earlier in this session for different static values. This code runs"),
    ],
)
def test_values_are_found_however_many_of_them_the_session_has_seen(seen: int, words: str) -> None:
    step = new_step()
    for rate in RATES[:seen]:
        with jaxmagic.stopwatch():
            step(X, rate=rate)
    (finding,) = found(step, RATES)
    assert str(finding.found).startswith(words)
    assert str(finding.remedy).startswith("step only computes with rate, so one program serves all values")
    assert finding.per == "first run"
    assert "Later runs have the same values, and compile nothing for them." in map(str, finding.evidence)
    assert len(finding.compiles) == min(len(RATES) - seen, 4)


@pytest.mark.parametrize("rates", [(0.1,), (0.6,), (0.4, 0.1), ()])
def test_what_the_code_does_not_run_does_not_count(rates: tuple[float, ...]) -> None:
    step = new_step()
    for rate in RATES:
        with jaxmagic.stopwatch():
            step(X, rate=rate)
    assert found(step, rates) == []


def test_time_in_earlier_measurements_is_no_cost_of_a_run_that_compiles(timing: Any, compilation: Any) -> None:
    cause = Cause(kind="static value", reason="", remedy="pass it as an array", argument="rate")
    now = compilation(function="step", location="cell 1:1", cause=cause)
    before = [replace(now, compilation_ns=10**9) for _ in range(3)]
    (group,) = grouped([now])
    joined = group._replace(compilations=[*before, now], earlier=3)
    assert joined.first_run_ns == now.total_ns
    assert group._replace(compilations=before, earlier=3).first_run_ns == sum(each.total_ns for each in before)
    first = timing(now)
    evidence = Evidence(code=None, first=first, observed=first, earlier=tuple(before))
    assert list(with_earlier([group], evidence)) == [group]  # no program is known to run
