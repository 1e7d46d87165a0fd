"""Declares what a block needs of that which measures it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from IPython.core.interactiveshell import InteractiveShell

from ..session.record import Record


class Timed(Protocol):
    """How long a block took, as far as the options of a magic ask."""

    @property
    def wall_ns(self) -> int:
        """From the beginning of the code to the end of its work."""

    @property
    def compilations(self) -> tuple[Any, ...]:
        """All compilations."""

    @property
    def heard_all(self) -> bool:
        """Whether that is all."""


class Recorder(Protocol):
    """What measures a block: a stopwatch, or more than that. Its methods are those of the stopwatch."""

    result: Any
    dropped: Any

    @property
    def done(self) -> bool:
        """Whether there is a record."""

    @property
    def timing(self) -> Timed:
        """How long it took."""

    @property
    def record(self) -> Record:
        """What there is to show."""

    def start(self) -> None:
        """Begin."""

    def returned(self, value: Any = None) -> int:
        """The code has returned."""

    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> object:
        """Wait, and make the record."""

    def cancel(self) -> None:
        """End without a record."""


class RepeatedRecorder(Recorder, Protocol):
    """What measures a block that runs several times."""

    @property
    def timings(self) -> Sequence[Timed]:
        """The timings of all runs that have ended."""

    def runs(self) -> Iterator[None]:
        """The code runs between one of these and the next."""


def silenced(shell: InteractiveShell) -> bool:
    """Tell whether the cell ends in a semicolon, and its value is not displayed."""
    try:
        return bool(shell.displayhook.quiet())
    except Exception:
        return False
