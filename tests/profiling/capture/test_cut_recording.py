"""A recording ends at its limit, the code continues, and the record says which part it covers."""

from __future__ import annotations

import threading
from itertools import repeat
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.profiling.capture import profiler_session as profiler
from jaxmagic.profiling.capture.event_rate import EventRate
from jaxmagic.profiling.capture.run import ProfileWatch

pytestmark = pytest.mark.clock

#: Steps of the run before the recording ends, and behind that.
_BEFORE = 10


@pytest.fixture
def x() -> Any:
    return jnp.ones((200, 200))


def cut() -> None:
    """Do at once what the thread of the limit does at the limit."""
    (recording,) = profiler._recording
    assert recording._limit is not None
    recording._limit._wait(0.0)


class Calls:
    """A function that counts its calls; the recording ends in one of them, between steps."""

    def __init__(self, x: Any, longest: int) -> None:
        self.x, self.longest, self.number = x, longest, 0
        self.f = jax.jit(lambda x: jnp.sort(x @ x))

    def __call__(self) -> Any:
        self.number += 1
        y = self.f(self.x)
        if self.number == self.longest:
            for _ in range(_BEFORE):
                y = self.f(self.x).block_until_ready()
            cut()
            for _ in range(_BEFORE):
                y = self.f(self.x).block_until_ready()
        return y


def told(profile: jaxmagic.Profile) -> str:
    return " ".join(str(each) for each in profile.notes if each.kind == "profiling.cut")


def test_a_long_run_is_recorded_from_its_beginning_and_goes_on_without_the_profiler(x: Any) -> None:
    calls = Calls(x, longest=3)  # after one to warm up, and one to be timed
    before = set(threading.enumerate())
    profile = jaxmagic.profile(calls, most_s=60)
    assert calls.number == 3
    assert profile.runs is None
    assert 0 < profile.device_ns <= profile.recorded_ns
    sorts = [each for each in profile.operation_times if each.category == "sort"]
    assert sum(each.count for each in sorts) == 1 + _BEFORE
    (steps,) = profile.step_times
    assert len(steps.time_ns) == _BEFORE
    assert "Recorded: the first part of the run, because recordings end after 1min 0s" in told(profile)
    assert "The rest ran without the profiler." in " ".join(str(profile).split())
    assert {each for each in threading.enumerate() if each.name == "jaxmagic-profiler"} <= before
    assert not profiler._recording


def test_the_limit_ends_it_by_itself(x: Any) -> None:
    """However long it takes until then."""
    f = jax.jit(lambda x: jnp.sort(x @ x))
    number = 0

    def call() -> Any:
        nonlocal number
        number += 1
        while number == 3 and profiler._recording:
            f(x).block_until_ready()
        return f(x)

    assert "recordings end after 50.0 ms" in told(jaxmagic.profile(call, most_s=0.05))


def test_as_many_events_are_recorded_as_there_may_be(x: Any) -> None:
    """The first run is long enough to estimate its event rate."""
    f = jax.jit(lambda x: jnp.sort(x @ x) + 1)
    number = 0

    def call() -> Any:
        nonlocal number
        number += 1
        f(x)
        while (
            number == 1 and watch._rate.per_s is None and watch._rate._thread.is_alive()
        ):  # until the moment has been recorded
            f(x).block_until_ready()
        while number == 3 and profiler._recording:
            f(x).block_until_ready()
        return f(x)

    watch = ProfileWatch(most_events=10)  # fewer than there are in the least time that is recorded
    watch._rate = EventRate(watch._has_compiled, repeat(0.0))  # as soon as it has compiled
    watch.start()
    for _ in watch.runs():
        watch.result = call()
        watch.returned(watch.result)
    watch.stop()
    assert "recordings end after 50.0 ms, about 10 events of this code, to stay readable" in told(watch.record)
    assert "To record more: most_events=4_000_000, or --most-events 4000000." in told(watch.record)


def test_of_several_runs_those_are_told_that_were_recorded_whole(x: Any) -> None:
    f = jax.jit(lambda x: jnp.sort(x @ x))
    watch = ProfileWatch(runs=5, most_s=60)
    watch.start()
    recorded = 0
    for _ in watch.runs():
        watch.result = f(x)
        recorded += bool(profiler._recording)
        if recorded == 3 and profiler._recording:
            cut()
        watch.returned(watch.result)
    watch.stop()
    assert watch.record.runs == 2
    assert "Recorded: the first 2 runs of 5, because" in told(watch.record)
    assert watch.record.wall_ns is not None


def test_a_short_run_is_recorded_whole_and_nothing_is_said(x: Any) -> None:
    profile = jaxmagic.profile(Calls(x, longest=0), n=2)
    assert (profile.runs, told(profile)) == (2, "")


def test_a_first_run_that_is_recorded_goes_on_to_its_end(x: Any) -> None:
    profile = jaxmagic.profile(jax.jit(lambda x: x @ x), x, cold=True, most_s=1e-9)
    assert (profile.runs, told(profile)) == (1, "")


def test_what_goes_wrong_when_it_is_ended_is_told_and_the_code_ran(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = jax.profiler.stop_trace

    def refused() -> None:
        stop()
        raise RuntimeError("the disk is full")

    calls = Calls(x, longest=3)
    monkeypatch.setattr(jax.profiler, "stop_trace", refused)
    profile = jaxmagic.profile(calls, most_s=60)
    monkeypatch.undo()
    assert calls.number == 3
    assert any("could not be stopped: the disk is full" in str(each) for each in profile.notes)
    assert jaxmagic.profile(calls).device_ns > 0


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), "soon"])
def test_a_limit_that_is_no_time_is_refused_before_anything_runs(wrong: Any) -> None:
    with pytest.raises(ValueError, match="most_s: expected a positive number"):
        jaxmagic.profile(pytest.fail, "it ran", most_s=wrong)


def test_an_error_behind_the_end_of_the_recording_is_the_users_own(x: Any) -> None:
    calls = Calls(x, longest=3)

    def fails() -> Any:
        y = calls()
        if calls.number == 3:
            raise KeyError("mine")
        return y

    with pytest.raises(KeyError, match="mine"):
        jaxmagic.profile(fails, most_s=60)
    record = jaxmagic.last()
    assert isinstance(record, jaxmagic.Profile)
    assert (record.error, record.runs) == ("KeyError", None)
    assert record.device_ns > 0


def test_a_recording_that_is_forgotten_leaves_no_thread_and_lets_the_next_one_begin(x: Any) -> None:
    one = profiler.Profiler()
    one.start(most_s=60)
    one.cancel()
    assert not profiler._recording
    assert "jaxmagic-profiler" not in {each.name for each in threading.enumerate()}
    assert jaxmagic.profile(jax.jit(lambda x: x @ x), x).runs == 1
