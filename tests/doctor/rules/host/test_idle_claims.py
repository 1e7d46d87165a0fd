"""Copies that follow a wait cost what they delay the device, and the wait costs the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate.profiling import MS

import jaxmagic
from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostWait
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.examine import examine
from jaxmagic.doctor.rules.host.host_time import copying_ns, host_time
from jaxmagic.doctor.rules.host.idle_claims import divide_idle_time
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note

WIDE = np.ones((1024, 1000), np.float32)


@jax.jit
def step(x: Any, wide: Any) -> Any:
    return x + wide.mean()


def waits_and_copies(n: int) -> list[float]:
    x, seen = jnp.zeros(8), []
    for _ in range(n):
        x = step(x, WIDE)
        seen.append(float(x[0]))
    return seen


@pytest.fixture
def waiting(evidence: Callable[..., Evidence]) -> Evidence:
    """Runs of 100 ms, of whose 60 ms of idle time waits cost 40 ms."""
    line = Frame(function="train", file="train.py", line=5)
    wait = HostWait(line=line, function="__float__", library=None, count=100, wait_ns=50 * MS)
    return evidence(waited_ns=30 * MS, waits=(wait,))


def waited(cost_ns: float) -> RuleFinding:
    found = note("doctor.host_wait", count=100, share=0.5, library="", loop=1)
    return RuleFinding(rule="host-wait", found=found, cost_ns=cost_ns, basis="estimated")


def copied(cost_ns: float) -> RuleFinding:
    found = note("doctor.passed_unchanged", function="f", names="x", arrays=1, count=100, size_bytes=2**20)
    return RuleFinding(rule="transfer", found=found, cost_ns=cost_ns, basis="estimated")


@pytest.mark.parametrize(
    ("copying_ns", "left_ns"),
    [(0, 40 * MS), (20 * MS, 40 * MS), (30 * MS, 30 * MS), (54 * MS, 6 * MS), (56 * MS, None), (90 * MS, None)],
)
def test_what_copies_take_after_waits_is_no_cost_of_the_waits(
    waiting: Evidence, copying_ns: int, left_ns: int | None
) -> None:
    """The other 20 ms of idle time are the copies' first."""
    first, *rest = divide_idle_time([copied(copying_ns), waited(40 * MS)], waiting)
    assert first == copied(copying_ns)
    assert [each.cost_ns for each in rest] == ([] if left_ns is None else [left_ns])
    if left_ns == 30 * MS:
        told = "Another 10.0 ms of this idle time is counted in the finding transfer, not here."
        assert [str(each) for each in rest[0].evidence] == [told]
    elif rest and left_ns == 40 * MS:
        assert rest == [waited(40 * MS)]


def test_findings_stay_as_they_are_where_nothing_is_known_of_the_host(waiting: Evidence) -> None:
    found = [copied(60 * MS), waited(40 * MS)]
    assert divide_idle_time(found, replace(waiting, host_use=None)) == found
    assert divide_idle_time([waited(40 * MS)], waiting) == [waited(40 * MS)]


def test_a_call_that_follows_a_wait_may_copy_as_any_other_does(waiting: Evidence) -> None:
    """What a call takes beyond 0.1 ms is its copies' time, at most 1 ns per byte, whether or not a wait preceded."""
    time = host_time(waiting)
    assert time is not None
    assert time.idle_ns == 60 * MS
    call = Dispatch(name="step", count=10, host_ns=30 * MS, exposed_ns=2 * MS, after_wait_ns=20 * MS)
    assert copying_ns(call, 100 * MS) == 21 * MS
    assert copying_ns(call, 5 * MS) == 5 * MS
    assert copying_ns(replace(call, after_wait_ns=0), 100 * MS) == 1 * MS


@pytest.mark.clock
def test_an_array_that_a_loop_copies_before_each_wait_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxmagic.doctor.rules.host import host_time as module

    monkeypatch.setattr(module, "LEAST_IDLE", 0.0)
    monkeypatch.setattr(module, "LEAST_NS", 0)
    found = {each.rule: each for each in jaxmagic.diagnose(waits_and_copies, 60).findings}
    assert found["transfer"].source == "x = step(x, WIDE)"
    assert found["transfer"].cost_ns


def test_all_rules_together_divide_it(waiting: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxmagic.doctor.rules import examine as module
    from jaxmagic.doctor.rules.rule import Rule

    def rule(finding: RuleFinding) -> Rule:
        return Rule(name=finding.rule, looks_for="", decides="", source="", look=lambda _: iter([finding]), needs=())

    monkeypatch.setattr(module, "RULES", (rule(copied(30 * MS)), rule(waited(40 * MS))))
    assert sorted(each.cost_ns or 0 for each in examine(waiting).findings) == [30 * MS, 30 * MS]
