"""A thread ticks until it is stopped, and then ends."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from jaxmagic.progress.ticker import Ticker

pytestmark = pytest.mark.clock

HOUR_S = 3600.0


def test_a_thread_that_waits_ends_at_once() -> None:
    ticker = Ticker(lambda: HOUR_S, HOUR_S)
    ticker.start()
    assert ticker.stop()
    assert ticker.stop()


def test_it_ticks_as_often_as_the_last_tick_said() -> None:
    waits: list[float] = []

    def wait(timeout_s: float) -> bool:
        waits.append(timeout_s)
        return len(waits) == 3

    ticks = iter([2.0, 3.0])
    ticker = Ticker(lambda: next(ticks), 1.0, wait)
    ticker.start()
    assert ticker.stop()
    assert waits == [1.0, 2.0, 3.0]


def test_one_that_was_never_started_can_be_stopped() -> None:
    assert Ticker(lambda: HOUR_S).stop()


def test_a_tick_that_fails_is_not_printed(capsys: Any) -> None:
    ticker = Ticker(lambda: 1 // 0, 0.0)
    ticker.start()
    assert ticker.stop()
    assert capsys.readouterr() == ("", "")


def test_where_no_thread_can_be_started_nothing_ticks(monkeypatch: Any) -> None:
    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    ticker = Ticker(lambda: HOUR_S)
    ticker.start()
    assert ticker.stop()


def test_a_thread_that_hangs_is_left_alone(monkeypatch: Any) -> None:
    monkeypatch.setattr("jaxmagic.progress.ticker._JOIN_S", 0.0)
    hangs, over = threading.Event(), threading.Event()

    def tick() -> float:
        hangs.set()
        over.wait()
        return HOUR_S

    ticker = Ticker(tick, 0.0)
    ticker.start()
    assert hangs.wait(60)
    assert not ticker.stop()
    over.set()
    ticker._thread.join()
