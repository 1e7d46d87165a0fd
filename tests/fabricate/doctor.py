"""A diagnosis with a finding of each form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.finding import RuleFinding, Verified
from jaxmagic.records.note import note


@pytest.fixture
def rule_finding() -> Callable[..., RuleFinding]:
    def make(**changes: Any) -> RuleFinding:
        values: dict[str, Any] = {
            "rule": "recompile",
            "found": note(
                "doctor.recompile", function="f", cause="new function", programs=3, every_run=1, reason="new function"
            ),
            "line": "cell 3:2",
            "source": "y = jax.jit(lambda x: x + 1)(x)",
            "evidence": (note("doctor.recompile_difference", argument="x", now="f32[3]", before="f32[2]"),),
            "cost_ns": 30e6,
            "basis": "measured",
            "remedy": note("doctor.recompile_remedy", remedy="define and jit the function once"),
            "code": "f = jax.jit(lambda x: x + 1)\ny = f(x)",
            "verified": Verified(before_ns=40e6, after_ns=10e6, speedup=4.0, low=3.5, high=4.4, outputs_agree=True),
        }
        return RuleFinding(**(values | changes))

    return make


@pytest.fixture
def diagnosis(timing: Any, compilation: Any, environment: Any, rule_finding: Any) -> Callable[..., Diagnosis]:
    def make(**changes: Any) -> Diagnosis:
        values: dict[str, Any] = {
            "code": "step(x)",
            "started_at": "2026-01-02T03:04:05.678+00:00",
            "findings": (
                rule_finding(),
                rule_finding(
                    rule="compile-time",
                    found=note(
                        "doctor.compile_time",
                        function="f",
                        programs=1,
                        time_ns=10**9,
                        stage="XLA",
                        stage_ns=9 * 10**8,
                    ),
                    evidence=(note("doctor.cache_off"),),
                    cost_ns=1e9,
                    per="first run",
                    remedy=note("doctor.compile_time_cache", spared_ns=9 * 10**8),
                    code=None,
                    verified=None,
                ),
            ),
            "looked": ("recompile", "compile-time"),
            "first": timing(compilation()),
            "warm": (timing(dispatch_ns=30_000_000, wait_ns=10_000_000),),
            "notes": (note("doctor.not_looked", rules="host-wait", need="waits"),),
            "environment": environment,
        }
        return Diagnosis(**(values | changes))

    return make
