"""Sums up device time by operation, by place in the source, and by program."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from ...records.call_stack import Stack
from ...xla.lines.performed import Performed
from ..record.communication import ProgramTime
from ..record.profile import OperationTime, PlaceTime
from ..record.recording import ProgramKey, Trace
from .attribution import Floats
from .classify_ops import ClassifiedOp
from .devices.activity import DeviceWork, OpClassifier
from .operations import together


def operations_of(device: str, work: DeviceWork, classifier: OpClassifier) -> list[OperationTime]:
    """Return one row per operation. The times add up to the busy time of the device.

    Two programs of the same name, as of a function that was called with two shapes, may have operations of the same
    name. These share a row only if they do the same.
    """
    numbers = np.flatnonzero(work.count)
    times = _whole(work.time_ps[numbers], work.busy.total // 1000)
    rows: dict[tuple[object, ...], OperationTime] = {}
    for number, time_ns in zip(numbers.tolist(), times, strict=True):
        op = classifier.of(number)
        row = OperationTime(
            name=op.name,
            module=op.module,
            category=op.category,
            device=device,
            count=int(work.runs[number]),
            total_ns=round(work.total_ps[number] / 1000),
            self_ns=round(work.self_ps[number] / 1000),
            time_ns=time_ns,
            shape=op.shape,
            scope=op.place[1],
            source=op.source,
            inside=op.inside,
            flops=op.flops,
            multiplied=op.multiplied,
            asynchronous=op.asynchronous,
            accessed_bytes=op.bytes_accessed,
            median_ns=_median_ns(work, number),
        )
        same = rows.get(op.identity)
        rows[op.identity] = row if same is None else together(same, row)
    return list(rows.values())


def _median_ns(work: DeviceWork, number: int) -> float | None:
    """Return the median time of the executions of an operation; ``None`` if they cannot be told apart.

    Of two, it is the shorter time.
    """
    executions = int(work.runs[number])
    start, end = work.spans(number)
    if executions < 2 or len(start) % executions:
        return None
    in_order = (end - start)[np.argsort(start, kind="stable")]
    by_time = np.sort(in_order.reshape(executions, -1).sum(axis=1))
    return float(by_time[(executions - 1) // 2]) / 1000


#: The device and the program of operations, and their opcode.
_Kind = tuple[str, str, str]


@dataclass(slots=True)
class _Place:
    time_ps: float = 0.0
    counts: dict[_Kind, dict[Hashable, dict[str, int]]] = field(default_factory=dict)
    kinds: dict[str, float] = field(default_factory=dict)
    split: bool = False
    abouts: dict[str, float] = field(default_factory=dict)
    operations: dict[str, float] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Executions of the operation with most time, on the device and in the program with most of them.

        Instructions that compute the same values, such as rematerialized ones, count as often as the most frequent.
        """
        heaviest = max(self.kinds, key=lambda each: self.kinds[each])
        counts = (made for (_, _, opcode), made in self.counts.items() if opcode == heaviest)
        return max(1, *(sum(max(runs.values()) for runs in made.values()) for made in counts))


class SourceTotals:
    """Time of all devices by place in the source."""

    def __init__(self) -> None:
        self._places: dict[tuple[Stack, str], _Place] = {}

    def add(self, device: str, op: ClassifiedOp, time_ps: float, count: int) -> None:
        """Add the time of an operation to each of its places."""
        for key, share in (op.places or {((), ""): 1.0}).items():
            place = self._places.setdefault(key, _Place())
            place.time_ps += time_ps * share
            made = op.performs.get(key, Performed(op.name, op.name, 1))
            runs = place.counts.setdefault((device, op.module, made.opcode), {}).setdefault(made.identity, {})
            runs[op.name] = runs.get(op.name, 0) + count * made.times
            place.kinds[made.opcode] = place.kinds.get(made.opcode, 0.0) + time_ps * share
            place.split |= op.split
            place.abouts[op.about] = place.abouts.get(op.about, 0.0) + time_ps * share
            place.operations[op.name] = place.operations.get(op.name, 0.0) + time_ps * share

    def times(self, total_ns: int) -> tuple[PlaceTime, ...]:
        """Return the time by place, the longest first; the times add up to the total."""
        rows = sorted(self._places.items(), key=lambda each: -each[1].time_ps)
        times = _whole(np.array([each.time_ps for _, each in rows]), total_ns)
        return tuple(
            PlaceTime(
                stack=stack,
                scope=scope,
                time_ns=time_ns,
                count=place.count,
                operations=tuple(sorted(place.operations, key=lambda each: -place.operations[each])),
                split=place.split,
                about=max(place.abouts, key=lambda each: place.abouts[each]),
            )
            for ((stack, scope), place), time_ns in zip(rows, times, strict=True)
        )


class Programs:
    """Device time per compiled program."""

    def __init__(self, recording: Trace) -> None:
        self._recording = recording
        self._time_ps: dict[ProgramKey, float] = {}
        self._devices: dict[ProgramKey, set[str]] = {}

    def add(self, device: str, kind: int, time_ps: float) -> None:
        """Add the time of the operations of one kind on a device."""
        key = self._recording.kinds[kind].program
        if key is not None and key in self._recording.modules:
            self._time_ps[key] = self._time_ps.get(key, 0.0) + time_ps
            self._devices.setdefault(key, set()).add(device)

    def times(self) -> tuple[ProgramTime, ...]:
        """Return the programs, the one with most time first."""
        modules = self._recording.modules
        return tuple(
            ProgramTime(
                name=modules[key].name,
                devices=len(self._devices[key]),
                time_ns=round(time_ps / 1000),
                inputs=modules[key].inputs,
                outputs=modules[key].outputs,
            )
            for key, time_ps in sorted(self._time_ps.items(), key=lambda each: -each[1])
        )


def _whole(values: Floats, total: int) -> list[int]:
    """Scale values to whole numbers that add up to the total."""
    passed = np.cumsum(values)
    if not len(passed) or not passed[-1]:
        return [0] * len(passed)
    whole = np.round(np.concatenate([[0.0], passed]) * (total / passed[-1])).astype(np.int64)
    return [int(each) for each in np.diff(whole)]
