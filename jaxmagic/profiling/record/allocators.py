"""Allocated memory over time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatorUse:
    """Memory of one allocator.

    Memory is allocated when a program is dispatched, which may be long before it runs, and freed when nothing needs
    it any more. Times count from the first operation of a device.

    Attributes:
        allocator: the name of the allocator, such as ``"GPU_0_bfc"``, or of its device, such as ``"TPU:0"``.
        peak_bytes: the peak of allocated memory in the recording.
        peak_ns: the time of the peak.
        program: the function that JAX was dispatching at the peak, such as ``"dot"``; empty if not known.
        time_ns: times of allocations and deallocations; a selection if there are very many.
        held_bytes: allocated memory after each of them.
    """

    allocator: str
    peak_bytes: int
    peak_ns: int
    program: str
    time_ns: tuple[int, ...]
    held_bytes: tuple[int, ...]
