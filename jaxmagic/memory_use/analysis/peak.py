"""When a program needs most, and for what."""

from __future__ import annotations

from typing import NamedTuple

from ..record.memory_profile import Allocation, Buffer, Executable
from .buffer_map import live_at, live_bytes


class PeakOf(NamedTuple):
    """The step of a program at which most bytes are needed.

    Attributes:
        step: in the schedule; the first such one.
        live_bytes: of the buffers that are needed then.
        live: these buffers, each with its allocation, the largest first.
        instruction: what is made at this step; ``None`` where nothing is.
    """

    step: int
    live_bytes: int
    live: list[tuple[Allocation, Buffer]]
    instruction: Buffer | None


def peak_of(executable: Executable) -> PeakOf | None:
    """The peak of a program; ``None`` where its allocations are not known."""
    if not executable.allocations or not executable.steps:
        return None
    curve = live_bytes(executable.allocations, executable.steps)
    most = max(curve)
    step = curve.index(most)
    live = live_at(executable.allocations, step)
    made = [buffer for _, buffer in live if buffer.first == step]
    return PeakOf(step, most, live, made[0] if made else None)
