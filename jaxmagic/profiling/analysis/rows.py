"""The rows of a profile: operations, places in the program, and programs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from ...records.call_stack import Stack
from ...xla.lines.performed import Performed
from ..record.communication import ProgramTime
from ..record.profile import OperationTime, PlaceTime
from ..record.recording import ProgramKey, Trace
from .attribution import Floats
from .classify_ops import ClassifiedOp
from .devices.activity import DeviceWork, OpClassifier


def operations_of(device: str, work: DeviceWork, kinds: OpClassifier) -> list[OperationTime]:
    """Kinds of events that are one operation are one row. The times add up to that in which the device was busy.

    Two programs of one name may have operations of one name, such as those of a function that was called with two
    shapes: these are one only where they do the same.
    """
    numbers = np.flatnonzero(work.count)
    times = _whole(work.time_ps[numbers], work.busy.total // 1000)
    found: dict[tuple[object, ...], OperationTime] = {}
    for number, time_ns in zip(numbers.tolist(), times, strict=True):
        mine = kinds.of(number)
        key = mine.identity
        row = OperationTime(
            name=mine.name,
            module=mine.module,
            category=mine.category,
            device=device,
            count=int(work.runs[number]),
            total_ns=round(work.total_ps[number] / 1000),
            self_ns=round(work.self_ps[number] / 1000),
            time_ns=time_ns,
            shape=mine.shape,
            scope=mine.place[1],
            source=mine.source,
            inside=mine.inside,
            flops=mine.flops,
            multiplied=mine.multiplied,
            asynchronous=mine.asynchronous,
            accessed_bytes=mine.accessed_bytes,
        )
        same = found.get(key)
        found[key] = (
            row
            if same is None
            else replace(
                same,
                count=same.count + row.count,
                total_ns=same.total_ns + row.total_ns,
                self_ns=same.self_ns + row.self_ns,
                time_ns=same.time_ns + row.time_ns,
            )
        )
    return list(found.values())


#: The device and the program of operations, and what they do.
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
        """How often the operation ran that took most, on the device and in the program where it did so most often.

        Instructions that compute the same values are one, and the one that ran most counts.
        """
        heaviest = max(self.kinds, key=lambda each: self.kinds[each])
        counts = (made for (_, _, opcode), made in self.counts.items() if opcode == heaviest)
        return max(1, *(sum(max(runs.values()) for runs in made.values()) for made in counts))


class SourceTotals:
    """Time by place, of all devices."""

    def __init__(self) -> None:
        self._found: dict[tuple[Stack, str], _Place] = {}

    def add(self, device: str, work: ClassifiedOp, time_ps: float, count: int) -> None:
        """Return what an operation took, for each of its places."""
        for place, share in (work.places or {((), ""): 1.0}).items():
            found = self._found.setdefault(place, _Place())
            found.time_ps += time_ps * share
            made = work.performs.get(place, Performed(work.name, work.name, 1))
            runs = found.counts.setdefault((device, work.module, made.opcode), {}).setdefault(made.identity, {})
            runs[work.name] = runs.get(work.name, 0) + count * made.times
            found.kinds[made.opcode] = found.kinds.get(made.opcode, 0.0) + time_ps * share
            found.split |= work.split
            found.abouts[work.about] = found.abouts.get(work.about, 0.0) + time_ps * share
            found.operations[work.name] = found.operations.get(work.name, 0.0) + time_ps * share

    def times(self, total_ns: int) -> tuple[PlaceTime, ...]:
        """They add up to the total; what took most comes first."""
        rows = sorted(self._found.items(), key=lambda each: -each[1].time_ps)
        times = _whole(np.array([each.time_ps for _, each in rows]), total_ns)
        return tuple(
            PlaceTime(
                stack=stack,
                scope=scope,
                time_ns=time_ns,
                count=found.count,
                operations=tuple(sorted(found.operations, key=lambda each: -found.operations[each])),
                split=found.split,
                about=max(found.abouts, key=lambda each: found.abouts[each]),
            )
            for ((stack, scope), found), time_ns in zip(rows, times, strict=True)
        )


class Programs:
    """Device time per compiled program."""

    def __init__(self, recording: Trace) -> None:
        self._recording = recording
        self._time_ps: dict[ProgramKey, float] = {}
        self._devices: dict[ProgramKey, set[str]] = {}

    def add(self, device: str, kind: int, time_ps: float) -> None:
        """Return what operations of one kind took on a device."""
        key = self._recording.kinds[kind].program
        if key is not None and key in self._recording.modules:
            self._time_ps[key] = self._time_ps.get(key, 0.0) + time_ps
            self._devices.setdefault(key, set()).add(device)

    def times(self) -> tuple[ProgramTime, ...]:
        """Return what took longest first."""
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
    """Whole numbers that are what the values are to each other, and add up to the total."""
    passed = np.cumsum(values)
    if not len(passed) or not passed[-1]:
        return [0] * len(passed)
    whole = np.round(np.concatenate([[0.0], passed]) * (total / passed[-1])).astype(np.int64)
    return [int(each) for each in np.diff(whole)]
