"""From a recording to the times of its operations, places and devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..model.exchange import CollectiveTime, ProgramTime, TransferTime
from ..model.frame import Stack
from ..model.profile import DeviceUse, OperationTime, PlaceTime
from ..model.profile_timeline import ProfileTimeline
from ..model.recording import Fact, ProgramKey, Recording, Track
from .attribution import (
    BESIDE,
    COLLECTIVE,
    COMPUTE,
    COPY,
    Floats,
    Ints,
    Segments,
    divide,
    innermost,
    joined,
    union_of,
)
from .exchange import Collectives, transfers
from .gaps import gaps, host_stretches, length_ps
from .profile_timeline import Gaps, make_timeline
from .recorded import Recorded, recorded

#: How far apart the clocks of threads and devices may be.
_SKEW_PS = 10**9


class Window(NamedTuple):
    """From when to when, in picoseconds since the recording began."""

    start_ps: int
    end_ps: int


class Times(NamedTuple):
    """What :class:`~jaxmagic.Profile` says of the devices, under the names that it has there."""

    recorded_ns: int
    device_uses: tuple[DeviceUse, ...]
    operation_times: tuple[OperationTime, ...]
    place_times: tuple[PlaceTime, ...]
    collectives: tuple[CollectiveTime, ...] = ()
    transfers: tuple[TransferTime, ...] = ()
    programs: tuple[ProgramTime, ...] = ()
    timeline: ProfileTimeline | None = None


def summarize(recording: Recording, windows: Sequence[Window] | None = None) -> Times:
    """What devices did.

    Args:
        recording: it.
        windows: what counts, in order and apart from each other; from the first operation to the end of the last if
            left out.
    """
    by_device: dict[str, list[Track]] = {}
    for track in recording.tracks:
        if track.device is not None and track.role in ("operations", "asynchronous"):
            by_device.setdefault(track.device, []).append(track)
    if windows is None:
        windows = _from_first_to_last([each for tracks in by_device.values() for each in tracks])
    recorded_ps = sum(each.end_ps - each.start_ps for each in windows)
    kinds = _Kinds(recording)
    uses, operations, places, waits = [], [], _Places(), []
    collectives, programs = Collectives(), _Programs(recording)
    host, when = host_stretches(recording), _stretches(windows)
    for device, tracks in sorted(by_device.items()):
        work = _Work(tracks, windows, kinds)
        if not work.count.any():  # nothing, or only programs of ours
            continue
        barrier_ps = _barriers(recording, device, windows)
        waits.append(Gaps(device, gaps(work.segments, work.ranks, when, host), barrier_ps))
        uses.append(_use(device, work, recorded_ps, recording.devices.get(device, {}), waits[-1]))
        operations += _operations(device, work, kinds)
        for number in np.flatnonzero(work.count).tolist():
            mine, time_ps, count = kinds.of(number), float(work.time_ps[number]), int(work.count[number])
            places.add(device, mine, time_ps, count)
            programs.add(device, number, time_ps)
            if mine.rank == COLLECTIVE:
                collectives.add(device, mine, (count, float(work.total_ps[number]), time_ps), work.spans(number))
    return Times(
        recorded_ns=-(-recorded_ps // 1000),
        device_uses=tuple(uses),
        operation_times=tuple(sorted(operations, key=lambda each: -each.time_ns)),
        place_times=places.times(sum(each.busy_ns for each in uses)),
        collectives=collectives.times(),
        transfers=transfers(recording, windows),
        programs=programs.times(),
        timeline=make_timeline(recording, windows, waits, kinds.known),
    )


def _from_first_to_last(tracks: Sequence[Track]) -> list[Window]:
    if not tracks:
        return []
    return [Window(min(int(each.start_ps[0]) for each in tracks), max(int(each.end_ps.max()) for each in tracks))]


def _barriers(recording: Recording, device: str, windows: Sequence[Window]) -> int:
    """How long a device waited at barriers, as its profiler tells."""
    total = 0
    for track in recording.tracks:
        if track.device == device and track.role == "waits":
            names = [
                number for number in np.unique(track.kinds).tolist() if "barrier" in recording.kinds[number].name
            ]
            chosen = np.isin(track.kinds, names)
            start, end, _ = _within(track.start_ps[chosen], track.end_ps[chosen], windows)
            total += int((end - start).sum())
    return total


def _stretches(windows: Sequence[Window]) -> Segments:
    start, end = np.array(windows, np.int64).reshape(-1, 2).T
    return union_of(start, end)


class _Kinds:
    """What the kinds of events of devices are, found out for those that occur."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.known: dict[int, Recorded] = {}
        self.number = len(recording.kinds)

    def of(self, number: int) -> Recorded:
        if number not in self.known:
            self.known[number] = recorded(self._recording.kinds[number], self._recording.modules)
        return self.known[number]

    def ranks(self, kinds: Ints) -> Ints:
        """Of each event; -1 for what is ours."""
        found = np.full(self.number, -1)
        for number in np.unique(kinds).tolist():
            mine = self.of(number)
            found[number] = -1 if mine.ours else mine.rank
        return found[kinds]


class _Programs:
    """What of the time of all devices is whose program's."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._time_ps: dict[ProgramKey, float] = {}
        self._devices: dict[ProgramKey, set[str]] = {}

    def add(self, device: str, kind: int, time_ps: float) -> None:
        """What operations of one kind took on a device."""
        key = self._recording.kinds[kind].program
        if key is not None and key in self._recording.modules:
            self._time_ps[key] = self._time_ps.get(key, 0.0) + time_ps
            self._devices.setdefault(key, set()).add(device)

    def times(self) -> tuple[ProgramTime, ...]:
        """What took longest first."""
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


class _Work:
    """What one device did.

    Attributes:
        count: of each kind of event, how often it ran.
        total_ps: of each kind, how long that took, one added to the other.
        self_ps: of each kind, the same without what ran inside of it.
        time_ps: of each kind, what of the device's time is its own.
        busy: the time of the device.
        copy_ps: for how long it copied, whatever else it did.
        segments: when it did what, on all its threads.
        ranks: of each segment.
    """

    def __init__(self, tracks: Sequence[Track], windows: Sequence[Window], kinds: _Kinds) -> None:
        parts: list[Segments] = []
        self._events: list[tuple[Ints, Ints, Ints]] = []
        self.count = np.zeros(kinds.number, np.int64)
        self.total_ps = np.zeros(kinds.number)
        ranks_of = []
        for track in tracks:
            ranks = kinds.ranks(track.kinds)
            mine = ranks >= 0
            events, start, end = track.kinds[mine], track.start_ps[mine], track.end_ps[mine]
            start, end, chosen = _within(start, end, windows)
            events, ranks = events[chosen], ranks[mine][chosen]
            self._events.append((events, start, end))
            self.count += np.bincount(events, minlength=kinds.number)
            self.total_ps += np.bincount(events, weights=end - start, minlength=kinds.number)
            alone = track.role == "asynchronous"
            found = Segments(start, end, np.arange(len(start))) if alone else innermost(start, end)
            ranks_of.append(np.full(len(found.event), BESIDE) if alone else ranks[found.event])
            parts.append(found._replace(event=events[found.event]))
        self.segments = segments = joined(parts)
        self.ranks = ranks = np.concatenate(ranks_of)
        self.busy = divide(segments.start, segments.end, ranks)
        copies = (ranks == COPY) | (ranks == BESIDE)
        copied = union_of(segments.start[copies], segments.end[copies])
        self.copy_ps = int((copied.end - copied.start).sum())
        self.self_ps = self._by_kind(segments.event, segments.end - segments.start, kinds.number)
        self.time_ps = self._by_kind(segments.event, self.busy.share, kinds.number)

    def spans(self, kind: int) -> tuple[Ints, Ints]:
        """When events of a kind began and ended."""
        chosen = [(start[events == kind], end[events == kind]) for events, start, end in self._events]
        start, end = (np.concatenate(each) for each in zip(*chosen, strict=True))
        return start, end

    @staticmethod
    def _by_kind(kinds: Ints, values: Ints | Floats, number: int) -> Floats:
        return np.bincount(kinds, weights=values, minlength=number).astype(np.float64)


def _within(start: Ints, end: Ints, windows: Sequence[Window]) -> tuple[Ints, Ints, Ints]:
    """The parts of events that lie in windows, and which event each is part of.

    An event belongs to the window in which it began, or to one that began right after it: the clocks of threads and
    devices differ. What seems to go on after its window, or to have begun long before one, is not there: a run is
    over when all of it is, and begins when nothing else is under way.
    """
    if len(windows) == 1 and len(start) and windows[0].start_ps <= start[0] and end.max() <= windows[0].end_ps:
        return start, end, np.arange(len(start))
    low, high = np.array(windows, np.int64).reshape(-1, 2).T
    if not len(low):
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, nothing
    mine = np.searchsorted(low, start, side="right") - 1
    mine += (mine < 0) | (start >= high[np.maximum(mine, 0)])
    chosen = np.flatnonzero((mine < len(low)) & (start >= low[np.minimum(mine, len(low) - 1)] - _SKEW_PS))
    mine = mine[chosen]
    start, end = np.maximum(start[chosen], low[mine]), np.minimum(end[chosen], high[mine])
    there = end > start
    return start[there], end[there], chosen[there]


def _use(device: str, work: _Work, recorded_ps: int, facts: Mapping[str, Fact], waits: Gaps) -> DeviceUse:
    busy, exposed = work.busy, work.busy.exposed
    return DeviceUse(
        device=device,
        busy_ns=busy.total // 1000,
        compute_ns=busy.ranks[COMPUTE] // 1000,
        copy_ns=work.copy_ps // 1000,
        collective_ns=busy.ranks[COLLECTIVE] // 1000,
        exposed_copy_ns=(exposed[COPY] + exposed[BESIDE]) // 1000,
        exposed_collective_ns=exposed[COLLECTIVE] // 1000,
        idle_ns=(recorded_ps - busy.total) // 1000,
        barrier_ns=waits.barrier_ps // 1000,
        compile_idle_ns=length_ps(waits.by_cause["compilation"]) // 1000,
        transfer_idle_ns=length_ps(waits.by_cause["transfer"]) // 1000,
        peak_flops=_peak(facts, "peak_teraflops_per_second", 1e12),
        peak_bytes=_peak(facts, "peak_hbm_bw_gigabytes_per_second", 1e9) or _peak(facts, "memory_bandwidth", 1),
    )


def _peak(facts: Mapping[str, Fact], name: str, unit: float) -> float | None:
    found = facts.get(name)
    return found * unit if isinstance(found, int | float) and found > 0 else None


def _operations(device: str, work: _Work, kinds: _Kinds) -> list[OperationTime]:
    """Kinds of events that are one operation are one row. The times add up to that in which the device was busy.

    Two programs of one name may have operations of one name, such as those of a function that was called with two
    shapes: these are one only where they do the same.
    """
    numbers = np.flatnonzero(work.count)
    times = _whole(work.time_ps[numbers], work.busy.total // 1000)
    found: dict[tuple[object, ...], OperationTime] = {}
    for number, time_ns in zip(numbers.tolist(), times, strict=True):
        mine = kinds.of(number)
        key = mine.module, mine.name, mine.category, mine.shape, mine.flops, mine.accessed_bytes
        row = OperationTime(
            name=mine.name,
            module=mine.module,
            category=mine.category,
            device=device,
            count=int(work.count[number]),
            total_ns=round(work.total_ps[number] / 1000),
            self_ns=round(work.self_ps[number] / 1000),
            time_ns=time_ns,
            shape=mine.shape,
            scope=mine.place[1],
            source=mine.source,
            flops=mine.flops,
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


def _whole(values: Floats, total: int) -> list[int]:
    """Whole numbers that are what the values are to each other, and add up to the total."""
    passed = np.cumsum(values)
    if not len(passed) or not passed[-1]:
        return [0] * len(passed)
    whole = np.round(np.concatenate([[0.0], passed]) * (total / passed[-1])).astype(np.int64)
    return [int(each) for each in np.diff(whole)]


@dataclass(slots=True)
class _Place:
    time_ps: float = 0.0
    counts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    split: bool = False
    operations: dict[str, float] = field(default_factory=dict)


class _Places:
    """Time by place, of all devices."""

    def __init__(self) -> None:
        self._found: dict[tuple[Stack, str], _Place] = {}

    def add(self, device: str, work: Recorded, time_ps: float, count: int) -> None:
        """What an operation took, for each of its places."""
        for place, share in (work.places or {((), ""): 1.0}).items():
            found = self._found.setdefault(place, _Place())
            found.time_ps += time_ps * share
            one = device, work.module, work.name
            found.counts[one] = found.counts.get(one, 0) + count
            found.split |= work.split
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
                count=max(found.counts.values()),
                operations=tuple(sorted(found.operations, key=lambda each: -found.operations[each])),
                split=found.split,
            )
            for ((stack, scope), found), time_ns in zip(rows, times, strict=True)
        )
