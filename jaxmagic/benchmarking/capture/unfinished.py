"""Defines what happens to a measurement that ends early."""

from __future__ import annotations

from collections.abc import Callable

from ...session.record import Record
from ..record.samples import StoppedBy

#: Receives the record of what was measured, before the exception propagates.
Unfinished = Callable[[Record], object]


def forgotten(_: object) -> None:
    """Discard the record."""


def ended_by(error: BaseException) -> StoppedBy:
    """Return why sampling stopped, given the exception that ended it."""
    return "interrupt" if isinstance(error, KeyboardInterrupt) else "error"
