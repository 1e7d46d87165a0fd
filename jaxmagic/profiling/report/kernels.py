"""Words and tables for GPU kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ... import units
from ..analysis.devices.command_buffers import sanitized
from ..record.kernels import KernelTime
from ..record.profile import Profile
from .lines import parts, whole

#: Columns that a narrow table does without.
_WIDE = ("min", "max", "grid", "block")

#: The share of the device time from which on a kernel has a row.
_WORTH_A_ROW = 0.01


def kernel_table(profile: Profile, most: int, *, narrow: bool = False) -> tuple[list[tuple[str, ...]], int]:
    """Kernels that are called otherwise than their operation, and how many those are; no row without any.

    Of several devices they are one row. Where it is narrow, without what only an author of kernels asks for.
    """
    found: dict[tuple[object, ...], list[KernelTime]] = {}
    for each in profile.kernel_times:
        if _without_number(each.name) != _without_number(sanitized(each.operation)):
            found.setdefault((each.name, each.operation, each.module, each.grid, each.block), []).append(each)
    rows = sorted(found.values(), key=lambda same: -sum(each.total_ns for each in same))
    worth = [same for same in rows if sum(each.total_ns for each in same) >= _WORTH_A_ROW * profile.device_ns]
    if not worth:
        return [], 0
    heads = ("kernel", "of", "time", "count", "min", "median", "max", "grid", "block", "launch")
    told = [_row(same, profile) for same in worth[:most]]
    kept = [at for at, head in enumerate(heads) if any(row[at] for row in told) and not (narrow and head in _WIDE)]
    return [tuple(row[at] for at in kept) for row in (heads, *told)], len(worth)


def _without_number(name: str) -> str:
    """XLA compiles equal operations once: their kernel has the number of one of them."""
    return re.sub(r"_\d+$", "", name)


def _row(same: list[KernelTime], profile: Profile) -> tuple[str, ...]:
    first, launches = same[0], [each.launch_ns for each in same if each.launch_ns is not None]
    return (
        first.name,
        first.operation,
        units.time(sum(each.total_ns for each in same) / parts(profile)),
        whole(sum(each.count for each in same), profile.runs or 1),
        units.time(min(each.min_ns for each in same)),
        units.time(_mean(each.median_ns for each in same)),
        units.time(max(each.max_ns for each in same)),
        "×".join(map(str, first.grid)),
        "×".join(map(str, first.block)),
        units.time(_mean(launches)) if launches else "",
    )


def _mean(values: Iterable[int]) -> float:
    found = list(values)
    return sum(found) / len(found)
