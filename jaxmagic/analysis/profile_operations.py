"""The operations of a profile, without regard to the device that they ran on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..model.profile import OperationTime


def over_devices(operations: Iterable[OperationTime]) -> list[OperationTime]:
    """Each operation once, its counts and times those of all devices together, what took most first.

    Its ``device`` is that of the first, or ``"all"`` where there are several.
    """
    found: dict[tuple[object, ...], OperationTime] = {}
    for each in operations:
        key = each.module, each.name, each.category, each.shape, each.flops, each.accessed_bytes
        same = found.get(key)
        found[key] = each if same is None else _together(same, each)
    return sorted(found.values(), key=lambda each: -each.time_ns)


def _together(one: OperationTime, other: OperationTime) -> OperationTime:
    return replace(
        one,
        device="all",
        count=one.count + other.count,
        total_ns=one.total_ns + other.total_ns,
        self_ns=one.self_ns + other.self_ns,
        time_ns=one.time_ns + other.time_ns,
    )
