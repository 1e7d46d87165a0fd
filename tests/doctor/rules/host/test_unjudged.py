"""A run that takes much longer under the profiler is no all-clear for rules that take their times from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import MS, use

from jaxmagic.doctor.record.evidence import Dispatch, HostWait
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules import examine as module
from jaxmagic.doctor.rules.host import wait
from jaxmagic.doctor.rules.rule import Rule
from jaxmagic.doctor.rules.unjudged import reads_unseen, unjudged
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note

#: 40 reads, which take 8 ms, and after which the device is idle for 10 ms under the profiler.
READ = HostWait(
    line=Frame(function="train", file="train.py", line=5), function="_value", library=None, count=40, wait_ns=8 * MS
)
STEP = Dispatch(name="step", count=1, host_ns=0, exposed_ns=0, busy_ns=60 * MS)


@pytest.fixture
def slowed(evidence: Any) -> Any:
    """Runs of 100 ms that take so many times as long under the profiler."""

    def make(times: float, **changes: Any) -> Any:
        made = evidence((STEP,), waited_ns=10 * MS, waits=(READ,), **changes)
        return replace(made, profile=replace(made.profile, recorded_ns=round(times * 100 * MS)))

    return make


@pytest.mark.parametrize(("times", "found"), [(1.0, True), (2.1, False), (3.4, False)])
def test_a_cost_that_is_lost_in_the_slower_run_is_not_judged(times: float, found: bool, slowed: Any) -> None:
    assert bool(list(wait.look(slowed(times)))) is found
    told = unjudged([wait.RULE], slowed(times))
    facts = None if told is None else told.facts
    assert facts == (None if found else {"rules": "host-wait", "count": 1, "times": times})


def test_the_device_may_have_been_busy_for_longer_than_another_run(slowed: Any) -> None:
    """The profiler may slow the device down, too, but does not make a finding of a run in which it always works."""
    made = slowed(3.4)
    longer = replace(made, profile=replace(made.profile, device_uses=(use("CPU:0", 250 * MS),)))
    dispatched = replace(made.host_use, dispatches=(replace(STEP, busy_ns=250 * MS),))
    assert not list(wait.look(replace(longer, host_use=dispatched)))
    assert unjudged([wait.RULE], replace(longer, host_use=dispatched)) is not None
    always = replace(dispatched, idle_ns=4 * MS)
    assert unjudged([wait.RULE], replace(longer, host_use=always)) is None


def test_what_no_pace_would_make_a_finding_is_judged(slowed: Any) -> None:
    made = slowed(3.4)
    assert unjudged([wait.RULE], replace(made, waits=())) is None
    assert unjudged([wait.RULE], replace(made, host_use=replace(made.host_use, waited_ns=4 * MS))) is None
    assert unjudged([wait.RULE], replace(made, host_use=replace(made.host_use, idle_ns=4 * MS))) is None
    assert unjudged([wait.RULE], replace(made, observed=made.first)) is None  # the run is the recorded one
    assert unjudged([wait.RULE], replace(made, profile=None)) is None


def test_it_is_told_unless_a_rule_about_the_host_finds_it(slowed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def of(cost_ns: float | None) -> Rule:
        found = RuleFinding(rule="other", found=note("doctor.cache_off"), cost_ns=cost_ns)
        return Rule("other", "", "", "", look=lambda _: () if cost_ns is None else (found,))

    for cost_ns, kinds in ((None, ["doctor.host_unjudged"]), (9.0, [])):
        monkeypatch.setattr(module, "RULES", (wait.RULE, of(cost_ns)))
        monkeypatch.setattr(module, "HOST_RULES", (wait.RULE, of(cost_ns)))
        monkeypatch.setattr(module, "available", lambda _: {"waits", "profile"})
        told = [each.kind for each in module.examine(slowed(3.4)).notes]
        assert [each for each in told if each != "doctor.reads_unseen"] == kinds
        assert [each.kind for each in module.examine(slowed(3.4), only=("other",)).notes] == []


@pytest.mark.parametrize(
    ("python", "backend", "idle_ns", "is_told"),
    [
        ("3.11.7", "cpu", 40 * MS, True),
        ("3.12.1", "cpu", 40 * MS, False),
        ("3.13.0", "cpu", 40 * MS, False),
        ("3.11.7", "gpu", 40 * MS, False),
        ("3.11.7", "cpu", MS, False),
    ],
)
def test_reads_of_numpy_may_be_what_an_idle_device_waits_for(
    python: str, backend: str, idle_ns: int, is_told: bool, evidence: Any
) -> None:
    made = evidence((replace(STEP, busy_ns=100 * MS - idle_ns),))
    made = replace(made, host_use=replace(made.host_use, idle_ns=idle_ns))
    environment = replace(made.first.environment, python=python, backend=backend)
    first, run = (replace(each, environment=environment) for each in (made.first, made.observed))
    told = reads_unseen(replace(made, first=first, observed=run, timed=(run,)))
    assert (told is not None) == is_told
    assert told is None or f"On Python {python}, waits of np.asarray" in str(told)
