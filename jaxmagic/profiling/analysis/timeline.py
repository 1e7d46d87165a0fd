"""The events of a recording for a timeline: the longest of them, on rows that people know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ... import units
from ..record.recording import EventMetadata, Role, Trace, TraceLine
from ..record.timeline import Activity, EventLabel, EventTrack, ProfileTimeline, Shown
from .attribution import CALLBACK, COLLECTIVE, CONTROL, COPY, Ints, Segments
from .classify_ops import OURS, ClassifiedOp, is_ours
from .devices.idle_gaps import CAUSES, Cause, host_activity

#: Events that are kept, the longest ones; kinds of events that are called by their names; and threads of the host.
MOST_EVENTS = 100_000
_MOST_NAMES = 4_000
_MOST_THREADS = 12

#: Gaps of a device that are kept, the longest ones, and those of which it is told what the host did meanwhile.
_MOST_GAPS = 4_000
_MOST_TOLD = 200

#: What the host's own bookkeeping is called: it is about other events, and none of its own.
_NOISE = re.compile(rf"end: |ThreadpoolListener::|jaxmagic: |.*{OURS}")

#: What a thread is called beside its name: the system's number for it.
_NUMBER = re.compile(r"/-?\d+$")

_SHOWN: Mapping[Role, Shown] = {
    "operations": "operations",
    "asynchronous": "operations",
    "programs": "programs",
    "steps": "programs",
    "waits": "waits",
    "host": "host",
}


class Gaps(NamedTuple):
    """When a device computed nothing, by what it waited for; and how long it waited at barriers."""

    device: str
    by_cause: Mapping[Cause, Segments]
    barrier_ps: int = 0


class _Row(NamedTuple):
    """A row to be: events whose labels are keys."""

    name: str
    device: str | None
    shows: Shown
    keys: Ints
    start: Ints
    length: Ints


def make_timeline(
    recording: Trace,
    windows: Sequence[tuple[int, int]],
    gaps: Sequence[Gaps],
    described: Mapping[int, ClassifiedOp],
    most: int = MOST_EVENTS,
) -> ProfileTimeline | None:
    """The timeline of what lies in some windows; ``None`` if there are none.

    Args:
        recording: whose.
        windows: from when to when each run lasted, in picoseconds.
        gaps: of each device.
        described: what the kinds of events of devices are, by their numbers.
        most: how many events are kept.
    """
    if not windows:
        return None
    start, end = windows[0][0], max(each for _, each in windows)
    rows, dropped = _rows(recording, start, end)
    labels = _Labels(recording, described)
    lengths = np.concatenate([each.length for each in rows]) if rows else np.zeros(0, np.int64)
    shortest = int(np.partition(lengths, -most)[-most]) if len(lengths) > most else -1
    spare = most - sum(int((each.length > shortest).sum()) for each in rows)
    kept = []
    for each in rows:
        kept.append(_longer(each, shortest, spare))
        spare -= len(kept[-1].keys) - int((each.length > shortest).sum())
    labels.name(kept)
    tracks = [_runs(windows, labels)] if len(windows) > 1 else []
    for device in (each.device for each in gaps):
        tracks += [_gaps(each, labels, recording, start) for each in gaps if each.device == device]
        tracks += [labels.track(each) for each in kept if each.device == device and len(each.keys)]
    tracks += [labels.track(each) for each in kept if each.device is None and len(each.keys)]
    left_out = len(lengths) - sum(len(each.keys) for each in kept)
    gaps_left_out = sum(max(0, _count(each) - _MOST_GAPS) for each in gaps)
    return ProfileTimeline(
        end_ns=_ns(end - start),
        labels=tuple(labels.found),
        tracks=tuple(each for each in tracks if each.labels),
        left_out=left_out,
        shortest_ns=-(-shortest // 1000) if left_out else 0,
        gaps_left_out=gaps_left_out,
        threads_left_out=dropped,
    )


def _count(gaps: Gaps) -> int:
    return sum(len(each.start) for each in gaps.by_cause.values())


def _longer(row: _Row, shortest: int, spare: int) -> _Row:
    """Return what is longer, and as many of those that are as long."""
    chosen = row.length > shortest
    chosen[np.flatnonzero(row.length == shortest)[:spare]] = True
    return row._replace(keys=row.keys[chosen], start=row.start[chosen], length=row.length[chosen])


def _rows(recording: Trace, start: int, end: int) -> tuple[list[_Row], int]:
    """The tracks of devices, and those threads of the host that did most; and how many of these are left out."""
    noise = np.array([_is_noise(each) for each in recording.kinds], bool)
    devices: list[_Row] = []
    host: list[tuple[_Row, bool]] = []
    for track in recording.tracks:
        if track.role not in _SHOWN:
            continue
        chosen = (track.start_ps < end) & (track.end_ps > start) & (track.end_ps > track.start_ps)
        chosen &= ~noise[track.kinds]
        if chosen.any():
            first, last = np.maximum(track.start_ps[chosen], start), np.minimum(track.end_ps[chosen], end)
            row = _Row(
                name=_NUMBER.sub("", track.name).removeprefix("tf_"),
                device=track.device,
                shows=_SHOWN[track.role],
                keys=track.kinds[chosen],
                start=first - start,
                length=last - first,
            )
            if track.device is None:
                host.append((row, is_main(track, recording)))
            else:
                devices.append(row)
    devices = _merged(devices)
    host.sort(key=lambda each: (not each[1], -int(each[0].length.sum())))
    return [*devices, *(row for row, _ in host[:_MOST_THREADS])], max(0, len(host) - _MOST_THREADS)


def _merged(rows: Sequence[_Row]) -> list[_Row]:
    """The threads of a pool that took turns with the operations of one device are one row."""
    found: dict[tuple[str, str | None, Shown], list[_Row]] = {}
    for row in rows:
        found.setdefault((row.name, row.device, row.shows), []).append(row)
    merged = []
    for same in found.values():
        keys, start, length = (np.concatenate([getattr(row, column) for row in same]) for column in _COLUMNS)
        turn = np.lexsort((-length, start)) if len(same) > 1 else np.arange(len(start))
        merged.append(same[0]._replace(keys=keys[turn], start=start[turn], length=length[turn]))
    return merged


_COLUMNS = ("keys", "start", "length")


def _is_noise(kind: EventMetadata) -> bool:
    return _NOISE.match(kind.name) is not None or is_ours(kind)


def is_main(track: TraceLine, recording: Trace) -> bool:
    """Tell whether it is the thread that Python runs on."""
    return track.name in ("python", "main") or any(
        "PjitFunction" in recording.kinds[each].name for each in np.unique(track.kinds).tolist()
    )


class _Labels:
    """What events are called; those that took least time are called by what they are."""

    def __init__(self, recording: Trace, described: Mapping[int, ClassifiedOp]) -> None:
        self.found: list[EventLabel] = []
        self._numbers: dict[EventLabel, int] = {}
        self._recording = recording
        self._described = described
        self._of: dict[tuple[int, Shown], int] = {}

    def number(self, label: EventLabel) -> int:
        """Return the number of a label, which may be new."""
        if label not in self._numbers:
            self._numbers[label] = len(self.found)
            self.found.append(label)
        return self._numbers[label]

    def name(self, rows: Sequence[_Row]) -> None:
        """Give all kinds of events in some rows their labels."""
        total: dict[tuple[int, Shown], int] = {}
        for row in rows:
            sums = np.bincount(row.keys, weights=row.length)
            for key in np.flatnonzero(sums).tolist():
                total[key, row.shows] = total.get((key, row.shows), 0) + int(sums[key])
        for place, (key, shows) in enumerate(sorted(total, key=lambda each: -total[each])):
            label = self._label(key, shows)
            if place >= _MOST_NAMES:
                label = EventLabel(name=f"({label.activity})", activity=label.activity)
            self._of[key, shows] = self.number(label)

    def track(self, row: _Row) -> EventTrack:
        """A row with the labels of its events."""
        table = np.zeros(int(row.keys.max()) + 1, np.int64)
        for key in np.unique(row.keys).tolist():
            table[key] = self._of[key, row.shows]
        start, end = row.start // 1000, (row.start + row.length) // 1000
        return EventTrack(
            name=row.name,
            device=row.device,
            shows=row.shows,
            labels=tuple(table[row.keys].tolist()),
            start_ns=tuple(start.tolist()),
            length_ns=tuple((end - start).tolist()),
        )

    def _label(self, key: int, shows: Shown) -> EventLabel:
        kind, described = self._recording.kinds[key], self._described.get(key)
        if shows == "host":
            return EventLabel(name=kind.name, activity=host_activity(kind.name))
        if shows in ("programs", "waits") or described is None:
            name = re.sub(r"\(\d+\)$", "", kind.name)
            return EventLabel(name=name, activity="collective" if "barrier" in name else "control flow")
        where = described.source, described.inside and f"in {described.inside}", described.module
        detail = " · ".join(filter(None, (described.category, described.shape, *where)))
        return EventLabel(name=described.name, activity=_ACTIVITIES.get(described.rank, "computation"), detail=detail)


_ACTIVITIES: Mapping[int, Activity] = {
    COLLECTIVE: "collective",
    COPY: "copy",
    CALLBACK: "host",
    CONTROL: "control flow",
}


def _runs(windows: Sequence[tuple[int, int]], labels: _Labels) -> EventTrack:
    first = windows[0][0]
    starts, ends = zip(*((_ns(low - first), _ns(high - first)) for low, high in windows), strict=True)
    return EventTrack(
        name="runs",
        device=None,
        shows="runs",
        labels=tuple(
            labels.number(EventLabel(name=f"run {each + 1}", activity="run")) for each in range(len(windows))
        ),
        start_ns=starts,
        length_ns=tuple(end - start for start, end in zip(starts, ends, strict=True)),
    )


def _gaps(found: Gaps, labels: _Labels, recording: Trace, start: int) -> EventTrack:
    """The longest gaps of a device; of the very longest with what the host did."""
    parts = [
        (each.start, each.end, np.full(len(each.start), CAUSES.index(name))) for name, each in found.by_cause.items()
    ]
    columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
    order = np.argsort(columns[0] - columns[1], kind="stable")[:_MOST_GAPS]
    longest = [(low, high, CAUSES[cause]) for low, high, cause in np.stack(columns, 1)[order].tolist()]
    told = dict(zip(longest, _meanwhile(recording, longest[:_MOST_TOLD]), strict=False))
    drawn = sorted(longest)
    return EventTrack(
        name="not computing",
        device=found.device,
        shows="gaps",
        labels=tuple(
            labels.number(EventLabel(name=WAITS[each[2]], activity=_activity(each[2]), detail=told.get(each, "")))
            for each in drawn
        ),
        start_ns=tuple(_ns(low - start) for low, _, _ in drawn),
        length_ns=tuple(_ns(high - start) - _ns(low - start) for low, high, _ in drawn),
    )


def _activity(cause: Cause) -> Activity:
    return "host" if cause == "callback" else cause


#: What a gap is called, by its cause.
WAITS: Mapping[Cause, str] = {
    "collective": "exchanging data with other devices",
    "copy": "copying",
    "callback": "waiting for host callbacks",
    "compilation": "waiting for the host, which compiles",
    "transfer": "waiting for the host, which moves data",
    "host": "waiting for the host",
}


def _meanwhile(recording: Trace, gaps: Sequence[tuple[int, int, Cause]]) -> Iterator[str]:
    """For each gap the function of the host that Python's thread spent most of it in."""
    threads = [each for each in recording.tracks if each.role == "host" and is_main(each, recording)]
    noise = {number for number, each in enumerate(recording.kinds) if _is_noise(each)}
    for low, high, _ in gaps:
        most, said = 0, ""
        for track in threads:
            there = np.flatnonzero((track.start_ps < high) & (track.end_ps > low))
            there = there[~np.isin(track.kinds[there], list(noise))]
            if len(there):
                inside = np.minimum(track.end_ps[there], high) - np.maximum(track.start_ps[there], low)
                place = int(np.argmax(inside))
                if inside[place] > most:
                    most, said = int(inside[place]), recording.kinds[int(track.kinds[there[place]])].name
        yield f"the host meanwhile: {said}, for {units.time(most / 1000)} of it" if said else ""


def _ns(ps: int) -> int:
    return ps // 1000
