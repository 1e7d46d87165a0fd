"""What becomes of a measurement that something has ended early."""

from __future__ import annotations

from collections.abc import Callable

from ...session.record import Record
from ..record.samples import StoppedBy

#: Gets the record of what was taken, before the exception goes on its way.
Unfinished = Callable[[Record], object]


def forgotten(_: object) -> None:
    """Keep nothing of it."""


def ended_by(error: BaseException) -> StoppedBy:
    """Return what an exception makes of the samples that were taken before it."""
    return "interrupt" if isinstance(error, KeyboardInterrupt) else "error"
