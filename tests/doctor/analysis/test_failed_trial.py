"""A failed trial of jit changes the advice to jit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.doctor.analysis.failed_trial import is_in_vain, revised
from jaxmagic.doctor.record.finding import RuleFinding, Verified
from jaxmagic.records.note import Note, note


def after(*notes: Note, **facts: Any) -> RuleFinding:
    remedy = note("doctor.not_jitted_remedy", **{"way": "function", "function": "f"} | facts)
    finding = RuleFinding(rule="not-jitted", found=note("text"), remedy=remedy, code="f = jax.jit(f)")
    return revised(finding, Verified(notes=notes))


def failed(error: str) -> Note:
    return note("doctor.cannot_be_jitted", name="f", error=f"{error}: …", source="y = g(x)", line="train.py:3")


@pytest.mark.parametrize(
    ("error", "change"),
    [
        ("TracerBoolConversionError", "jnp.where or jax.lax.cond"),
        ("TracerArrayConversionError", "Replace functions of NumPy there by those of jax.numpy"),
        ("ConcretizationTypeError", "such as float() and print(), stays outside"),
        ("TracerIntegerConversionError", "becomes a static argument"),
        ("NonConcreteBooleanIndexError", "Keep all elements"),
        ("TypeError", "into a function under jax.jit."),
    ],
)
def test_what_fails_has_to_be_changed_first(error: str, change: str) -> None:
    finding = after(failed(error))
    assert finding.code is None
    assert finding.verified is not None
    advice = str(finding.remedy)
    assert advice.startswith("f cannot be jitted as it is: tracing it fails at 'y = g(x)'. Change that first")
    assert change in advice
    assert "Compile f as one program" not in advice


def test_other_obstacles_are_still_named() -> None:
    assert "x[x > 0] fails under jit" in str(after(failed("TypeError"), mask="x[x > 0]").remedy)
    advice = str(after(failed("NonConcreteBooleanIndexError"), mask="x[x > 0]").remedy)
    assert "Keep all elements there" not in advice  # the same once more


def test_what_jit_would_freeze_becomes_an_argument() -> None:
    finding = after(note("doctor.jit_freezes", name="f"))
    assert finding.code is None
    assert "Pass that result as an argument" in str(finding.remedy)


@pytest.mark.parametrize("way", ["asked", "until"])
def test_advice_that_says_so_already_stays(way: str) -> None:
    assert after(failed("TracerBoolConversionError"), way=way).remedy == note(
        "doctor.not_jitted_remedy", way=way, function="f"
    )


def tried(code: str, low: float = 2.0, own: str | None = None, **facts: Any) -> RuleFinding:
    """Return a finding, often without code of its own, for which jitting g was tried."""
    remedy = note("doctor.not_jitted_remedy", way="group", function="", outer="")
    cost: dict[str, Any] = {"cost_ns": 2.5, "basis": "estimated"}
    finding = RuleFinding(rule="not-jitted", found=note("text"), remedy=remedy, code=own, line="a.py:9", **cost)
    times: dict[str, Any] = {
        "before_ns": 3.0,
        "after_ns": 1.0,
        "speedup": 3.0,
        "low": low,
        "high": 4.0,
        "outputs_agree": True,
    }
    about = note("doctor.jitted", name="g", code=code, **facts)
    return revised(finding, Verified(notes=(about,), **times))


def test_what_was_tried_and_helped_is_advised() -> None:
    finding = tried("g = jax.jit(g)")
    assert finding.code == "g = jax.jit(g)"
    assert str(finding.remedy) == "Compile g as one program."


def test_what_was_tried_costs_what_it_spared_and_not_what_more_general_advice_would() -> None:
    finding = tried("g = jax.jit(g)", line="a.py:3", source="def g(x):")
    assert (finding.line, finding.source) == ("a.py:3", "def g(x):")
    assert (finding.cost_ns, finding.basis) == (2.0, "measured")
    for other in (tried("g = jax.jit(g)", own="h = jax.jit(h)"), tried("")):
        assert (other.line, other.cost_ns, other.basis) == ("a.py:9", 2.5, "estimated")


def test_the_jit_of_a_library_that_was_tried_is_described() -> None:
    finding = tried("g = eqx.filter_jit(g)", library="equinox")
    assert finding.code == "g = eqx.filter_jit(g)"
    assert str(finding.remedy).startswith("Compile g as one program. filter_jit traces the arrays")


def test_the_other_operations_are_put_under_the_jit_that_was_advised() -> None:
    assert str(after(failed("TypeError"), way="group", jit="nnx.jit").remedy).endswith("a function under nnx.jit.")


@pytest.mark.parametrize("jit", ["eqx.filter_jit", "nnx.jit"])
def test_what_takes_no_modules_is_not_advised_for_the_other_operations(jit: str) -> None:
    """Nor what would come next, had the jit of the function worked."""
    by_library = replace(failed("TypeError"), facts={**failed("TypeError").facts, "jit": jit})
    found = after(by_library, then="vmap", axes="(None, 0)")
    assert str(found.remedy).endswith(f"put only the other operations into a function under {jit}.")
    assert str(by_library) == f"Tried to jit f with {jit}, which failed at train.py:3: TypeError: …."
    stepped = after(by_library, way="function", then="step", line="train.py:9")
    assert stepped.remedy == found.remedy
    named = after(by_library, way="group", jit=f"lib.{jit}")
    assert str(named.remedy).endswith(f"a function under lib.{jit}.")


def test_advice_stays_if_the_trial_has_no_code_of_its_own_or_did_not_help() -> None:
    assert str(tried("").remedy).startswith("Put these operations into a function under jax.jit")
    assert tried("g = jax.jit(g)", own="h = jax.jit(h)").code == "h = jax.jit(h)"
    assert tried("g = jax.jit(g)", low=0.9).code is None


def test_other_trials_change_no_advice() -> None:
    for kind in ("doctor.not_tried_budget", "doctor.jit_of_constants"):
        assert after(Note(kind=kind)).code == "f = jax.jit(f)"


def test_advice_to_jit_a_part_stays_where_the_whole_cannot_be_jitted() -> None:
    remedy = note("doctor.recompile_in_library", library="jaxopt.LBFGS.run")
    finding = RuleFinding(rule="recompile", found=note("text"), remedy=remedy)
    assert revised(finding, Verified(notes=(failed("TypeError"),))).remedy == remedy


@pytest.mark.parametrize(
    ("verified", "in_vain"),
    [
        (Verified(before_ns=4.0, after_ns=4.0, speedup=1.0, low=0.9, high=1.1), True),
        (Verified(before_ns=4.0, after_ns=5.0, speedup=0.8, low=0.7, high=0.9), True),
        (Verified(before_ns=4.0, after_ns=1.0, speedup=4.0, low=3.0, high=5.0), False),
        (Verified(before_ns=4.0, after_ns=1.0, speedup=4.0, low=3.0, high=5.0, outputs_agree=False), True),
        (Verified(before_ns=4.0, after_ns=1.0, speedup=1.0, low=0.9, high=1.1, ceiling=True), False),
        (Verified(before_ns=4.0, after_ns=1.0), False),  # too few runs
        (Verified(before_bytes=8, after_bytes=8), True),
        (Verified(notes=(note("doctor.not_tried_failed", error="ValueError"),)), True),
        (Verified(notes=(note("doctor.not_tried_budget"),)), False),
    ],
)
def test_what_was_tried_in_vain_is_kept_with_the_trial(verified: Verified, in_vain: bool) -> None:
    finding = RuleFinding(rule="transfer", found=note("text"), remedy=note("doctor.cache_on"), code="x = put(x)")
    found = revised(finding, verified)
    assert is_in_vain(found, found.verified) == in_vain
    assert found.verified is not None
    assert (found.remedy, found.code) == ((None, None) if in_vain else (finding.remedy, finding.code))
    assert (found.verified.remedy, found.verified.code) == (
        (finding.remedy, finding.code) if in_vain else (None, None)
    )


def test_a_remedy_that_fixes_an_error_need_not_be_faster() -> None:
    finding = RuleFinding(rule="error", found=note("text"), remedy=note("doctor.cache_on"), code="x = 1")
    slower = Verified(before_ns=4.0, after_ns=5.0, speedup=0.8, low=0.7, high=0.9, outputs_agree=True)
    assert revised(finding, slower).code == "x = 1"
    assert revised(finding, replace(slower, outputs_agree=False)).code is None


def test_a_call_without_jit_that_failed_is_not_offered() -> None:
    offered, other = (
        note("doctor.error_fallback", function="f", code="f.__wrapped__(x)"),
        note("doctor.error_created"),
    )
    finding = RuleFinding(rule="error", found=note("text"), evidence=(offered, other), remedy=note("doctor.cache_on"))
    assert revised(finding, Verified(notes=(note("doctor.not_mended"),))).evidence == (offered, other)
    found = revised(finding, Verified(notes=(note("doctor.fallback_failed", error="TypeError"),)))
    assert (found.evidence, found.remedy) == ((other,), finding.remedy)


def test_advice_that_is_another_than_what_was_tried_stays() -> None:
    remedy = note("doctor.memory_remedy", function="f")
    finding = RuleFinding(rule="memory", found=note("text"), remedy=remedy)
    assert revised(finding, Verified(before_bytes=8, after_bytes=8)).remedy == remedy


def test_the_jit_of_a_library_is_not_described_if_it_fails() -> None:
    facts = {"library": "equinox", "functions": "act"}
    assert "filter_jit traces" in str(note("doctor.not_jitted_remedy", way="function", function="f", **facts))
    advice = str(after(failed("TypeError"), **facts).remedy)
    assert "filter_jit" not in advice
    assert "act" not in advice.split()


def test_advice_to_jit_more_than_was_tried_is_not_rejected() -> None:
    runs = note("doctor.tried_runs", before_runs=9, after_runs=9)
    slow = Verified(before_ns=2.0, after_ns=2.0, speedup=1.0, low=0.9, high=1.1, outputs_agree=True, notes=(runs,))
    remedy = note("doctor.not_jitted_remedy", way="group", function="")
    finding = revised(RuleFinding(rule="not-jitted", found=note("text"), remedy=remedy), slow)
    assert finding.remedy == remedy
    assert finding.verified is not None
    assert finding.verified.survives is None
    assert [each.kind for each in finding.verified.notes] == ["doctor.part_not_tried", "doctor.tried_runs"]
    of_function = note("doctor.not_jitted_remedy", way="function", function="f")
    assert revised(RuleFinding(rule="not-jitted", found=note("text"), remedy=of_function), slow).remedy is None


@pytest.mark.parametrize(
    ("changes", "cost_ns", "basis"),
    [
        ({}, 79.0, "measured"),
        ({"high": 40.0}, 97.0, "estimated"),  # it may have gained as much
        ({"ceiling": True}, 97.0, "estimated"),  # which no remedy has to reach
        ({"outputs_agree": False}, 97.0, "estimated"),
        ({"before_ns": 40.0, "after_ns": 8.4}, 97.0, "estimated"),  # which had been compiled before
    ],
)
def test_a_remedy_that_gains_less_than_was_promised_lowers_the_cost(
    changes: dict[str, Any], cost_ns: float, basis: str
) -> None:
    tried = Verified(before_ns=200.0, after_ns=42.0, speedup=1 / 0.21, low=4.5, high=5.0, outputs_agree=True)
    remedy = note("doctor.recompile_outside", names="")
    finding = RuleFinding(rule="recompile", found=note("text"), remedy=remedy, cost_ns=97.0, basis="estimated")
    found = revised(finding, replace(tried, **changes), 100)
    assert (found.cost_ns, found.basis) == (pytest.approx(cost_ns), basis)
    assert found.verified is not None
    before = [each.facts["time_ns"] for each in found.verified.notes if each.kind == "doctor.given_before"]
    assert before == ([97] if cost_ns < 97 else [])
    once = revised(replace(finding, per="first run"), tried, 100)
    assert once.cost_ns == 97.0


@pytest.mark.parametrize(("high", "cost_ns", "basis"), [(5.0, 79.0, "measured"), (40.0, 97.0, "estimated")])
def test_a_loop_of_jax_that_compiles_longer_than_was_promised_lowers_the_cost(
    high: float, cost_ns: float, basis: str
) -> None:
    took = note("doctor.unrolled_compile", time_ns=100, programs=1)
    finding = RuleFinding(rule="unrolled-loop", found=note("text"), evidence=(took,), per="first run")
    finding = replace(finding, remedy=note("doctor.cache_on"), cost_ns=97.0, basis="estimated")
    compiled = Verified(before_ns=200.0, after_ns=42.0, speedup=1 / 0.21, low=4.5, high=high, outputs_agree=True)
    found = revised(finding, replace(compiled, notes=(note("doctor.tried_compile_time"),)))
    assert (found.cost_ns, found.basis) == (pytest.approx(cost_ns), basis)
    assert revised(finding, compiled).cost_ns == 97.0  # of runs, which says nothing about compiling


@pytest.mark.parametrize(("third_ns", "cost_ns"), [(60, 60.0), (150, 97.0)])
def test_compile_time_that_a_part_of_the_rounds_has_shown_is_the_cost(third_ns: int, cost_ns: float) -> None:
    third = note("doctor.unrolled_third", rounds=48, third=16, rounds_ns=90, third_ns=30, cost_ns=third_ns)
    finding = RuleFinding(rule="unrolled-loop", found=note("text"), cost_ns=97.0, per="first run")
    found = revised(finding, Verified(notes=(third,)))
    assert found.cost_ns == cost_ns
    assert found.verified is not None
    told = [str(each) for each in found.verified.notes[1:]]
    assert told == (["Before the trial, the cost was put at 97 ns."] if cost_ns < 97 else [])
