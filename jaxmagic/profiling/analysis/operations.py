"""Sums up the operations of a profile over devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..record.profile import OperationTime


def over_devices(operations: Iterable[OperationTime]) -> list[OperationTime]:
    """Return each operation once, with counts and times of all devices, the one with most time first.

    ``device`` is ``"all"`` for an operation of several devices.
    """
    rows: dict[tuple[object, ...], OperationTime] = {}
    for each in operations:
        key = identity(each)
        rows[key] = replace(together(rows[key], each), device="all") if key in rows else each
    return sorted(rows.values(), key=lambda each: -each.time_ns)


def identity(operation: OperationTime) -> tuple[object, ...]:
    """Return a key that is equal for the same operation on several devices."""
    same = operation
    return same.module, same.name, same.category, same.shape, same.flops, same.accessed_bytes


def counts_by_device(operations: Iterable[OperationTime]) -> dict[tuple[object, ...], dict[str, int]]:
    """Count the executions of each operation per device."""
    by_operation: dict[tuple[object, ...], dict[str, int]] = {}
    for each in operations:
        counts = by_operation.setdefault(identity(each), {})
        counts[each.device] = counts.get(each.device, 0) + each.count
    return by_operation


def together(one: OperationTime, other: OperationTime) -> OperationTime:
    """Add the counts and times of two rows."""
    return replace(
        one,
        count=one.count + other.count,
        total_ns=one.total_ns + other.total_ns,
        self_ns=one.self_ns + other.self_ns,
        time_ns=one.time_ns + other.time_ns,
    )
