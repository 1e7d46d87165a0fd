"""Chooses the events of a trace that the timeline of a profile keeps, the longest ones, and labels them."""

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

#: At most this many events are kept, the longest ones; this many kinds of events by name; and this many host threads.
MOST_EVENTS = 100_000
_MOST_NAMES = 4_000
_MOST_THREADS = 12

#: At most this many gaps of a device are kept, the longest ones, and this many of them with the activity of the host.
_MOST_GAPS = 4_000
_MOST_EXPLAINED = 200

#: Events of the host that only annotate other events.
_NOISE = re.compile(rf"end: |ThreadpoolListener::|jaxmagic: |.*{OURS}")

#: The thread id that follows the name of a thread.
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
    """Times in which a device computed nothing, by cause, and the time that it waited at barriers."""

    device: str
    by_cause: Mapping[Cause, Segments]
    barrier_ps: int = 0


class _Row(NamedTuple):
    """Events of a row before they have labels; ``keys`` are their kinds."""

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
    """Make the timeline of the windows; ``None`` without windows.

    Args:
        recording: the trace.
        windows: the start and end of each run, in picoseconds.
        gaps: the gaps of each device.
        described: the classified operations by the numbers of their kinds.
        most: how many events are kept at most.
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
    for waits in gaps:
        tracks.append(_gaps(waits, labels, recording, start))
        tracks += [labels.track(each) for each in kept if each.device == waits.device and len(each.keys)]
    tracks += [labels.track(each) for each in kept if each.device is None and len(each.keys)]
    left_out = len(lengths) - sum(len(each.keys) for each in kept)
    gaps_left_out = sum(max(0, sum(len(part.start) for part in each.by_cause.values()) - _MOST_GAPS) for each in gaps)
    return ProfileTimeline(
        end_ns=_ns(end - start),
        labels=tuple(labels.labels),
        tracks=tuple(each for each in tracks if each.labels),
        left_out=left_out,
        shortest_ns=-(-shortest // 1000) if left_out else 0,
        gaps_left_out=gaps_left_out,
        threads_left_out=dropped,
    )


def _longer(row: _Row, shortest: int, spare: int) -> _Row:
    """Keep the events that are longer than the shortest, and `spare` events of the same length."""
    chosen = row.length > shortest
    chosen[np.flatnonzero(row.length == shortest)[:spare]] = True
    return row._replace(keys=row.keys[chosen], start=row.start[chosen], length=row.length[chosen])


def _rows(recording: Trace, start: int, end: int) -> tuple[list[_Row], int]:
    """Return the rows of devices and of the busiest host threads, and how many host threads are left out."""
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
    """Merge the rows of a thread pool, whose threads take turns with the operations of a device."""
    by_row: dict[tuple[str, str | None, Shown], list[_Row]] = {}
    for row in rows:
        by_row.setdefault((row.name, row.device, row.shows), []).append(row)
    merged = []
    for same in by_row.values():
        keys, start, length = (np.concatenate([getattr(row, column) for row in same]) for column in _COLUMNS)
        turn = np.lexsort((-length, start)) if len(same) > 1 else np.arange(len(start))
        merged.append(same[0]._replace(keys=keys[turn], start=start[turn], length=length[turn]))
    return merged


_COLUMNS = ("keys", "start", "length")


def _is_noise(kind: EventMetadata) -> bool:
    return _NOISE.match(kind.name) is not None or is_ours(kind)


def is_main(track: TraceLine, recording: Trace) -> bool:
    """Return whether a line is the thread that Python runs on."""
    return track.name in ("python", "main") or any(
        "PjitFunction" in recording.kinds[each].name for each in np.unique(track.kinds).tolist()
    )


class _Labels:
    """Labels of events. Kinds with little time are labeled by their activity alone."""

    def __init__(self, recording: Trace, described: Mapping[int, ClassifiedOp]) -> None:
        self.labels: list[EventLabel] = []
        self._numbers: dict[EventLabel, int] = {}
        self._recording = recording
        self._described = described
        self._of: dict[tuple[int, Shown], int] = {}

    def number(self, label: EventLabel) -> int:
        """Return the number of a label, and add the label if it is new."""
        if label not in self._numbers:
            self._numbers[label] = len(self.labels)
            self.labels.append(label)
        return self._numbers[label]

    def name(self, rows: Sequence[_Row]) -> None:
        """Choose the labels of all kinds of events in some rows."""
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
        """Make the row with the labels of its events."""
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
        return EventLabel(
            name=described.name, activity=_ACTIVITIES.get(described.priority, "computation"), detail=detail
        )


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


def _gaps(gaps: Gaps, labels: _Labels, recording: Trace, start: int) -> EventTrack:
    """Return the longest gaps of a device, the very longest with the activity of the host."""
    parts = [
        (each.start, each.end, np.full(len(each.start), CAUSES.index(name))) for name, each in gaps.by_cause.items()
    ]
    columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
    order = np.argsort(columns[0] - columns[1], kind="stable")[:_MOST_GAPS]
    longest = [(low, high, CAUSES[cause]) for low, high, cause in np.stack(columns, 1)[order].tolist()]
    details = dict(zip(longest, _meanwhile(recording, longest[:_MOST_EXPLAINED]), strict=False))
    drawn = sorted(longest)
    return EventTrack(
        name="not computing",
        device=gaps.device,
        shows="gaps",
        labels=tuple(
            labels.number(EventLabel(name=WAITS[each[2]], activity=_activity(each[2]), detail=details.get(each, "")))
            for each in drawn
        ),
        start_ns=tuple(_ns(low - start) for low, _, _ in drawn),
        length_ns=tuple(_ns(high - start) - _ns(low - start) for low, high, _ in drawn),
    )


def _activity(cause: Cause) -> Activity:
    return "host" if cause == "callback" else cause


#: Names of gaps by their causes.
WAITS: Mapping[Cause, str] = {
    "collective": "communicating with other devices",
    "copy": "copying",
    "callback": "waiting for host callbacks",
    "compilation": "waiting for the host, which compiles",
    "transfer": "waiting for the host, which moves data",
    "host": "waiting for the host",
}


def _meanwhile(recording: Trace, gaps: Sequence[tuple[int, int, Cause]]) -> Iterator[str]:
    """Yield, for each gap, the host function that the Python thread spent most of it in."""
    threads = [each for each in recording.tracks if each.role == "host" and is_main(each, recording)]
    noise = {number for number, each in enumerate(recording.kinds) if _is_noise(each)}
    for low, high, _ in gaps:
        most, name = 0, ""
        for track in threads:
            there = np.flatnonzero((track.start_ps < high) & (track.end_ps > low))
            there = there[~np.isin(track.kinds[there], list(noise))]
            if len(there):
                inside = np.minimum(track.end_ps[there], high) - np.maximum(track.start_ps[there], low)
                place = int(np.argmax(inside))
                if inside[place] > most:
                    most, name = int(inside[place]), recording.kinds[int(track.kinds[there[place]])].name
        yield f"the host meanwhile: {name}, for {units.time(most / 1000)} of it" if name else ""


def _ns(ps: int) -> int:
    return ps // 1000
