"""The clock."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest

from jaxmagic.runtime.clock import cpu_time, now_ns, thread_cpu_ns, timestamp

pytestmark = pytest.mark.clock


def test_it_never_goes_back() -> None:
    times = [now_ns() for _ in range(1000)]
    assert times == sorted(times)


def test_processor_time_grows_with_work() -> None:
    before = cpu_time()
    while cpu_time().user_ns + cpu_time().system_ns == before.user_ns + before.system_ns:
        sum(range(10_000))
    after = cpu_time()
    assert after.user_ns >= before.user_ns
    assert after.system_ns >= before.system_ns


def test_a_thread_counts_its_own_processor_time_only() -> None:
    started = thread_cpu_ns()
    done = threading.Event()
    worked: list[int] = []

    def work() -> None:
        before = thread_cpu_ns()
        while thread_cpu_ns() - before < 50_000_000:
            sum(range(1000))
        worked.append(thread_cpu_ns() - before)
        done.set()

    threading.Thread(target=work).start()
    assert done.wait(60)
    assert worked[0] >= 50_000_000 > thread_cpu_ns() - started


def test_the_time_of_day_has_its_zone() -> None:
    assert datetime.fromisoformat(timestamp()).tzinfo is not None
