"""The table of GPU kernels."""

from __future__ import annotations

import re
from statistics import mean

from ... import units
from ..analysis.devices.graph_kernels import sanitized
from ..analysis.operations import parts
from ..record.kernels import KernelTime
from ..record.profile import Profile
from .lines import whole

#: Columns that a narrow table leaves out.
_WIDE = ("min", "max", "grid", "block", "registers")

#: Kernels with a smaller share of the device time have no row.
_WORTH_A_ROW = 0.01


def kernel_table(profile: Profile, most: int, *, narrow: bool = False) -> tuple[list[tuple[str, ...]], int]:
    """Tabulate the kernels whose names differ from their operations'. Returns the rows, and how many there are.

    The same kernel on several devices is one row.
    """
    by_kernel: dict[tuple[object, ...], list[KernelTime]] = {}
    for each in profile.kernel_times:
        if _without_number(each.name) != _without_number(sanitized(each.operation)):
            by_kernel.setdefault((each.name, each.operation, each.module, each.grid, each.block), []).append(each)
    kernels = sorted(by_kernel.values(), key=lambda same: -sum(each.total_ns for each in same))
    shown = [same for same in kernels if sum(each.total_ns for each in same) >= _WORTH_A_ROW * profile.device_ns]
    if not shown:
        return [], 0
    heads = ("kernel", "of", "time", "count", "min", "median", "max", "grid", "block", "registers", "launch")
    rows = [_row(same, profile) for same in shown[:most]]
    kept = [at for at, head in enumerate(heads) if any(row[at] for row in rows) and not (narrow and head in _WIDE)]
    return [tuple(row[at] for at in kept) for row in (heads, *rows)], len(shown)


def _without_number(name: str) -> str:
    """Cut the number off: XLA compiles equal operations once, and names the kernel after one of them."""
    return re.sub(r"_\d+$", "", name)


def _row(same: list[KernelTime], profile: Profile) -> tuple[str, ...]:
    first, launches = same[0], [each.launch_ns for each in same if each.launch_ns is not None]
    return (
        first.name,
        first.operation,
        units.time(sum(each.total_ns for each in same) / parts(profile)),
        whole(sum(each.count for each in same), profile.runs or 1),
        units.time(min(each.min_ns for each in same)),
        units.time(mean(each.median_ns for each in same)),
        units.time(max(each.max_ns for each in same)),
        "×".join(map(str, first.grid)),
        "×".join(map(str, first.block)),
        "" if first.registers is None else str(first.registers),
        units.time(mean(launches)) if launches else "",
    )
