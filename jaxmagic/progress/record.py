"""The progress that a long measurement reports; `capture` gets it as an argument, `render` shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Takes reports of what runs now and how far it is.

    Report between samples, never within a timed region. As long as nothing is shown, :meth:`advance` takes less than
    a microsecond. A :meth:`stage` may start or end a thread, which takes about 0.1 ms.
    """

    def stage(
        self, text: str, total: float | None = None, *, ticking: bool = True, expected_s: float | None = None
    ) -> None:
        """Begin the next stage.

        Args:
            text: what runs now, in a few words: ``"jit: first call and compiling"``, ``"rounds"``. The count follows
                it, as in ``rounds: 12 of about 60``.
            total: how many steps the stage has, if that is known.
            ticking: whether a thread may wake once a second and show the elapsed time; ``False`` while samples are
                taken. Then no thread of ours exists, and only :meth:`advance` draws.
            expected_s: how many seconds the stage is expected to take, such as its budget. The time left counts from
                it until `total` allows a better estimate.
        """

    def advance(self, done: float, total: float | None = None) -> None:
        """Report how many steps of the stage have ended.

        Args:
            done: steps so far; a share of the stage where `total` is 1.
            total: about how many there will be; it replaces an earlier estimate.
        """


class CompileProgress(Protocol):
    """Shows the compilations of code that runs once and is timed, and nothing between them."""

    def began(self, function: str, goes_on: Callable[[], bool]) -> None:
        """Report that `function` has been lowered; it is compiled as long as `goes_on()`, in any thread, says so."""

    def ended(self) -> None:
        """Report that it has been compiled; what is shown is removed before this returns."""

    def close(self) -> None:
        """Remove what is shown, and end the thread that draws it."""


class _Silent:
    """Reports to nobody."""

    def stage(
        self, text: str, total: float | None = None, *, ticking: bool = True, expected_s: float | None = None
    ) -> None:
        pass

    def advance(self, done: float, total: float | None = None) -> None:
        pass


#: Shows nothing: the default wherever progress can be reported.
SILENT: Progress = _Silent()
