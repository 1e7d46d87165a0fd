"""GPU kernels of an operation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """All executions of one kernel with one launch size, for one operation on one device.

    Attributes:
        name: the name of its function, without namespaces, template arguments and parameters.
        full_name: the recorded name.
        operation: the operation that it ran for, as in ``OperationTime``.
        module: the name of the program; empty if not known.
        device: the device that it ran on.
        count: number of executions.
        total_ns: sum of their durations.
        min_ns: the shortest duration.
        median_ns: the median duration.
        max_ns: the longest duration.
        grid: thread blocks, or work-groups of AMD's GPUs, in each dimension; empty if not recorded.
        block: threads per block in each dimension; empty if not recorded.
        registers: registers per thread; ``None`` if not recorded.
        launch_ns: the median time from the driver call to the start on the device; ``None`` if not known.
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
