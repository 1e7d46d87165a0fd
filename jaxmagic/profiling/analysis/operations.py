"""Sums up the operations of a profile over devices, and those of an unrolled program by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

from ..record.profile import OperationTime, Profile

#: The parts of an instruction's name by which XLA keeps it apart from others of its kind.
_NUMBER = re.compile(r"\.(\d+|clone)(?=\.|$)")


def parts(profile: Profile) -> int:
    """Return the number of runs times devices, which times are divided by: reports show means per run and device."""
    return (profile.runs or 1) * max(len(profile.device_uses), 1)


class OperationGroup(NamedTuple):
    """Operations that differ only in their number, such as one line of each layer of an unrolled loop.

    Attributes:
        operations: the operations, summed over devices, the one with most time first.
        total: the sum of their counts and times, named after their kind.
    """

    operations: tuple[OperationTime, ...]
    total: OperationTime


def by_line(operations: Iterable[OperationTime]) -> list[OperationGroup]:
    """Group the operations of one kind and line that do the same work, the group with most time first.

    Operations without a known line are groups of their own. Those of different sizes are kept apart, so that the rate
    of a group is that of its operations.
    """
    groups: dict[tuple[object, ...], list[OperationTime]] = {}
    for each in over_devices(operations):
        key = identity(each)
        if each.source is not None:
            work = each.shape, each.flops, each.accessed_bytes, each.multiplied
            key = each.module, kind_of(each.name), each.category, each.source, each.inside, each.asynchronous, work
        groups.setdefault(key, []).append(each)
    made = [OperationGroup(tuple(members), _total(members)) for members in groups.values()]
    return sorted(made, key=lambda group: -group.total.time_ns)


def _total(members: list[OperationTime]) -> OperationTime:
    total = reduce(together, members)
    devices = {each.device for each in members}
    return replace(
        total,
        name=named([each.name for each in members]),
        device=total.device if len(devices) == 1 else "all",
    )


def named(names: Sequence[str]) -> str:
    """Name operations of one kind: a single one by its own name, several by their kind and number.

    >>> named(["dot.3"]), named(["dot.3", "dot.4"])
    ('dot.3', '2× dot')
    """
    return names[0] if len(names) == 1 else f"{len(names)}× {kind_of(names[0])}"


def kind_of(name: str) -> str:
    """Return the name of an instruction without its number.

    >>> kind_of("dot.3"), kind_of("loop_add_fusion.12.clone.1"), kind_of("fusion.7.remat")
    ('dot', 'loop_add_fusion', 'fusion.remat')
    """
    return _NUMBER.sub("", name)


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
    count = one.count + other.count
    known = None if one.median_ns is None or other.median_ns is None else (one.median_ns, other.median_ns)
    return replace(
        one,
        median_ns=None if known is None else (known[0] * one.count + known[1] * other.count) / count,
        count=count,
        total_ns=one.total_ns + other.total_ns,
        self_ns=one.self_ns + other.self_ns,
        time_ns=one.time_ns + other.time_ns,
    )
