"""The load of other processes on the machine is measured."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import psutil
import pytest

from jaxmagic.runtime.clock import CpuTime
from jaxmagic.runtime.machine_load import Load

Times = namedtuple("Times", "user nice system idle iowait guest guest_nice", defaults=[0.0] * 7)


@pytest.fixture
def machine(monkeypatch: Any) -> Any:
    """A machine with readings from the test: seconds of the clock, of all processors, and of this process."""

    def reads(*readings: tuple[float, Times, float]) -> None:
        moments = [iter(each) for each in zip(*readings, strict=True)]
        monkeypatch.setattr("jaxmagic.runtime.machine_load.now_ns", lambda: next(moments[0]) * 1e9)
        monkeypatch.setattr(psutil, "cpu_times", lambda: next(moments[1]))
        monkeypatch.setattr(
            "jaxmagic.runtime.machine_load.cpu_time", lambda: CpuTime(round(next(moments[2]) * 1e9), 0)
        )

    return reads


@pytest.mark.parametrize(
    ("after", "own", "others"),
    [
        (Times(user=14, idle=6), 14, 0.0),  # all of it ours
        (Times(user=14, idle=6), 4, 1.0),
        (Times(user=4, nice=2, system=4, iowait=10), 0, 1.0),
        (Times(user=10, guest=10, idle=10), 0, 1.0),  # a guest's time is in the user's, too
        (Times(user=0, idle=20), 1, 0.0),  # coarser than our own clock
    ],
)
def test_what_is_busy_and_not_ours(machine: Any, after: Times, own: float, others: float) -> None:
    machine((0, Times(), 0), (10, after, own))
    assert Load().of_others() == pytest.approx(others)


def test_it_is_unknown_where_the_system_does_not_tell(monkeypatch: Any) -> None:
    def fail() -> None:
        raise PermissionError("/proc/stat")

    monkeypatch.setattr(psutil, "cpu_times", fail)
    assert Load().of_others() is None


def test_it_is_unknown_over_less_than_the_system_counts_in(machine: Any) -> None:
    machine((0, Times(), 0), (0.001, Times(user=0.02), 0))
    assert Load().of_others() is None


def test_no_more_processors_are_busy_than_there_are(machine: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    machine((0, Times(), 0), (0.25, Times(user=0.6), 0))
    assert Load().of_others() == 2.0


def test_it_is_known_here(monkeypatch: Any) -> None:
    monkeypatch.setattr("jaxmagic.runtime.machine_load._SHORTEST_S", 0.0)
    load = Load()
    sum(range(10**5))
    assert load.of_others() is not None
