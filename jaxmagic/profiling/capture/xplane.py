"""Reads one XPlane of a trace: events in columns, compiled modules, and the statistics of the plane.

The field numbers are those of ``tsl/profiler/protobuf/xplane.proto`` in https://github.com/openxla/xla; see
:mod:`jaxmagic.xla.hlo_proto` for how they are used.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...xla.hlo_proto import classes_of, text
from ..analysis.device_clock import DeviceClock, device_clock
from ..record.recording import EventMetadata, StatValue
from .wire import LENGTH, PADDING, VARINT, Bytes, Ints, fields, varints

# Events and statistics stay bytes here, and are read in columns.
_XPLANE = """
XSpace: planes 1 *XPlane, errors 2 *bytes, warnings 3 *bytes, hosts 4 *bytes
XPlane: id 1 int64, name 2 bytes, lines 3 *XLine, events 4 *EventEntry, names 5 *NameEntry, stats 6 *bytes
EventEntry: key 1 int64, value 2 XEventMetadata
XEventMetadata: name 2 bytes, stats 5 *bytes
NameEntry: key 1 int64, value 2 XStatMetadata
XStatMetadata: name 2 bytes
XLine: id 1 int64, name 2 bytes, start_ns 3 int64, events 4 *bytes, display_name 11 bytes
XEvent: kind 1 int64, stats 4 *bytes
XStat: name 1 int64, number 2 fixed64, unsigned 3 int64, signed 4 int64, text 5 bytes, data 6 bytes, reference 7 int64
"""

#: How a statistic of an event is used: not at all, as a part of its kind, or in a column of its own.
_UNUSED, _MIXED, _OWN_OFFSET, _OWN_DURATION, _FLOW, _EXECUTION, _LAUNCH, _HELD, _NODE = range(9)

#: Statistics that are no part of a kind, because they differ from event to event.
_USES = {
    "device_offset_ps": _OWN_OFFSET,
    "device_duration_ps": _OWN_DURATION,
    "_p": _FLOW,  # flow id of the producer
    "_c": _FLOW,  # flow id of the consumer
    "run_id": _EXECUTION,
    "correlation_id": _LAUNCH,  # of a driver call and the events that it launched
    "bytes_allocated": _HELD,  # by an allocator
    "cuda_graph_node_id": _NODE,
    **dict.fromkeys(
        (
            "flow", "id", "_a", "_ct", "_pt", "_r", "_src",
            "bytes_reserved", "bytes_available", "fragmentation", "requested_bytes", "allocation_bytes", "addr",
            "peak_bytes_in_use",
            "all_reduce_unique_id", "context_id", "stream", "scope_range_id",
        ),
        _UNUSED,
    ),
}  # fmt: skip

_MODULE = "Hlo Proto"

#: Fields of an event.
_KIND, _OFFSET, _DURATION, _STATS = 1, 2, 3, 4

#: Larger metadata ids of statistics are ignored; there are some hundred statistics.
_MOST_NAMES = 2**20

#: Times of lines that are further away from zero are damaged; 52 days.
LONGEST_NS = 2**52

#: Events that begin later in their line, or last longer, are damaged: no recording is longer than a day.
_LONGEST_PS = 24 * 60 * 60 * 10**12

#: This many events are read at once, so that their columns fit into the cache.
_BLOCK = 2**15


class Events(NamedTuple):
    """Events in columns, ordered by start.

    Attributes:
        kinds: numbers of their kinds.
        start: start times in picoseconds.
        end: end times.
        flow: flow ids, or 0.
        execution: run ids, or 0.
        launch: correlation ids, or 0.
        held: bytes allocated after the event, or 0.
        node: ids of nodes in CUDA graphs, or 0.
    """

    kinds: Ints
    start: Ints
    end: Ints
    flow: Ints
    execution: Ints
    launch: Ints
    held: Ints
    node: Ints

    def where(self, mask: Any) -> Events:
        """Select events."""
        return Events(*(each[mask] for each in self))


_NONE = Events(*(np.zeros(0, np.int64) for _ in Events._fields))


class Plane:
    """One plane of a trace.

    Args:
        message: the XPlane.
        host: the name of its host; empty if there is only one.
        kinds: the kinds of events of the trace; new kinds of this plane are appended.
        base_ns: subtracted from all times.

    Attributes:
        dropped: how many events have been left out because their times are damaged, by the name of their line.
    """

    def __init__(self, message: Any, host: str, kinds: list[EventMetadata], base_ns: int = 0) -> None:
        self.name = text(message.name)
        self.lines = message.lines
        self._message = message
        self._host = host
        self._base_ns = base_ns
        self._names = {each.key: text(each.value.name) for each in message.names}
        self._events = {each.key: each.value for each in message.events}
        self._uses = _table((number, _USES.get(name, _MIXED)) for number, name in self._names.items())
        self._kinds = kinds
        self._known: dict[int, int] = {}
        self.dropped: Counter[str] = Counter()

    def stats(self) -> dict[str, StatValue]:
        """Return the statistics of the plane."""
        return dict(self._read(self._message.stats))

    def modules(self) -> dict[int, bytes]:
        """Return the serialized modules of the plane by program id."""
        modules = {}
        for number, event in self._events.items():
            stats = dict(self._read(event.stats))
            module = stats.get(_MODULE)
            if isinstance(module, bytes):
                modules[_program(stats, text(event.name), number)] = module
        return modules

    def events(self, line: Any) -> Events:
        """Read the events of a line, ordered by start, the longest first among those that start together."""
        return self.events_of([line])[0]

    def events_of(self, lines: Sequence[Any]) -> list[Events]:
        """Read the events of all lines of one device, by the device's clock if any of them has its times."""
        columns = [self._columns(line) for line in lines]
        clock = device_clock(*np.concatenate([np.zeros((4, 0), np.int64), *map(_both_times, columns)], axis=1))
        return [self._by_clock(line, each, clock) for line, each in zip(lines, columns, strict=True)]

    def _by_clock(self, line: Any, columns: Ints, clock: DeviceClock | None) -> Events:
        if not columns.size:
            return _NONE
        kinds, start, duration, own_start, own_duration, *ties = columns
        end = start + np.maximum(duration, 0)
        if clock is not None:
            own, (start, end) = _has_own(columns), clock.corrected(start, end)
            duration = np.where(own, own_duration, duration)
            start = np.where(own, own_start + clock.offset, start)
            end = np.where(own, start + own_duration, end)
        events, offset = Events(kinds, start, end, *ties), start - self._start_ps(line)
        damaged = (offset < -_LONGEST_PS) | (offset > _LONGEST_PS) | (duration > _LONGEST_PS)
        if damaged.any():
            self._drop(line, int(damaged.sum()))
            events = events.where(~damaged)
            start, end = events.start, events.end
        return events if (start[1:] > start[:-1]).all() else events.where(np.lexsort((-end, start)))

    def _start_ps(self, line: Any) -> int:
        return int(line.start_ns - self._base_ns) * 1000

    def _columns(self, line: Any) -> Ints:
        """Return the columns of `_block` for a line, with start times instead of offsets."""
        raw = list(line.events)
        if raw and abs(line.start_ns - self._base_ns) > LONGEST_NS:
            self._drop(line, len(raw))
            raw = []
        if not raw:
            return np.zeros((10, 0), np.int64)
        columns = np.concatenate([self._block(raw[at : at + _BLOCK]) for at in range(0, len(raw), _BLOCK)], axis=1)
        columns[3, (np.abs(columns[1]) > _LONGEST_PS) | (columns[[2, 4]] > _LONGEST_PS).any(0)] = -1  # one is damaged
        columns[1] += self._start_ps(line)
        return columns

    def _drop(self, line: Any, events: int) -> None:
        self.dropped[text(line.display_name or line.name)] += events

    def _block(self, raw: list[bytes]) -> Ints:
        """Return the columns of events: kind, offset, duration, offset and duration by the device's clock or -1, ids.

        Events are of the same kind if their metadata and the statistics that are not in `_USES` are the same. Their
        bits are mixed to a hash for each event, and the kind is looked up by the hash.
        """
        data = np.frombuffer(b"".join(raw) + bytes(PADDING), np.uint8)
        end = np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)))
        start = np.concatenate([[0], end[:-1]]) if len(raw) else end
        columns = np.zeros((10, len(raw)), np.int64)
        columns[3:5] = -1
        mixed = np.zeros(len(raw), np.uint64)
        for each in fields(data, start, end):
            for row, number in enumerate((_KIND, _OFFSET, _DURATION)):
                chosen = (each.number == number) & (each.wire == VARINT)
                columns[row, each.message[chosen]] = each.value[chosen]
            stats = np.flatnonzero((each.number == _STATS) & (each.wire == LENGTH))
            if len(stats):
                end_at = each.at[stats] + each.value[stats]
                self._mix(mixed, columns[3:], data, each.message[stats], each.at[stats], end_at)
        mixed += _scrambled(columns[0])
        values, first, which = np.unique(mixed, return_index=True, return_inverse=True)
        numbers = [self._number(value, raw[at]) for value, at in zip(values.tolist(), first.tolist(), strict=True)]
        columns[0] = np.array(numbers, np.int64)[which]
        return columns

    def _mix(self, mixed: Any, own: Ints, data: Bytes, events: Ints, start: Ints, end: Ints) -> None:
        """Add one statistic of each event to the hash of the event, or store it if it has a column of its own."""
        tag, after = varints(data, start)
        name, after = varints(data, after)
        use = self._uses[np.clip(name, 0, len(self._uses) - 1)]
        wanted = (tag == 8) & (use > 0)
        events, name, start, end, after, use = (each[wanted] for each in (events, name, start, end, after, use))
        there = after < end  # a value of 0 may be omitted
        tag, after = varints(data, after)
        value, _ = varints(data, after)
        tag, value = tag * there, value * there
        for row, each in enumerate((_OWN_OFFSET, _OWN_DURATION, _FLOW, _EXECUTION, _LAUNCH, _HELD, _NODE)):
            own[row, events[use == each]] = value[use == each]
        kept = use == _MIXED
        events, name, start, end, tag, value = (each[kept] for each in (events, name, start, end, tag, value))
        for at in np.flatnonzero((tag & 7) != VARINT).tolist():
            value[at] = hash(data[start[at] : end[at]].tobytes())
        mixed[events] += _scrambled(_scrambled(name * 64 + tag) ^ value.view(np.uint64))

    def _number(self, value: int, raw: bytes) -> int:
        """Return the number of the kind with this hash, and add the kind if it is new."""
        if value not in self._known:
            event = xspace_messages()["XEvent"]()
            event.ParseFromString(raw)
            self._known[value] = len(self._kinds)
            self._kinds.append(self._kind(event))
        return self._known[value]

    def _kind(self, event: Any) -> EventMetadata:
        metadata = self._events.get(event.kind)
        stats = {name: value for name, value in self._read(event.stats) if name not in _USES}
        if metadata is None:
            return EventMetadata("", stats, self._host)
        return EventMetadata(text(metadata.name), dict(self._read(metadata.stats)) | stats, self._host)

    def _read(self, stats: Iterable[bytes]) -> Iterator[tuple[str, StatValue]]:
        for raw in stats:
            message = xspace_messages()["XStat"]()
            message.ParseFromString(raw)
            name = self._names.get(message.name)
            if name is not None:
                yield name, self._value(message)

    def _value(self, message: Any) -> StatValue:
        if message.reference:
            return self._names.get(message.reference, "")
        if message.text:
            return text(message.text)
        if message.number:
            (value,) = struct.unpack("<d", struct.pack("<Q", message.number))
            return float(value)
        return bytes(message.data) or int(message.unsigned or message.signed)


def _has_own(columns: Ints) -> NDArray[np.bool_]:
    """Return which events have times by the device's clock."""
    return np.minimum(columns[3], columns[4]) >= 0


def _both_times(columns: Ints) -> Ints:
    """Return the starts and ends of events that have both times: as estimated, and by the device's clock."""
    start, duration, own_start, own_duration = columns[1:5, _has_own(columns) & (columns[2] >= 0)]
    return np.stack([start, start + duration, own_start, own_start + own_duration])


def _program(stats: Mapping[str, StatValue], name: str, number: int) -> int:
    """Return the id of a program from its statistics, or else from its name, such as ``jit_f(15)``."""
    program_id = stats.get("program_id")
    if isinstance(program_id, int):
        return program_id
    in_name = re.search(r"\((\d+)\)$", name)
    return int(in_name[1]) if in_name else number


def _table(uses: Iterable[tuple[int, int]]) -> NDArray[np.int8]:
    """Tabulate the use of each statistic by its metadata id. The last entry, for all larger ids, is unused."""
    known = {number: use for number, use in uses if 0 <= number < _MOST_NAMES}
    table = np.zeros(max(known, default=-1) + 2, np.int8)  # as small as possible: there may be many planes
    table[list(known)] = list(known.values())
    return table


def _scrambled(numbers: Any) -> NDArray[np.uint64]:
    """Scramble the bits of numbers with the finalizer of MurmurHash3, which keeps different numbers different.

    https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp
    """
    bits = np.asarray(numbers).astype(np.uint64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits ^= bits >> np.uint64(33)
        bits *= np.uint64(factor)
    return bits ^ (bits >> np.uint64(33))


@cache
def xspace_messages() -> dict[str, Any]:
    """Return the classes of the messages above by name."""
    return classes_of("jaxmagic.xplane", _XPLANE)
