"""The operations of a profile, without regard to the device that they ran on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..record.profile import OperationTime


def over_devices(operations: Iterable[OperationTime]) -> list[OperationTime]:
    """Each operation once, its counts and times those of all devices together, what took most first.

    Its ``device`` is that of the first, or ``"all"`` where there are several.
    """
    found: dict[tuple[object, ...], OperationTime] = {}
    for each in operations:
        key = identity(each)
        same = found.get(key)
        found[key] = each if same is None else _together(same, each)
    return sorted(found.values(), key=lambda each: -each.time_ns)


def identity(operation: OperationTime) -> tuple[object, ...]:
    """Return a key that is the same for one operation on several devices."""
    same = operation
    return same.module, same.name, same.category, same.shape, same.flops, same.accessed_bytes


def counts_by_device(operations: Iterable[OperationTime]) -> dict[tuple[object, ...], dict[str, int]]:
    """Count the executions of each operation per device."""
    found: dict[tuple[object, ...], dict[str, int]] = {}
    for each in operations:
        counts = found.setdefault(identity(each), {})
        counts[each.device] = counts.get(each.device, 0) + each.count
    return found


def _together(one: OperationTime, other: OperationTime) -> OperationTime:
    return replace(
        one,
        device="all",
        count=one.count + other.count,
        total_ns=one.total_ns + other.total_ns,
        self_ns=one.self_ns + other.self_ns,
        time_ns=one.time_ns + other.time_ns,
    )
