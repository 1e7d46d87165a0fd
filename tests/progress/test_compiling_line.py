"""The line of a long compilation, on a clock and a screen of the test's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from jaxmagic.progress import compiling_line
from jaxmagic.progress.compiling_line import CompilingLine


class Screen:
    """What is drawn, and what is still there; time passes only when the thread waits."""

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.shown: str | None = None
        self.now_s = 0.0
        self.waits: list[float] = []
        self._asleep = threading.Semaphore(0)
        self._awake = threading.Semaphore(0)
        self._over = False

    def draw(self, text: str, share: float | None) -> None:
        assert share is None
        self.drawn.append(text)
        self.shown = text

    def close(self) -> None:
        self.shown = None

    def wait(self, timeout_s: float) -> bool:
        """In the thread: wait until the test lets the time pass."""
        self.waits.append(timeout_s)
        self._asleep.release()
        self._awake.acquire()
        return self._over

    def tick(self) -> None:
        """In the test: let the thread wake once, and wait until it has drawn."""
        assert self._asleep.acquire(timeout=30)
        self.now_s += self.waits[-1]
        self._awake.release()
        assert self._asleep.acquire(timeout=30)
        self._asleep.release()

    def end(self) -> None:
        self._over = True
        self._awake.release()


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def shown(screen: Screen) -> Iterator[CompilingLine]:
    made = CompilingLine(clock=lambda: screen.now_s, make_line=lambda: screen, wait=screen.wait)
    yield made
    screen.end()
    made.close()
    assert not [each for each in threading.enumerate() if each.name == "jaxmagic progress"]


def always() -> bool:
    return True


def test_elapsed_time_of_a_long_compilation_is_shown_and_removed(screen: Screen, shown: CompilingLine) -> None:
    shown.began("train_step", always)
    assert screen.drawn == []
    screen.tick()
    screen.tick()
    assert screen.drawn == ["compiling train_step: 1 s", "compiling train_step: 2 s"]
    shown.ended()
    assert screen.shown is None
    screen.tick()
    assert len(screen.drawn) == 2


def test_each_compilation_has_a_first_second_of_its_own(screen: Screen, shown: CompilingLine) -> None:
    shown.began("f", always)
    shown.ended()
    screen.now_s = 0.75
    shown.began("g", always)
    screen.tick()  # at 1.75 s
    assert screen.drawn == ["compiling g: 1 s"]


def test_a_younger_compilation_is_looked_at_when_it_is_a_second_old(screen: Screen, shown: CompilingLine) -> None:
    shown.began("f", always)
    shown.ended()
    screen.tick()
    screen.now_s = 1.25
    shown.began("g", always)
    screen.now_s = 1.0
    screen.tick()  # at 2.0 s
    assert screen.drawn == []
    screen.tick()
    assert (screen.now_s, screen.drawn) == (2.25, ["compiling g: 1 s"])


def test_what_was_lowered_and_is_not_compiled_is_not_shown(screen: Screen, shown: CompilingLine) -> None:
    shown.began("f", lambda: False)
    screen.tick()
    assert screen.drawn == []


def test_the_line_of_a_compilation_that_failed_is_removed_at_the_next_tick(
    screen: Screen, shown: CompilingLine
) -> None:
    going = [True]
    shown.began("f", lambda: going[0])
    screen.tick()
    assert screen.shown is not None
    going[0] = False
    screen.tick()
    assert screen.shown is None


def test_a_long_name_leaves_room_for_the_time(screen: Screen, shown: CompilingLine) -> None:
    shown.began("f" * 200, always)
    screen.tick()
    assert screen.drawn[0].endswith("...: 1 s")
    assert len(screen.drawn[0]) < 80


def test_a_screen_that_fails_is_left_alone(screen: Screen, monkeypatch: Any) -> None:
    tried: list[int] = []

    def fail() -> Any:
        tried.append(1)
        raise OSError

    made = CompilingLine(clock=lambda: screen.now_s, make_line=fail, wait=screen.wait)
    made.began("f", always)
    screen.tick()
    assert (tried, screen.waits[-1]) == ([1], threading.TIMEOUT_MAX)
    screen.end()
    made.close()


def test_no_thread_is_started_where_nothing_compiles() -> None:
    made = CompilingLine(make_line=pytest.fail)
    before = threading.enumerate()
    made.ended()
    made.close()
    assert threading.enumerate() == before


@pytest.mark.parametrize(("can", "shown", "made"), [(True, False, True), (False, False, False), (True, True, False)])
def test_there_is_a_line_only_where_none_is_shown_yet(monkeypatch: Any, can: bool, shown: bool, made: bool) -> None:
    monkeypatch.setattr(compiling_line, "can_be_shown", lambda: can)
    monkeypatch.setattr(compiling_line, "is_shown", lambda: shown)
    assert (compiling_line.compiling_line() is not None) is made
