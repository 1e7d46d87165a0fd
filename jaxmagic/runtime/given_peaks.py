"""The peak rates that the user has given, if any."""

from __future__ import annotations

from typing import NamedTuple


class Given(NamedTuple):
    """Peak rates set by the user; ``None`` leaves a rate to the data sheet or to a measurement.

    Attributes:
        flops: peak FLOP/s.
        bytes: peak memory bandwidth, in bytes/s.
    """

    flops: float | None = None
    bytes: float | None = None


_given = Given()


def give_peaks(given: Given) -> None:
    """Use these peak rates from now on."""
    global _given
    _given = given


def given_peaks() -> Given:
    """Return the peak rates that the user set."""
    return _given
