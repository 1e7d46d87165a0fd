"""Declare the interface between a block and the recorder that measures it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from IPython.core.interactiveshell import InteractiveShell

from ..session.record import Record


class Timed(Protocol):
    """The timing of a block, as far as the options of a magic need it."""

    @property
    def wall_ns(self) -> int:
        """The time from the beginning of the code to the end of its work."""

    @property
    def compilations(self) -> tuple[Any, ...]:
        """All compilations."""

    @property
    def heard_all(self) -> bool:
        """Whether no compilation was missed."""


class Recorder(Protocol):
    """A recorder that measures a block. Its methods are those of the stopwatch."""

    result: Any
    dropped: Any

    @property
    def done(self) -> bool:
        """Whether there is a record."""

    @property
    def timing(self) -> Timed:
        """The timing of the block."""

    @property
    def record(self) -> Record:
        """The record, to be shown."""

    def start(self) -> None:
        """Begin to measure."""

    def returned(self, value: Any = None) -> int:
        """Note that the code has returned. See ``Stopwatch.returned``."""

    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> object:
        """Wait for the work, and make the record."""

    def cancel(self) -> None:
        """End without a record."""


class RepeatedRecorder(Recorder, Protocol):
    """A recorder that measures a block that runs several times.

    If it has a method ``see``, the block calls it before :meth:`start` with the source of the code, ``None`` if that
    is unknown, and the variables that the code sees.
    """

    @property
    def timings(self) -> Sequence[Timed]:
        """The timings of all runs that have ended."""

    def runs(self) -> Iterator[None]:
        """Yield once before each run."""


def silenced(shell: InteractiveShell) -> bool:
    """Return whether the cell ends in a semicolon, so that its value is not displayed."""
    try:
        return bool(shell.displayhook.quiet())
    except Exception:
        return False
