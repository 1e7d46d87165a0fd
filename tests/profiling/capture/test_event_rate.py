"""The event rate is estimated from intervals of the first run, and nothing else is disturbed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.profiling.capture import profiler_session as profiler
from jaxmagic.profiling.capture.event_rate import _MOMENT_S, EventRate
from jaxmagic.profiling.capture.profiler_session import Profiler

pytestmark = pytest.mark.clock


@pytest.fixture
def step() -> Any:
    f, x = jax.jit(lambda x: jnp.sort(x @ x)), jnp.ones((100, 100))
    f(x).block_until_ready()
    return lambda: f(x).block_until_ready()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert not profiler._recording
    assert "jaxmagic-event-rate" not in {each.name for each in threading.enumerate()}


def test_the_rate_is_that_of_what_runs(step: Any) -> None:
    """Compared with a recording of a known number of steps."""
    rate, done = EventRate(lambda: True, [0.0]), 0
    rate.start()
    while rate.per_s is None and rate._thread.is_alive():
        step()
    rate.end()
    recording = Profiler()
    recording.start()
    for done in range(1, 51):  # noqa: B007
        step()
    events = sum(len(each.start_ps) for each in recording.stop().tracks)
    assert rate.per_s * _MOMENT_S >= events / done  # a step at least
    assert rate.per_s > 1 / _MOMENT_S


def test_a_short_run_has_no_moment_and_is_not_waited_for() -> None:
    rate = EventRate(lambda: True, [3600.0])
    rate.start()
    rate.end()
    assert rate.per_s is None


def test_what_was_not_started_can_be_ended() -> None:
    rate = EventRate(lambda: True)
    rate.end()
    assert rate.per_s is None


def test_somebody_elses_recording_goes_on(step: Any, tmp_path: Path) -> None:
    with jax.profiler.trace(str(tmp_path)):
        rate = EventRate(lambda: True, [0.0])
        rate.start()
        rate._thread.join()
        step()
    assert rate.per_s is None
    (file,) = tmp_path.rglob("*.xplane.pb")
    assert jaxmagic.read_profile(file).operation_times


def test_the_end_of_the_run_ends_a_moment(step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jaxmagic.profiling.capture.event_rate._MOMENT_S", 3600.0)
    rate = EventRate(lambda: True, [0.0])
    rate.start()
    while not profiler._recording and rate._thread.is_alive():
        step()
    rate.end()
    assert rate.per_s is not None


def test_a_run_whose_time_is_told_has_no_moment() -> None:
    rate = EventRate(lambda: False, [0.0, 0.0])
    rate.start()
    rate._thread.join()
    assert rate.per_s is None


def test_what_goes_wrong_in_a_moment_is_not_heard_of(step: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def refused(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("jaxmagic.profiling.capture.profiler_session.read_recording", refused)
    rate = EventRate(lambda: True, [0.0])
    rate.start()
    rate._thread.join()
    assert rate.per_s is None
    assert "disk" not in capsys.readouterr().err
