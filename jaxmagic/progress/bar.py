"""Show the progress of a long measurement without disturbing it.

Nothing is shown in the first second. During a stage without samples, such as a first call, a thread shows the elapsed
time once a second. While samples are taken, there is no such thread: the sampling code reports between samples, and
the line is drawn then, at most four times a second.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from ..interrupts import begins, ends, uninterrupted
from .line import Line, can_be_shown, load, open_line
from .record import SILENT, Progress
from .ticker import Ticker
from .words import Stage, line

#: Progress is shown after this delay, and only if the measurement is expected to take at least this rest after it.
_DELAY_S, _REST_S = 1.0, 0.5

#: How often the line is drawn: between samples, and by the thread.
_BETWEEN_S, _TICK_S = 0.25, 1.0

_NEVER_S = float("inf")

#: The display of each thread, if any; a weak reference, because an interrupt may leave it here.
_open = threading.local()


def _display_around() -> Display | None:
    reference: weakref.ref[Display] | None = getattr(_open, "display", None)
    return None if reference is None else reference()


def is_shown() -> bool:
    """Return whether this thread already shows progress."""
    return _display_around() is not None


class Display:
    """The line for all measurements of a thread, the outermost one and those nested in it.

    Args:
        clock: a monotonic clock in seconds, used only for the display.
        make_line: opens the line on the screen.
        prepare: imports the modules that `make_line` needs.
        wait: see :class:`~jaxmagic.progress.ticker.Ticker`.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        make_line: Callable[[], Line] = open_line,
        prepare: Callable[[], None] = load,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self.clock = clock
        self.stages: list[Stage] = []
        self.ticker: Ticker | None = None
        self.due_s = self._from_s = clock() + _DELAY_S
        self._make_line = make_line
        self._prepare = prepare
        self._wait = wait
        self._line: Line | None = None

    def replace(self, old: Stage, new: Stage) -> Stage:
        """Replace `old` by `new` in a new list, since the thread may be reading the old one."""
        self.stages = [new if each is old else each for each in self.stages]
        return new

    def remove(self, stage: Stage) -> None:
        """Remove a stage, and continue with the stages around it."""
        self.stages = [each for each in self.stages if each is not stage]
        if self.stages:
            self.follow()

    @uninterrupted
    def follow(self) -> None:
        """Run the thread if all stages allow it; otherwise end it and draw here."""
        ticking = all(each.ticking for each in self.stages)
        if not ticking:
            self._stop_ticking()
        if self.due_s == _NEVER_S:
            return
        now_s = self.clock()
        if self._line is None and self._will_be_shown(now_s):
            self._prepare()  # at a time when no sample is delayed by it
        if not ticking:
            if now_s >= self.due_s:
                self.draw()
        elif self.ticker is None:
            self.ticker = Ticker(self._tick, max(self._from_s - now_s, _BETWEEN_S), self._wait)
            self.ticker.start()

    def _will_be_shown(self, now_s: float) -> bool:
        """Return whether one of the stages is expected to take long enough."""
        return any(now_s + (each.left_s(now_s) or 0) >= self._from_s + _REST_S for each in self.stages)

    def draw(self) -> None:
        """Draw the line; nothing is drawn any more after an error, and after :meth:`close`."""
        if self.due_s == _NEVER_S:
            return
        now_s = self.clock()
        self.due_s = max(now_s + _BETWEEN_S, self._from_s)
        text = line(self.stages, now_s)
        if now_s < self._from_s or not text:
            return
        try:
            if self._line is None:
                left_s, overdue_s = self.stages[0].left_s(now_s), self.stages[0].overdue_s(now_s)
                if left_s is not None and left_s < _REST_S and overdue_s < _DELAY_S:
                    return
                opened = self._make_line()
                if self.due_s == _NEVER_S:  # closed by another thread, which did not wait for this one
                    opened.close()
                    return
                self._line = opened
            self._line.draw(text, next((each.share for each in self.stages if each.share is not None), None))
        except Exception:
            self._give_up()

    def close(self) -> None:
        """End the thread and remove the line, even if Ctrl-C comes at the same time."""
        try:
            self._stop_ticking()
        finally:
            self._give_up()

    def _tick(self) -> float:
        self.draw()
        return _TICK_S if self.due_s != _NEVER_S else threading.TIMEOUT_MAX

    def _stop_ticking(self) -> None:
        ticker, self.ticker = self.ticker, None
        if ticker is not None and not ticker.stop():
            self._line, self.due_s = None, _NEVER_S  # the thread hangs in a write, and so would this one

    def _give_up(self) -> None:
        """Remove the line, and draw nothing any more."""
        shown, self._line, self.due_s = self._line, None, _NEVER_S
        with suppress(Exception):
            if shown is not None:
                shown.close()


class _Shown:
    """The progress of one measurement, on the display that it shares with the measurements around it."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._stage = Stage(began_s=display.clock())
        display.stages.append(self._stage)

    def stage(
        self, text: str, total: float | None = None, *, ticking: bool = True, expected_s: float | None = None
    ) -> None:
        display = self._display
        self._stage = display.replace(
            self._stage,
            Stage(text=text, total=total, ticking=ticking, expected_s=expected_s, began_s=display.clock()),
        )
        display.follow()

    def leave(self) -> None:
        """Remove the stage from the display."""
        self._display.remove(self._stage)

    def advance(self, done: float, total: float | None = None) -> None:
        stage, display = self._stage, self._display
        stage.done, stage.reached_s = done, display.clock()
        if total is not None and total != stage.total:
            stage.total, stage.estimated = total, True
        if display.ticker is None and stage.reached_s >= display.due_s:
            display.draw()


class shown_progress:
    """Show the progress of a ``with`` block if it takes longer than a second, and remove it afterwards.

    A nested block adds to the line of the outer block, or shows nothing while samples are taken there. Without a
    terminal or a notebook, nothing is shown.

    >>> with shown_progress() as progress:
    ...     progress.stage("rounds", expected_s=10.0, ticking=False)
    ...     for number in range(3):
    ...         progress.advance(number, 60)

    Args:
        make: makes the display; by default for the terminal or the notebook, if there is one.
    """

    def __init__(self, make: Callable[[], Display | None] | None = None) -> None:
        self._make = make or (lambda: Display() if can_be_shown() else None)
        self._display: Display | None = None
        self._mine: _Shown | None = None
        self._outermost = False

    @begins("_leave")
    def __enter__(self) -> Progress:
        around = _display_around()
        if around is not None and not all(each.ticking for each in around.stages):
            return SILENT
        self._display = around or self._make()
        if self._display is None:
            return SILENT
        self._mine = _Shown(self._display)
        if around is None:
            _open.display, self._outermost = weakref.ref(self._display), True
        return self._mine

    @ends
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._leave()

    @ends
    def _leave(self) -> None:
        display, self._display, mine, self._mine = self._display, None, self._mine, None
        if display is None or mine is None:
            return
        if self._outermost:
            _open.display = None
            display.close()
            return
        mine.leave()
