"""Memory in use of the allocators in a recording, over time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatorUse:
    """One allocator, as the profiler heard of it.

    Memory is given away when a program is dispatched, which may be long before it runs, and taken back when nothing
    needs it any more.

    Attributes:
        allocator: its name, such as ``"GPU_0_bfc"``; where it has none its device, such as ``"TPU:0"``.
        peak_bytes: the most that it had given away in the recording.
        peak_ns: when that was, from the first operation of a device on.
        program: the function that JAX was dispatching then, such as ``"dot"``; empty if that is not known.
        time_ns: when it gave or took back, from the first operation of a device on; of very many times some.
        held_bytes: how much it had given away behind each.
    """

    allocator: str
    peak_bytes: int
    peak_ns: int
    program: str
    time_ns: tuple[int, ...]
    held_bytes: tuple[int, ...]
