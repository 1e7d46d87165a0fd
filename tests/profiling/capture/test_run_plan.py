"""The limit of a recording. Which runs are timed is tested in ``test_run.py``."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.profiling.capture.run_plan import RunPlan
from jaxmagic.profiling.record.recording import Trace, TraceLine


@pytest.mark.parametrize(
    ("per_s", "most_s", "most_events", "expected"),
    [
        (None, 5.0, 1_000_000, 5.0),  # a short first run
        (50_000.0, 5.0, 1_000_000, 5.0),
        (2_000_000.0, 5.0, 1_000_000, 0.5),
        (2_000_000.0, None, 1_000_000, 0.5),
        (2_000_000.0, 5.0, None, 5.0),
        (2_000_000.0, None, None, None),
        (1e12, 5.0, 1_000_000, 0.05),
        (0.0, 5.0, 1_000_000, 5.0),  # nothing ran in the moments
    ],
)
def test_the_limit_is_what_is_reached_first(
    per_s: float | None, most_s: float | None, most_events: int | None, expected: float | None
) -> None:
    assert RunPlan(1, most_s, most_events).limit_s(per_s) == expected


def test_no_recording_waits_longer_than_clocks_of_threads_can() -> None:
    for most_s in (float("inf"), 1e10):
        assert RunPlan(1, most_s, None).limit_s(None) <= threading.TIMEOUT_MAX


@pytest.mark.parametrize(
    ("events", "complete_runs", "kinds"),
    [
        (1_000, None, []),
        (1_400, None, []),  # the limit is an estimate
        (1_600, None, ["profiling.many_events"]),
        (900, 3, ["profiling.cut"]),
        (1_600, 3, ["profiling.cut", "profiling.many_events"]),
    ],
)
def test_a_recording_that_is_larger_than_its_limit_says_so(
    events: int, complete_runs: int | None, kinds: list[str]
) -> None:
    zeros = np.zeros(events, np.int64)
    line = TraceLine(name="", device=None, role="host", kinds=zeros, start_ps=zeros, end_ps=zeros)
    trace = Trace(tracks=(line,), kinds=(), devices={}, modules={})
    notes = RunPlan(5, 5.0, 1_000).about_recording(trace, complete_runs, None)
    assert [each.kind for each in notes] == kinds
    assert RunPlan(5, 5.0, None).about_recording(trace, None, None) == []


@pytest.mark.parametrize(
    ("runs", "events_per_s", "told"),
    [
        (5, None, "since the first run gave no event rate. Fewer runs have fewer: runs=1, or -n 1."),
        (1, 300.0, "which relies on the event rate of the first run."),
    ],
)
def test_a_recording_that_is_too_large_states_only_what_is_known_of_its_rate(
    runs: int, events_per_s: float | None, told: str
) -> None:
    zeros = np.zeros(1_600, np.int64)
    line = TraceLine(name="", device=None, role="host", kinds=zeros, start_ps=zeros, end_ps=zeros)
    trace = Trace(tracks=(line,), kinds=(), devices={}, modules={})
    (said,) = RunPlan(runs, 5.0, 1_000).about_recording(trace, None, events_per_s)
    assert str(said) == f"The recording has 1,600 events, more than the limit of 1,000, {told}"


def test_a_real_recording_above_its_limit_says_so() -> None:
    f, x = jax.jit(lambda x: x + 1), jnp.ones(8)

    def loop() -> None:
        for _ in range(300):
            f(x).block_until_ready()

    record = jaxmagic.profile(loop, most_events=100)
    (said,) = (each for each in record.notes if each.kind == "profiling.many_events")
    assert said.facts["events"] > 300
    assert "more than the limit of 100, since the first run gave no event rate." in " ".join(str(record).split())


@pytest.mark.parametrize(("already", "runs"), [(0, 3), (1, 2), (2, 1), (5, 1)])
def test_runs_before_a_profile_that_compile_count_as_well(
    timing: Any, compilation: Any, already: int, runs: int
) -> None:
    plan = RunPlan(1, None, None, already)
    for _ in range(runs):
        assert plan.needs_another()
        plan.timings.append(timing(compilations=(compilation(),)))
    assert not plan.needs_another()


@pytest.mark.parametrize(("already", "runs"), [(0, 3), (1, 2), (2, 1), (5, 1)])
def test_runs_before_a_profile_count_on_accelerators(timing: Any, environment: Any, already: int, runs: int) -> None:
    plan = RunPlan(1, None, None, already)
    gpu = timing(environment=replace(environment, backend="gpu"))
    while plan.needs_another():
        plan.timings.append(gpu)
    assert len(plan.timings) == runs


@pytest.mark.parametrize(
    ("times_ms", "runs", "median_ms"),
    [([22.5, 8.7, 11.4], 3, 11.4), ([40, 70], 2, 40), ([200], 1, 200)],
    ids=["one disturbed", "long enough together", "long"],
)
def test_several_short_runs_are_timed_so_that_a_single_one_cannot_be_a_disturbed_one(
    timing: Any, times_ms: list[float], runs: int, median_ms: float
) -> None:
    plan = RunPlan(1, None, None, 2, timed=3)
    for each in times_ms:
        assert plan.needs_another()
        plan.timings.append(timing(dispatch_ns=round(each * 1e6), wait_ns=0))
    assert not plan.needs_another()
    assert len(plan.timings) == runs
    assert plan.unprofiled is not None
    assert plan.unprofiled.wall_ns == median_ms * 1e6
