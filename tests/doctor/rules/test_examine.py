"""Which rules look, in which order their findings come, and what happens to a rule that fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import operation

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules import examine as module
from jaxmagic.doctor.rules.all import RULES
from jaxmagic.doctor.rules.examine import examine
from jaxmagic.doctor.rules.rule import Rule, available, device_time, is_worth_it, least_device_time
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.records.note import note


def finding(name: str, **changes: Any) -> RuleFinding:
    return RuleFinding(rule=name, found=note("doctor.cache_off"), **changes)


def rule(name: str, *found: RuleFinding, needs: Any = (), error: Exception | None = None) -> Rule:
    def look(_: Evidence) -> Any:
        if error is not None:
            raise error
        return found

    return Rule(name=name, looks_for="", decides="", source="", look=look, needs=needs)


@pytest.fixture
def evidence(timing: Any) -> Evidence:
    return Evidence(code="f(x)", first=timing(), observed=timing(), timed=(timing(), timing()))


@pytest.mark.parametrize(("slowdown", "expected"), [(1, 1.0), (2, 0.5), (0.5, 1.0)])
def test_device_time_is_that_of_an_undisturbed_run(evidence: Evidence, slowdown: float, expected: float) -> None:
    recorded_ns = round(slowdown * evidence.run_ns * 4)
    profile = Profile(runs=4, recorded_ns=recorded_ns, device_uses=(), operation_times=(), place_times=())
    total = operation("sort", 12_000_000)
    assert device_time([total], replace(evidence, profile=profile)) == pytest.approx(expected * 3e6)


def test_operations_that_ran_several_times_count_with_their_median_time(evidence: Evidence) -> None:
    profile = Profile(runs=1, recorded_ns=evidence.run_ns, device_uses=(), operation_times=(), place_times=())
    evidence = replace(evidence, profile=profile)
    disturbed = operation("sort", 12_000_000, count=3, median_ns=1e6)  # 1, 1 and 10 ms
    assert device_time([disturbed], evidence) == pytest.approx(3e6)
    assert device_time([replace(disturbed, median_ns=5e6)], evidence) == pytest.approx(12e6)


def test_what_one_execution_may_have_been_disturbed_by_is_not_certain(evidence: Evidence) -> None:
    longer_ns = 4_000_000
    profile = Profile(
        runs=1, recorded_ns=evidence.run_ns + longer_ns, device_uses=(), operation_times=(), place_times=()
    )
    evidence = replace(evidence, profile=profile)
    once = operation("gather", 9_000_000, count=1)
    assert least_device_time([once, once], evidence) == pytest.approx(2 * 9e6 - longer_ns)
    assert least_device_time([replace(once, time_ns=longer_ns - 1)], evidence) == 0
    repeated = replace(once, count=3, median_ns=3e6)
    assert least_device_time([repeated], evidence) == device_time([repeated], evidence)
    faster = replace(profile, recorded_ns=evidence.run_ns // 2)
    assert least_device_time([once], replace(evidence, profile=faster)) == 9e6


@pytest.mark.parametrize(("backend", "certain_ns"), [("cpu", 6e6), ("gpu", 9e6)])
def test_a_run_without_processors_is_disturbed_however_often_it_is_repeated(
    evidence: Evidence, backend: str, certain_ns: float
) -> None:
    first = replace(evidence.first, environment=replace(evidence.first.environment, backend=backend))
    slowed = replace(
        evidence.typical, compilations=(), cpu_user_ns=evidence.run_ns - 4_000_000, cpu_system_ns=1_000_000
    )
    profile = Profile(runs=1, recorded_ns=evidence.run_ns, device_uses=(), operation_times=(), place_times=())
    evidence = replace(evidence, first=first, observed=slowed, timed=(slowed, slowed), profile=profile)
    assert least_device_time([operation("copy", 9_000_000, count=1)], evidence) == pytest.approx(certain_ns)


def test_the_costliest_comes_first_and_what_happens_once_counts_a_hundredth(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = (
        rule("no cost", finding("no cost")),
        rule("memory", finding("memory", cost_bytes=1000), finding("more memory", cost_bytes=2000)),
        rule("once", finding("once", cost_ns=5e6, per="first run")),
        rule("often", finding("often", cost_ns=1e5)),
        rule("less often", finding("less", cost_ns=4e4)),
    )
    monkeypatch.setattr(module, "RULES", rules)
    found = [each.rule for each in examine(evidence).findings]
    assert found == ["often", "once", "less", "more memory", "memory", "no cost"]
    assert examine(evidence).looked == tuple(each.name for each in rules)
    assert next(each.rule for each in examine(evidence, only=("once", "memory")).findings) == "once"


@pytest.mark.parametrize("kind", ["doctor.compile_time_cache", "doctor.compile_time_cache_short"])
def test_compiling_that_only_a_cache_spares_comes_after_what_the_code_can_change(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    cached = finding("cache", cost_ns=9e10, per="first run", remedy=note(kind, spared_ns=9 * 10**10))
    rules = (
        rule("cache", cached),
        rule("loop", finding("loop", cost_ns=1e5, per="first run", remedy=note("doctor.compile_time_iterated"))),
        rule("memory", finding("memory", cost_bytes=1000)),
        rule("no cost", finding("no cost")),
        rule("compile-time", finding("compile-time", cost_ns=8e10, per="first run")),
    )
    monkeypatch.setattr(module, "RULES", rules)
    found = [each.rule for each in examine(evidence).findings]
    assert found == ["loop", "memory", "no cost", "cache", "compile-time"]
    assert [each.rule for each in examine(evidence, only=("cache",)).findings] == ["cache"]


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.25, ["not-jitted", "host-wait", "memory"]), (0.15, ["host-wait", "not-jitted", "memory"])],
)
def test_operations_on_the_device_come_where_their_work_belongs(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch, share: float, expected: list[str]
) -> None:
    """Their cost is unknown, and a wait that takes a fifth of the run comes first only if their work takes less."""
    found = note("doctor.eager_on_device", count=2160, names="add", kinds=1, share=share)
    rules = (
        rule("memory", finding("memory", cost_bytes=1000)),
        rule("host-wait", finding("host-wait", cost_ns=0.2 * evidence.run_ns)),
        rule("not-jitted", RuleFinding(rule="not-jitted", found=found)),
    )
    monkeypatch.setattr(module, "RULES", rules)
    assert [each.rule for each in examine(evidence).findings] == expected


@pytest.mark.parametrize(
    ("eager", "kind", "expected"),
    [
        ((True, True), "doctor.not_jitted", ["memory", "not-jitted", "compile-time", "more"]),
        ((True, False), "doctor.not_jitted", ["compile-time", "memory", "not-jitted", "more"]),
        ((True, True), "doctor.transformed_calls", ["compile-time", "memory", "not-jitted", "more"]),
    ],
)
def test_compiling_of_operations_comes_after_the_finding_that_jits_them(
    evidence: Evidence,
    monkeypatch: pytest.MonkeyPatch,
    timing: Any,
    compilation: Any,
    eager: tuple[bool, ...],
    kind: str,
    expected: list[str],
) -> None:
    compiled = [replace(compilation(), eager=each) for each in eager]
    compiling = finding(
        "compile-time", cost_ns=9e9, per="first run", compiles=(0, 1), remedy=note("doctor.not_jitted_own_calls")
    )
    jits = replace(finding("not-jitted", cost_ns=4e6), found=note(kind, count=1, names="", kinds=1))
    rules = (
        rule("compile-time", compiling),
        rule("memory", finding("memory", cost_ns=5e6)),
        rule("not-jitted", jits),
        rule("more", finding("more", cost_ns=3e6)),
    )
    monkeypatch.setattr(module, "RULES", rules)
    monkeypatch.setattr(module, "divide_compile_time", lambda findings, _: findings)
    result = examine(replace(evidence, first=timing(*compiled)))
    assert [each.rule for each in result.findings] == expected


def test_a_rule_that_fails_loses_nothing_of_the_others(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = rule("broken", error=ZeroDivisionError("by zero"))
    monkeypatch.setattr(module, "RULES", (broken, rule("fine", finding("fine", cost_ns=1.0))))
    result = examine(evidence)
    assert [each.rule for each in result.findings] == ["fine"]
    assert result.looked == ("fine",)
    assert [str(each) for each in result.notes] == [
        "Rule broken failed (ZeroDivisionError: by zero); the others were applied."
    ]


@pytest.mark.parametrize(
    ("step", "rule_name"),
    [
        ("uncounted", "memory"),
        ("made_by_the_code", "recompile"),
        ("unjudged", "host-wait"),
        ("reads_unseen", "host-wait"),
        ("unjudged_loading", "input-bound"),
        ("host_lines", "input-bound"),
        ("divide_idle_time", "host-wait"),
        ("divide_compile_time", "compile-time"),
        ("with_shared_loops", "not-jitted"),
    ],
)
def test_what_is_told_beside_the_rules_loses_nothing_if_it_fails(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch, step: str, rule_name: str
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("by zero")

    names = ("memory", "recompile", "host-wait", "input-bound")
    monkeypatch.setattr(module, "RULES", (*map(rule, names), rule("fine", finding("fine", cost_ns=1.0))))
    monkeypatch.setattr(module, step, broken)
    result = examine(evidence)
    assert [each.rule for each in result.findings] == ["fine"]
    told = f"Rule {rule_name} failed (ZeroDivisionError: by zero); the others were applied."
    assert [str(each) for each in result.notes] == [told]


def test_a_rule_without_its_evidence_does_not_look_and_that_is_told(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = (rule("a", needs=("programs",)), rule("b", needs=("programs", "profile")), rule("c", needs=("repeated",)))
    monkeypatch.setattr(module, "RULES", rules)
    assert available(evidence) == {"repeated"}
    result = examine(evidence)
    assert result.looked == ("c",)
    assert [str(each) for each in result.notes] == [
        "Rules not applied, because this JAX does not show which programs run: a, b."
    ]
    once = replace(evidence, observed=evidence.first)
    assert [str(each) for each in examine(once, only=("c",)).notes] == [
        "Rules not applied, because the code ran only once: c."
    ]


def test_the_time_of_a_run_is_that_of_undisturbed_runs_that_compile_nothing(timing: Any, compilation: Any) -> None:
    quick, slow, compiling = timing(wait_ns=10**6), timing(wait_ns=5 * 10**6), timing(compilation())
    assert Evidence(code=None, first=compiling, observed=slow, timed=(compiling, slow, quick)).run_ns == quick.wall_ns
    assert Evidence(code=None, first=slow, observed=slow, timed=(slow, quick, slow)).run_ns == quick.wall_ns
    assert Evidence(code=None, first=compiling, observed=compiling).run_ns == compiling.wall_ns


def test_two_per_cent_of_a_run_are_worth_a_finding(evidence: Evidence) -> None:
    assert is_worth_it(0.02 * evidence.run_ns, evidence)
    assert not is_worth_it(0.0199 * evidence.run_ns, evidence)


def test_every_rule_says_what_it_looks_for_how_it_decides_and_where_that_is_from() -> None:
    assert len({each.name for each in RULES}) == len(RULES)
    for each in RULES:
        assert not each.looks_for.endswith(".")
        assert each.decides.endswith(".")
        assert each.source
