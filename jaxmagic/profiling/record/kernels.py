"""GPU kernels of an operation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """All executions of one kernel with one launch size, for one operation on one device.

    Attributes:
        name: of its function, without namespaces, template arguments and parameters.
        full_name: as the profiler recorded it.
        operation: for which it ran, as in :class:`OperationTime`.
        module: of its program; empty if that is not known.
        device: where it ran.
        count: how often.
        total_ns: how long all runs took, one added to the other.
        min_ns: how long the shortest took.
        median_ns: the median of their times.
        max_ns: how long the longest took.
        grid: how many blocks, or work-groups of AMD's GPUs, in each direction; empty if that was not recorded.
        block: how many threads in each, likewise.
        registers: how many each thread has; ``None`` if that was not recorded.
        launch_ns: the median time from the call of the driver to the beginning on the device; ``None`` where the
            recording does not tie them.
    """

    name: str
    full_name: str
    operation: str
    module: str
    device: str
    count: int
    total_ns: int
    min_ns: int
    median_ns: int
    max_ns: int
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    registers: int | None = None
    launch_ns: int | None = None
