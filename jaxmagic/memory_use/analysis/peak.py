"""Finds the peak of a program's live bytes, and the buffers that are live then."""

from __future__ import annotations

from typing import NamedTuple

from ..record.memory_profile import Allocation, Buffer, Executable
from .buffer_map import live_at, live_bytes


class PeakOf(NamedTuple):
    """The step of a program at which most bytes are live.

    Attributes:
        step: the first such step of the schedule.
        live_bytes: total size of the live buffers.
        live: the live buffers, each with its allocation, largest first.
        instruction: the largest buffer that is defined at this step; ``None`` if there is none.
    """

    step: int
    live_bytes: int
    live: list[tuple[Allocation, Buffer]]
    instruction: Buffer | None


def peak_of(executable: Executable) -> PeakOf | None:
    """Find the peak of a program; ``None`` if its allocations are unknown."""
    if not executable.allocations or not executable.steps:
        return None
    curve = live_bytes(executable.allocations, executable.steps)
    most = max(curve)
    step = curve.index(most)
    live = live_at(executable.allocations, step)
    made = [buffer for _, buffer in live if buffer.first == step]
    return PeakOf(step, most, live, made[0] if made else None)
