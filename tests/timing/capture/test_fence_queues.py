"""What it means when a program that was queued behind all work returns early or late."""

from __future__ import annotations

import time
from typing import Any

import jax
import numpy as np
import pytest

from jaxmagic.runtime.clock import now_ns
from jaxmagic.timing.capture.fence_queues import Costs, Queue, Waited, queues_of
from jaxmagic.timing.capture.stopwatch import Stopwatch

#: Round figures, so that a clock reading tells which of them was used.
COSTS = Costs(at_once=False, idle_ns=7, behind_ns=5, limit_ns=100, cold_limit_ns=1000)


class Handle:
    """What a program returns: ready from the nth look on."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def is_ready(self) -> bool:
        self.looks -= 1
        return self.looks < 0


@pytest.mark.parametrize(
    ("readings", "looks", "kind", "found"),
    [
        # A program that runs at once where there is no work: wide limit at the first look, narrow behind it.
        ([10, 20], 0, "at once", (False, 0, None)),
        ([10, 500], 0, "at once", (False, 0, None)),
        ([10, 5000], 0, "at once", (None, 4995, 4995)),  # set aside: work may have ended unseen, or not
        ([10, 20], 1, "at once", (True, 15, 15)),  # it had to queue
        ([10, 20, 30, 500], 2, "at once", (True, 495, 495)),  # so near to an idle one, no work is said to have
        ([10, 20, 30, 5000], 2, "at once", (True, 4995, None)),  # been thrown away
        ([10, 20, 200, 210], 9, "at once", None),
        # One that returns later anyway, as on a GPU.
        ([10, 20, 30, 500], 1, "single", (False, 0, None)),
        ([10, 20, 30, 5000], 1, "single", (None, 4995, 4995)),
        ([10, 20, 1200, 1210], 9, "single", None),
        # One over several devices: it may be late because of work.
        ([10, 500], 0, "several", (False, 0, None)),
        ([10, 5000], 0, "several", (True, 4995, 4995)),
        ([10, 20, 1200, 1210], 9, "several", None),
    ],
)
def test_which_clock_reading_tells_whether_there_was_work(
    readings: list[int], looks: int, kind: str, found: tuple[bool | None, int, int | None] | None
) -> None:
    clock = iter(readings)
    queue = Queue([lambda: Handle(looks)], "cpu", several=kind == "several", clock=lambda: next(clock))
    queue.costs = COSTS._replace(at_once=kind == "at once")
    assert queue.ask(asked_ns=0).waited == (None if found is None else Waited(*found))
    assert list(clock) == []


@pytest.mark.parametrize(
    ("kind", "short_ns", "long_ns"),
    [("single", 1500, 2500), ("at once", 500, 1500), ("several", 10**6, 10**8)],
)
def test_a_short_wait_says_little(kind: str, short_ns: int, long_ns: int) -> None:
    queue = Queue([], "cpu", several=kind == "several", clock=now_ns)
    queue.costs = COSTS._replace(at_once=kind == "at once")
    assert queue.is_near_idle(short_ns)
    assert not queue.is_near_idle(long_ns)


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (Waited(False, 1), Waited(False, 2), Waited(False, 1)),
        (Waited(False, 1), Waited(None, 2, 2), Waited(None, 2, 2)),
        (Waited(True, 3, 3), Waited(False, 2), Waited(True, 3, 3)),
        (Waited(True, 3, 3), Waited(None, 2, 2), Waited(True, 3, 3)),
        (Waited(None, 3, 3), Waited(True, 5, 4), Waited(True, 5, 4)),
        (Waited(True, 3), Waited(True, 5, 5), Waited(True, 5)),  # on one of them work was thrown away
        (Waited(True, 3, 3), Waited(True, 5), Waited(True, 5)),
    ],
)
def test_two_queues_are_done_when_both_are(first: Waited, second: Waited, both: Waited) -> None:
    assert first.and_then(second) == both


@pytest.mark.parametrize(("time_ns", "as_idle"), [(15, True), (25, False)])
def test_a_program_over_several_devices_is_measured_again_where_it_matters(time_ns: int, as_idle: bool) -> None:
    times = iter([0, 10, 0, 10, 0, 9, 0, 1000, 0, 8])  # of five, the one that was set aside does not count
    queue = Queue([lambda: Handle(0)], "cpu", several=True, clock=lambda: next(times))
    assert queue.is_as_idle(time_ns) is as_idle


def test_there_is_a_queue_for_single_devices_and_one_over_several() -> None:
    devices = jax.local_devices()
    queues = queues_of(devices, now_ns)
    single = [1] * len(devices) if jax.default_backend() == "cpu" else [len(devices)]
    assert [len(queue.enqueue()) for queue in queues] == single + [1] * (len(devices) > 1)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="elsewhere programs are done later")
def test_on_the_cpu_the_programs_of_single_devices_run_at_once() -> None:
    for queue in queues_of(jax.local_devices(), now_ns):
        if queue.several:  # where the machine is busy they may be done by the first look
            queue._programs = [lambda: Handle(0)]
        assert queue.measure_costs().at_once is not queue.several


@pytest.mark.clock
@pytest.mark.parametrize(
    "make",
    [
        lambda x: sum(n * n for n in range(20_000)),
        lambda x: time.sleep(0.002),
        lambda x: float((x @ x)[0, 0]),
        lambda x: np.asarray(x @ x).sum(),
        lambda x: jax.eval_shape(lambda y: y + 1, x),
    ],
    ids=["python", "sleep", "float", "numpy", "eval_shape"],
)
def test_where_no_work_is_left_none_is_said_to_have_been_thrown_away(make: Any) -> None:
    """The first fence after a while takes a multiple of one in a loop."""
    x = jax.block_until_ready(jax.numpy.ones((100, 100)))
    make(x)
    claimed = 0
    for _ in range(20):
        watch = Stopwatch()
        with watch:
            watch.result = make(x)
        claimed += (watch.timing.unreached_ns or 0) > 50_000
    assert claimed <= 10  # the machine may be busy, and somebody else's thread on the device
