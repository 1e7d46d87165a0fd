"""The protocols through which long measurements report progress; they take an implementation as an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Receives reports of what is running and how far it is.

    Report between samples, never within a timed region. As long as nothing is shown, :meth:`advance` takes less than
    a microsecond. :meth:`stage` may start or end a thread, which takes about 0.1 ms.
    """

    def stage(
        self, text: str, total: float | None = None, *, ticking: bool = True, expected_s: float | None = None
    ) -> None:
        """Begin the next stage.

        Args:
            text: a few words for what is running: ``"jit: first call and compiling"``, ``"rounds"``. The count comes
                after it, as in ``rounds: 12 of about 60``.
            total: the number of steps of the stage, if it is known.
            ticking: whether a thread may wake once a second and show the elapsed time; ``False`` while samples are
                taken. Then there is no such thread, and only :meth:`advance` draws.
            expected_s: the expected duration of the stage in seconds, such as its budget. The time left is computed
                from it until `total` allows a better estimate.
        """

    def advance(self, done: float, total: float | None = None) -> None:
        """Report the number of steps of the stage that have ended.

        Args:
            done: the steps so far; the completed share of the stage if `total` is 1.
            total: the estimated number of steps; it replaces an earlier estimate.
        """


class CompileProgress(Protocol):
    """Shows the compilations of code that runs once and is timed, and nothing between them."""

    def began(self, function: str, goes_on: Callable[[], bool]) -> None:
        """Report that `function` was lowered; it is compiled as long as `goes_on()`, from any thread, is true."""

    def ended(self) -> None:
        """Report that the function has been compiled, and remove the display before returning."""

    def close(self) -> None:
        """Remove the display, and end the thread that draws it."""


class _Silent:
    """Ignores all reports."""

    def stage(
        self, text: str, total: float | None = None, *, ticking: bool = True, expected_s: float | None = None
    ) -> None:
        pass

    def advance(self, done: float, total: float | None = None) -> None:
        pass


#: Shows nothing; the default wherever progress can be reported.
SILENT: Progress = _Silent()
