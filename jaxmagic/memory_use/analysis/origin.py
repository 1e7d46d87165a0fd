"""Names where a buffer comes from, for a reader."""

from __future__ import annotations

from ...xla.scopes import BACKWARD, spoken
from ..record.memory_profile import Allocation, Buffer, Executable


def origin(allocation: Allocation, buffer: Buffer, has_backward: bool) -> str:
    """Name the captured array, the argument, or the operation whose result a buffer is; empty if unknown."""
    if buffer.captured:
        return " or ".join(buffer.captured)
    return buffer.op_name if allocation.kind == "argument" else spoken(buffer.op_name, has_backward)


def has_backward(program: Executable) -> bool:
    """Return whether a buffer of a program is made in a backward pass."""
    return any(BACKWARD in each.op_name for held in program.allocations or () for each in held.buffers)
