"""Progress on a fabricated clock and line: what is shown, when, and that it is removed."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from jaxmagic.progress import bar as module
from jaxmagic.progress.bar import Display, shown_progress
from jaxmagic.progress.record import SILENT
from jaxmagic.progress.words import Stage


class Screen:
    """A clock, and the line that is drawn at its times."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.drawn: list[tuple[str, float | None]] = []
        self.opened = self.closed = self.prepared = 0
        self.fails = False
        self.waits: list[float] = []
        self.turn, self.slept = threading.Semaphore(0), threading.Semaphore(0)

    def draw(self, text: str, share: float | None) -> None:
        if self.fails:
            raise OSError("the terminal is gone")
        self.drawn.append((text, share))

    def close(self) -> None:
        self.closed += 1

    def open(self) -> Screen:
        self.opened += 1
        return self

    def prepare(self) -> None:
        self.prepared += 1

    def wait(self, ticker: Any, timeout_s: float) -> bool:
        """Waits for the test, not for the time."""
        self.waits.append(timeout_s)
        self.slept.release()
        while not self.turn.acquire(timeout=0.01):
            if ticker() is None:  # it is being stopped
                self.slept.acquire(blocking=False)
                return True
        return False

    def tick(self) -> None:
        """Let the thread draw, and wait until it waits again."""
        assert self.slept.acquire(timeout=60)
        self.turn.release()
        assert self.slept.acquire(timeout=60)
        self.slept.release()

    @property
    def text(self) -> str:
        return self.drawn[-1][0]


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def show(screen: Screen) -> Callable[[], shown_progress]:
    """Makes progress blocks that are shown on the screen."""

    def make() -> Display:
        display = Display(clock=lambda: screen.now_s, make_line=lambda: screen.open(), prepare=screen.prepare)
        display._wait = partial(screen.wait, lambda: display.ticker)
        return display

    return partial(shown_progress, make)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Any:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before
    assert module._display_around() is None


def test_nothing_is_shown_in_the_first_second(screen: Screen, show: Any) -> None:
    with show() as progress:
        progress.stage("rounds", ticking=False)
        screen.now_s += 0.99
        progress.advance(99, 100)
    assert (screen.drawn, screen.opened, screen.closed) == ([], 0, 0)


def test_rounds_are_counted_of_about_how_many_and_the_time_left_is_said(screen: Screen, show: Any) -> None:
    with show() as progress:
        progress.stage("rounds", ticking=False)
        screen.now_s += 2
        progress.advance(10, 60)
        assert screen.drawn == [("rounds: 10 of about 60; 2 s, about 10 s left", 1 / 6)]
    assert screen.closed == 1


def test_a_known_total_is_not_about(screen: Screen, show: Any) -> None:
    with show() as progress:
        progress.stage("points", 8, ticking=False)
        screen.now_s += 3
        progress.advance(2)
    assert screen.text == "points: 2 of 8; 3 s, about 9 s left"


def test_the_line_follows_the_stage(screen: Screen, show: Any) -> None:
    with show() as progress:
        progress.stage("jit: warming up", ticking=False)
        screen.now_s += 2
        progress.stage("jit: rounds", ticking=False)
        assert screen.text == "jit: rounds; 0 s"
        screen.now_s += 1
        progress.advance(7)
        assert screen.text == "jit: rounds: 7; 1 s"


def test_between_samples_it_is_drawn_four_times_a_second_at_most(screen: Screen, show: Any) -> None:
    with show() as progress:
        progress.stage("rounds", ticking=False)
        screen.now_s += 1
        for number in range(1000):
            screen.now_s += 0.001
            progress.advance(number)
    assert len(screen.drawn) == 4


def test_the_estimated_time_is_said_and_what_drawing_takes_is_imported_before_the_samples(
    screen: Screen, show: Any
) -> None:
    with show() as progress:
        progress.stage("rounds", expected_s=30, ticking=False)
        assert (screen.prepared, screen.drawn) == (1, [])
        screen.now_s += 1.25
        progress.advance(5)
    assert screen.drawn == [("rounds: 5; 1 s, about 29 s left", None)]


def test_what_is_expected_to_be_over_soon_neither_imports_nor_shows_anything(screen: Screen, show: Any) -> None:
    with show() as progress:
        progress.stage("rounds", expected_s=1.25, ticking=False)
        screen.now_s += 1
        progress.advance(5)
    assert (screen.prepared, screen.drawn) == (0, [])


def test_what_goes_on_for_a_second_longer_than_expected_is_shown(screen: Screen, show: Any) -> None:
    with show() as progress:
        progress.stage("recording", 4, expected_s=1.25, ticking=False)
        screen.now_s += 2.125
        progress.advance(0)
        assert screen.drawn == []
        screen.now_s += 1
        progress.advance(0)
    assert screen.text == "recording: 0 of 4; 3 s"


def test_a_long_call_shows_elapsed_time_that_a_thread_draws(screen: Screen, show: Any) -> None:
    with show() as progress:
        progress.stage("jit: first call and compiling")
        screen.now_s += 1
        screen.tick()
        screen.now_s += 29
        screen.tick()
        assert [text for text, _ in screen.drawn] == [
            "jit: first call and compiling; 1 s",
            "jit: first call and compiling; 30 s",
        ]
        assert screen.waits[0] == 1.0


def test_no_thread_of_ours_exists_while_samples_are_taken(screen: Screen, show: Any) -> None:
    def ours() -> list[str]:
        return [each.name for each in threading.enumerate() if each.name == "jaxmagic progress"]

    with show() as progress:
        progress.stage("first call")
        assert ours()
        progress.stage("rounds", ticking=False)
        assert not ours()
        progress.stage("reading the recording")
        assert ours()


@pytest.mark.parametrize("ticking", [True, False])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_line_and_the_thread_end_with_an_exception(
    screen: Screen, show: Any, error: type[BaseException], ticking: bool
) -> None:
    with pytest.raises(error), show() as progress:
        progress.stage("rounds", ticking=False)
        screen.now_s += 2
        progress.advance(1)
        progress.stage("rounds", ticking=ticking)
        raise error
    assert screen.closed == 1


def test_an_interrupt_while_the_line_is_drawn_goes_through(screen: Screen, show: Any, monkeypatch: Any) -> None:
    def interrupt(text: str, share: float | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(screen, "draw", interrupt)
    with pytest.raises(KeyboardInterrupt), show() as progress:
        progress.stage("rounds", ticking=False)
        screen.now_s += 2
        progress.advance(1)
    assert screen.closed == 1


def test_an_interrupt_while_the_thread_is_waited_for_leaves_none(screen: Screen, show: Any, monkeypatch: Any) -> None:
    join, pending = threading.Thread.join, [KeyboardInterrupt]

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        if pending:
            raise pending.pop()
        join(thread, timeout)

    with pytest.raises(KeyboardInterrupt), show() as progress:
        progress.stage("first call")
        screen.now_s += 1
        screen.tick()
        monkeypatch.setattr(threading.Thread, "join", interrupted)
    assert screen.closed == 1


def test_a_comparison_in_a_sweep_is_said_in_the_sweeps_line(screen: Screen, show: Any) -> None:
    with show() as points:
        points.stage("points", 8)
        screen.now_s += 11
        points.advance(2)
        with show() as rounds:
            rounds.stage("jit: rounds", ticking=False)
            screen.now_s += 1
            rounds.advance(12, 60)
        assert screen.text == "points: 2 of 8; jit: rounds: 12 of about 60; 12 s, about 32 s left"
        assert screen.drawn[-1][1] == 0.25
        assert screen.closed == 0
        screen.now_s += 4
        screen.tick()
        assert screen.text == "points: 2 of 8; 16 s, about 28 s left"
    assert (screen.opened, screen.closed) == (1, 1)


def test_what_is_measured_within_a_sample_shows_nothing(screen: Screen, show: Any) -> None:
    with show() as outer:
        outer.stage("rounds", ticking=False)
        with show() as inner:
            assert inner is SILENT
        screen.now_s += 2
        outer.advance(3)
    assert screen.drawn == [("rounds: 3; 2 s", None)]


def test_a_screen_that_fails_is_left_alone(screen: Screen, show: Any) -> None:
    screen.fails = True
    with show() as progress:
        progress.stage("rounds", ticking=False)
        for _ in range(3):
            screen.now_s += 2
            progress.advance(1)
        progress.stage("reading")
    assert (screen.opened, screen.closed) == (1, 1)


def test_a_report_after_the_end_does_nothing(screen: Screen, show: Any) -> None:
    with show() as progress:
        pass
    progress.stage("rounds", ticking=True)
    screen.now_s += 5
    progress.advance(1)
    assert screen.drawn == []


def test_a_line_that_opens_only_after_the_end_is_removed_and_not_drawn(screen: Screen) -> None:
    def open_late() -> Screen:
        display.close()  # as by the main thread while the thread that draws hangs
        return screen.open()

    display = Display(clock=lambda: screen.now_s, make_line=open_late, prepare=screen.prepare)
    display.stages.append(Stage(text="first call", began_s=screen.now_s))
    for _ in range(2):
        screen.now_s += 5
        display.draw()
    assert (screen.opened, screen.closed, screen.drawn) == (1, 1, [])


def test_where_nothing_can_be_shown_nothing_is_done(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "can_be_shown", lambda: False)
    with shown_progress() as progress:
        assert progress is SILENT


def test_what_an_interrupt_leaves_behind_takes_no_later_line(screen: Screen, show: Any) -> None:
    show().__enter__()  # and nobody calls __exit__()
    gc.collect()  # the display of this test waits for itself
    with show() as progress:
        progress.stage("rounds", ticking=False)
        screen.now_s += 2
        progress.advance(1)
    assert (screen.opened, screen.closed) == (1, 1)
