"""No second of compiling is in the costs of two findings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import compile_time, recompile, unrolled_loop
from jaxmagic.doctor.rules.compiling.compile_claims import divide_compile_time
from jaxmagic.records.note import note

ALL = ("recompile", "unrolled-loop", "compile-time")


@pytest.fixture
def whatever_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short compilations count as well, so that nothing here depends on the clock."""
    monkeypatch.setattr(unrolled_loop, "_SHORT_NS", 0)
    monkeypatch.setattr(unrolled_loop, "_LEAST_NS", 1)
    monkeypatch.setattr(compile_time, "_LEAST_NS", 1)
    monkeypatch.setattr(compile_time, "LEAST_SHARE", 0)
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)


def by_rule(diagnosis: Diagnosis) -> dict[str, RuleFinding]:
    assert not [each for each in diagnosis.notes if "rule_failed" in each.kind]
    return {each.rule: each for each in diagnosis.findings}


def claimed_ns(diagnosis: Diagnosis) -> float:
    return sum(each.cost_ns or 0 for each in diagnosis.findings if each.per == "first run")


def compiled_ns(diagnosis: Diagnosis, function: str) -> list[int]:
    assert diagnosis.first is not None
    return [each.total_ns for each in diagnosis.first.compilations if each.function == function]


@pytest.mark.usefixtures("whatever_it_takes")
def test_the_rounds_of_an_unrolled_loop_are_not_long_compiling_as_well() -> None:
    @jax.jit
    def unrolled(x: Any) -> Any:
        for _ in range(40):
            x = jnp.sin(x) @ x
        return x

    diagnosis = jaxmagic.diagnose(unrolled, np.eye(8, dtype=np.float32), only=ALL)
    found = by_rule(diagnosis)
    (took_ns,) = compiled_ns(diagnosis, "unrolled")
    assert found["unrolled-loop"].cost_ns == pytest.approx(took_ns * 37 / 40)  # by hand: all but three of 40
    assert diagnosis.first is not None
    assert claimed_ns(diagnosis) == pytest.approx(sum(each.total_ns for each in diagnosis.first.compilations))
    assert found["compile-time"].basis == "estimated"
    told = found["compile-time"].evidence[-1]
    assert told.facts == {"rules": "unrolled-loop", "time_ns": round(took_ns * 37 / 40)}
    assert "is counted in the finding unrolled-loop, not here" in str(told)


@pytest.mark.usefixtures("whatever_it_takes")
def test_alone_a_rule_claims_all_of_the_time() -> None:
    @jax.jit
    def unrolled_alone(x: Any) -> Any:
        for _ in range(40):
            x = jnp.sin(x) @ x
        return x

    diagnosis = jaxmagic.diagnose(unrolled_alone, np.eye(8, dtype=np.float32), only=["compile-time"])
    assert diagnosis.first is not None
    assert claimed_ns(diagnosis) == sum(each.total_ns for each in diagnosis.first.compilations)
    assert "doctor.counted_elsewhere" not in [each.kind for each in diagnosis.findings[0].evidence]


@pytest.mark.usefixtures("whatever_it_takes")
def test_programs_that_padding_spares_are_claimed_by_that_first() -> None:
    @jax.jit
    def sizes(x: Any) -> Any:
        for _ in range(40):
            x = jnp.sin(x) * 2
        return x

    batches = [np.ones((n, 4), np.float32) for n in (17, 23, 31, 44, 57)]

    def epoch() -> list[Any]:
        return [sizes(x) for x in batches]

    diagnosis = jaxmagic.diagnose(epoch, only=ALL)
    found = by_rule(diagnosis)
    first, *others = compiled_ns(diagnosis, "sizes")
    # By hand: of four programs after the first one, padding 5 sizes to 2 spares three.
    assert found["recompile"].cost_ns == pytest.approx(sum(others) * 3 / 4)
    kept = first + sum(others) / 4
    assert found["unrolled-loop"].cost_ns == pytest.approx(kept * 37 / 40)
    assert diagnosis.first is not None
    assert claimed_ns(diagnosis) == pytest.approx(sum(each.total_ns for each in diagnosis.first.compilations))
    rules = [each.facts["rules"] for each in found["compile-time"].evidence if "rules" in each.facts]
    assert rules == ["recompile, unrolled-loop"]


@pytest.mark.usefixtures("whatever_it_takes")
def test_a_function_that_every_run_compiles_three_times_has_one_needed_program_in_the_first() -> None:
    def made_anew(x: Any) -> Any:
        return [jax.jit(lambda x: jnp.sin(x) @ x)(x) for _ in range(3)]

    diagnosis = jaxmagic.diagnose(made_anew, np.eye(8, dtype=np.float32), only=ALL)
    found = by_rule(diagnosis)
    assert found["recompile"].per == "run"
    assert len(found["recompile"].compiles) == 2
    assert found["compile-time"].cost_ns == pytest.approx(compiled_ns(diagnosis, "<lambda>")[0])


def test_the_division_leaves_order_and_other_findings_alone(timing: Any, compilation: Any) -> None:
    first = timing(compilation(), compilation())
    evidence = Evidence(code=None, first=first, observed=first)
    total_ns = sum(each.total_ns for each in first.compilations)
    long = RuleFinding(
        rule="compile-time",
        found=note("doctor.cache_off"),
        cost_ns=total_ns,
        basis="measured",
        per="first run",
        compiles=(0, 1),
    )
    again = replace(long, rule="recompile", cost_ns=float(first.compilations[1].total_ns), compiles=(1,))
    other = RuleFinding(rule="donation", found=note("doctor.cache_off"), cost_bytes=8)
    divided = divide_compile_time([long, other, again], evidence)
    assert [each.rule for each in divided] == ["compile-time", "donation", "recompile"]
    assert divided[1:] == [other, again]
    assert (divided[0].cost_ns, divided[0].basis) == (first.compilations[0].total_ns, "measured")
    all_of_it = replace(again, cost_ns=total_ns, compiles=(0, 1))
    assert divide_compile_time([long, all_of_it], evidence) == [all_of_it]
    unrolled = replace(long, rule="unrolled-loop")
    advised = divide_compile_time([unrolled, all_of_it], evidence)[0]  # which shortens each of the programs
    assert (advised.rule, advised.cost_ns, advised.basis) == ("unrolled-loop", None, None)
    assert len(advised.evidence) == 1


def test_one_finding_alone_switches_on_the_persistent_cache(timing: Any) -> None:
    switch = 'jax.config.update("jax_compilation_cache_dir", "jax_cache")'
    keep = 'jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)'
    evidence = Evidence(code="run()", first=timing(), observed=timing())
    long = RuleFinding(
        rule="compile-time",
        found=note("doctor.cache_on"),
        cost_ns=9.0,
        evidence=(note("doctor.cache_off"),),
        remedy=note("doctor.compile_time_cache", spared_ns=9 * 10**9),
        code=switch,
    )
    remedy = note("doctor.compile_time_cache_short", spared_ns=4 * 10**9, off=1)
    short = replace(long, remedy=remedy, code=f"import jax\n\n{switch}\n{keep}")
    assert divide_compile_time([short], evidence) == [short]
    first, other = divide_compile_time([short, long], evidence)
    assert other == long
    assert (first.evidence, first.code) == ((), f"import jax\n\n{keep}")
    assert str(first.remedy) == (
        "With JAX's persistent cache on, as for the long compilations, let it keep programs that compile in less "
        "than a second: it saves a later session up to 4.00 s of XLA's time, less what loading takes."
    )
