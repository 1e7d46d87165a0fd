"""Host-bound or device-bound, or no verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import MS, fabricated, use

from jaxmagic.profiling.analysis.devices.bound import bound_of


@pytest.mark.parametrize(
    ("busy_ms", "recorded_ms", "wall_ms", "limit"),
    [
        (19, 20, None, "not timed"),  # the profiler may be what takes the time
        (1, 20, None, "not timed"),
        (19, 20, 20, "device"),
        (19, 20, 19.5, "device"),
        (12.9, 13, 10, "device"),  # even if all that it takes longer is in the device's time
        (11.5, 13, 10, "unclear"),  # busy for 85 % to 100 %
        (8, 14, 10, "unclear"),  # busy for 40 % to 80 %
        (8, 12, 10, "neither"),  # busy for 60 % to 80 %
        (13, 14, 10, "device"),
        (15, 20, 19, "neither"),
        (4, 20, 20, "host"),
        (1.72, 1.89, 13.2, "host"),  # busy for 91 % of the recording, and for 13 % of the run
        (8, 20, 10, "distorted"),
        (4, 20, 10, "host"),  # the device's time can only be less without the profiler
        (18, 19, 30, "neither"),
    ],
)
def test_a_verdict_holds_with_the_profiler_and_without(
    timing: Callable[..., Any], busy_ms: float, recorded_ms: float, wall_ms: float | None, limit: str
) -> None:
    profile = replace(
        fabricated(),
        recorded_ns=round(2 * recorded_ms * MS),
        device_uses=(use("CPU:0", round(2 * busy_ms * MS)), use("CPU:1", round(busy_ms * MS))),
        unprofiled=None if wall_ms is None else timing(dispatch_ns=round(wall_ms * MS), wait_ns=0),
        timed_runs=3,
    )
    found = bound_of(profile)
    assert found is not None
    assert (found.limit, found.use.device) == (limit, "CPU:0")
    assert found.busy_ns <= found.run_ns


@pytest.mark.parametrize(
    ("busy_ms", "recorded_ms", "wall_ms", "timed_runs", "limit"),
    [
        (739, 740, 2210, 1, "unsteady"),  # another process had the machine
        (739, 740, 2210, 2, "unsteady"),
        (739, 740, 2210, 3, "host"),
        (739, 740, 1000, 1, "unsteady"),
        (739, 740, 1000, 3, "neither"),
        (739, 740, 780, 1, "device"),
        (600, 740, 840, 1, "neither"),  # in both
        (100, 740, 2210, 1, "host"),  # in both
    ],
)
def test_one_run_that_the_recording_contradicts_gives_no_verdict(
    timing: Callable[..., Any], busy_ms: float, recorded_ms: float, wall_ms: float, timed_runs: int, limit: str
) -> None:
    profile = replace(
        fabricated(),
        recorded_ns=round(2 * recorded_ms * MS),
        device_uses=(use("CPU:0", round(2 * busy_ms * MS)),),
        unprofiled=timing(dispatch_ns=round(wall_ms * MS), wait_ns=0),
        timed_runs=timed_runs,
    )
    found = bound_of(profile)
    assert found is not None
    assert found.limit == limit
    assert found.busy_ns <= found.run_ns


@pytest.mark.parametrize(("other_load", "limit"), [(None, "neither"), (0.1, "neither"), (1.6, "unsteady")])
def test_many_runs_on_a_busy_machine_that_the_recording_contradicts_give_no_verdict(
    timing: Callable[..., Any], environment: Any, other_load: float | None, limit: str
) -> None:
    profile = replace(
        fabricated(),
        recorded_ns=2 * 740 * MS,
        device_uses=(use("CPU:0", 2 * 739 * MS),),
        unprofiled=timing(dispatch_ns=1000 * MS, wait_ns=0),
        timed_runs=5,
        environment=environment,
        other_load=other_load,
    )
    found = bound_of(profile)
    assert found is not None
    assert found.limit == limit


@pytest.mark.parametrize(
    ("device", "busy_ms", "host_ms", "other_load", "limit"),
    [
        ("CPU:0", 4, 0, None, "host"),
        ("CPU:0", 4, 0, 0.1, "host"),
        ("CPU:0", 4, 0, 1.5, "shared"),  # a run may take a quarter of the time on a quiet machine
        ("CPU:0", 2.4, 0, 1.5, "host"),  # busy for half of that
        ("CPU:0", 2.6, 0, 1.5, "shared"),
        ("CPU:0", 4, 10, 1.5, "host"),  # the host compiles for 10 ms
        ("GPU:0", 4, 0, 1.5, "host"),
    ],
)
def test_a_cpu_that_other_processes_had_is_no_sign_of_a_slow_host(
    timing: Callable[..., Any],
    environment: Any,
    device: str,
    busy_ms: float,
    host_ms: float,
    other_load: float | None,
    limit: str,
) -> None:
    profile = replace(
        fabricated(),
        runs=1,
        recorded_ns=20 * MS,
        device_uses=(use(device, round(busy_ms * MS), compile_idle_ns=round(host_ms * MS)),),
        unprofiled=timing(dispatch_ns=20 * MS, wait_ns=0),
        timed_runs=3,
        environment=replace(environment, cpu_count=2),
        other_load=other_load,
    )
    found = bound_of(profile)
    assert found is not None
    assert found.limit == limit


@pytest.mark.parametrize(
    ("busy_ms", "callback_ms", "limit"), [(19.9, 19.8, "host"), (19.9, 5, "neither"), (19.9, 1, "device")]
)
def test_the_time_of_host_callbacks_is_the_hosts(
    timing: Callable[..., Any], busy_ms: float, callback_ms: float, limit: str
) -> None:
    waits = use("CPU:0", round(2 * busy_ms * MS), callback_ns=round(2 * callback_ms * MS))
    profile = replace(
        fabricated(), device_uses=(waits,), unprofiled=timing(dispatch_ns=20 * MS, wait_ns=0), timed_runs=3
    )
    found = bound_of(profile)
    assert found is not None
    assert (found.limit, found.callback_ns) == (limit, callback_ms * MS)
    assert found.busy_ns == pytest.approx((busy_ms - callback_ms) * MS)
    assert found.idle_ns == pytest.approx(0.1 * MS)


@pytest.mark.parametrize(
    ("busy_ms", "callback_ms", "wall_ms", "expected_ms"),
    [(30, 29, 8, 5.8), (40, 36, 8, 4), (19, 18, 40, 18)],
    ids=["a share of the shorter run", "no more than is left", "as long"],
)
def test_callbacks_take_no_more_than_the_run_that_the_verdict_is_about(
    timing: Callable[..., Any], busy_ms: float, callback_ms: float, wall_ms: int, expected_ms: float
) -> None:
    """The recorded run of 40 ms had them; the run of 8 ms cannot have waited for 38 ms."""
    waits = use("CPU:0", round(busy_ms * MS), callback_ns=round(callback_ms * MS))
    profile = replace(
        fabricated(),
        runs=1,
        recorded_ns=40 * MS,
        device_uses=(waits,),
        unprofiled=timing(dispatch_ns=wall_ms * MS, wait_ns=0),
        timed_runs=1,
    )
    found = bound_of(profile)
    assert found is not None
    assert found.limit == "host"
    assert found.callback_ns == pytest.approx(expected_ms * MS)
    assert found.busy_ns + found.callback_ns + found.idle_ns == pytest.approx(found.run_ns)


def test_the_busiest_device_is_the_one_that_works_most_without_callbacks(timing: Callable[..., Any]) -> None:
    waits, works = use("CPU:0", 39 * MS, callback_ns=38 * MS), use("CPU:1", 38 * MS)
    profile = replace(
        fabricated(), device_uses=(waits, works), unprofiled=timing(dispatch_ns=20 * MS, wait_ns=0), timed_runs=3
    )
    found = bound_of(profile)
    assert found is not None
    assert (found.limit, found.use.device) == ("device", "CPU:1")


def test_nothing_is_said_of_a_recording_without_runs_or_devices() -> None:
    assert bound_of(replace(fabricated(), runs=None)) is None
    assert bound_of(replace(fabricated(), device_uses=())) is None


@pytest.mark.parametrize(("wall_ms", "compile_ms"), [(20, 14.0), (10, 9 * 28 / 38), (40, 14.0)])
def test_the_host_compiles_in_no_more_than_the_idle_time(
    timing: Callable[..., Any], wall_ms: float, compile_ms: float
) -> None:
    profile = replace(
        fabricated(),
        recorded_ns=40 * MS,
        device_uses=(replace(use("CPU:0", 2 * MS), idle_ns=38 * MS, compile_idle_ns=28 * MS),),
        unprofiled=timing(dispatch_ns=round(wall_ms * MS), wait_ns=0),
        timed_runs=3,
    )
    found = bound_of(profile)
    assert found is not None
    assert profile.runs == 2
    assert found.part_of_idle_ns(found.use.compile_idle_ns, 2) == pytest.approx(compile_ms * MS)
