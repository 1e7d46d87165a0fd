"""One plane of a recording: its events in columns, its modules, and what is said of it as a whole.

The numbers of fields are those of ``tsl/profiler/protobuf/xplane.proto`` in https://github.com/openxla/xla; see
:mod:`jaxmagic.xla.hlo_proto` for how they are used.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...xla.hlo_proto import classes_of, text
from ..record.recording import EventMetadata, StatValue
from .wire import LENGTH, PADDING, VARINT, Bytes, Ints, fields, varints

# Events stay as they are here: they are read in columns.
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

#: What a statistic of an event is for: nothing, telling kinds of events apart, its time, or tying it to others.
_UNUSED, _MIXED, _OWN_OFFSET, _OWN_DURATION, _FLOW, _EXECUTION, _LAUNCH, _HELD = range(8)

#: What is not used to tell kinds of events apart: what differs from run to run would make a kind of each event.
_USES = {
    "device_offset_ps": _OWN_OFFSET,
    "device_duration_ps": _OWN_DURATION,
    "_p": _FLOW,  # what is begun, by a producer
    "_c": _FLOW,  # what is ended, by its consumer
    "run_id": _EXECUTION,
    "correlation_id": _LAUNCH,  # what the driver was called for, and what came of it
    "bytes_allocated": _HELD,  # of an allocator
    **dict.fromkeys(
        (
            "flow", "id", "_a", "_ct", "_pt", "_r", "_src",
            "bytes_reserved", "bytes_available", "fragmentation", "requested_bytes", "allocation_bytes", "addr",
            "peak_bytes_in_use",
            "all_reduce_unique_id", "context_id", "stream", "scope_range_id", "cuda_graph_node_id",
        ),
        _UNUSED,
    ),
}  # fmt: skip

_MODULE = "Hlo Proto"

#: Fields of an event.
_KIND, _OFFSET, _DURATION, _STATS = 1, 2, 3, 4

#: Statistics have numbers below: there are some hundred of them.
_MOST_NAMES = 2**20

#: Times of lines that are further away from zero are damaged; 52 days.
LONGEST_NS = 2**52

#: Events that begin later in their line, or last longer, are damaged: no recording is longer than a day.
_LONGEST_PS = 24 * 60 * 60 * 10**12

#: So many events are read at once: their columns fit into a processor's cache.
_BLOCK = 2**15


class Events(NamedTuple):
    """Events in columns, by when they started.

    Attributes:
        kinds: the number of the kind of each.
        start: when it started, in picoseconds.
        end: when it ended.
        flow: the number that ties it to another event, or 0.
        execution: the number of the execution of a program that it is part of, or 0.
        launch: the number of the call of the driver that it is, or that it came of, or 0.
        held: how many bytes an allocator has given away, or 0.
    """

    kinds: Ints
    start: Ints
    end: Ints
    flow: Ints
    execution: Ints
    launch: Ints
    held: Ints

    def where(self, mask: Any) -> Events:
        """Those that are chosen."""
        return Events(*(each[mask] for each in self))


_NONE = Events(*(np.zeros(0, np.int64) for _ in Events._fields))


class Plane:
    """One plane of a recording.

    Args:
        message: it.
        host: whose it is, empty where there is one alone.
        kinds: of events; those of it whose kind is new add that.
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
        self.dropped: dict[str, int] = {}

    def facts(self) -> dict[str, StatValue]:
        """Return what is said of the plane as a whole."""
        return dict(self._read(self._message.stats))

    def modules(self) -> dict[int, bytes]:
        """The modules that lie in it, not read yet, by the number of their program."""
        found = {}
        for number, event in self._events.items():
            facts = dict(self._read(event.stats))
            module = facts.get(_MODULE)
            if isinstance(module, bytes):
                found[_program(facts, text(event.name), number)] = module
        return found

    def events(self, line: Any) -> Events:
        """Those of a line, by when they started; of those that started at once the longest first."""
        raw = list(line.events)
        if not raw:
            return _NONE
        start_ns = line.start_ns - self._base_ns
        if abs(start_ns) > LONGEST_NS:
            self._drop(line, len(raw))
            return _NONE
        blocks = [self._block(raw[at : at + _BLOCK]) for at in range(0, len(raw), _BLOCK)]
        kinds, offset, duration, own_offset, own_duration, *ties = np.concatenate(blocks, axis=1)
        own = np.flatnonzero((own_offset >= 0) & (own_duration >= 0))
        if len(own):  # by the device's clock; what the event itself says is a guess at the host's
            offset[own] = own_offset[own] + round(float(np.median(offset[own] - own_offset[own])))
            duration[own] = own_duration[own]
        damaged = (offset < -_LONGEST_PS) | (offset > _LONGEST_PS) | (duration > _LONGEST_PS)
        start = start_ns * 1000 + offset
        end = start + np.maximum(duration, 0)
        found = Events(kinds, start, end, *ties)
        if damaged.any():
            self._drop(line, int(damaged.sum()))
            found = found.where(~damaged)
            start, end = found.start, found.end
        return found if (start[1:] > start[:-1]).all() else found.where(np.lexsort((-end, start)))

    def _drop(self, line: Any, events: int) -> None:
        name = text(line.display_name or line.name)
        self.dropped[name] = self.dropped.get(name, 0) + events

    def _block(self, raw: list[bytes]) -> Ints:
        """Make a row of each event: kind, offset, duration, both by the device's own clock or -1, and ties.

        Events are of one kind where their metadata are the same and so are the statistics that are wanted. Of these
        a number is made, by mixing the bits of each and adding them up, and looked up instead of them all.
        """
        data = np.frombuffer(b"".join(raw) + bytes(PADDING), np.uint8)
        end = np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)))
        start = np.concatenate([[0], end[:-1]]) if len(raw) else end
        found = np.zeros((9, len(raw)), np.int64)
        found[3:5] = -1
        mixed = np.zeros(len(raw), np.uint64)
        for each in fields(data, start, end):
            for row, number in enumerate((_KIND, _OFFSET, _DURATION)):
                chosen = (each.number == number) & (each.wire == VARINT)
                found[row, each.message[chosen]] = each.value[chosen]
            stats = np.flatnonzero((each.number == _STATS) & (each.wire == LENGTH))
            if len(stats):
                end_at = each.at[stats] + each.value[stats]
                self._mix(mixed, found[3:], data, each.message[stats], each.at[stats], end_at)
        mixed += _scrambled(found[0])
        values, first, which = np.unique(mixed, return_index=True, return_inverse=True)
        numbers = [self._number(value, raw[at]) for value, at in zip(values.tolist(), first.tolist(), strict=True)]
        found[0] = np.array(numbers, np.int64)[which]
        return found

    def _mix(self, mixed: Any, own: Ints, data: Bytes, events: Ints, start: Ints, end: Ints) -> None:
        """Add what one statistic of each event tells to the number of the event, or keep it if it has a row."""
        tag, after = varints(data, start)
        name, after = varints(data, after)
        use = self._uses[np.clip(name, 0, len(self._uses) - 1)]
        wanted = (tag == 8) & (use > 0)
        events, name, start, end, after, use = (each[wanted] for each in (events, name, start, end, after, use))
        there = after < end  # a value of 0 may be left out
        tag, after = varints(data, after)
        value, _ = varints(data, after)
        tag, value = tag * there, value * there
        for row, each in enumerate((_OWN_OFFSET, _OWN_DURATION, _FLOW, _EXECUTION, _LAUNCH, _HELD)):
            own[row, events[use == each]] = value[use == each]
        kept = use == _MIXED
        events, name, start, end, tag, value = (each[kept] for each in (events, name, start, end, tag, value))
        for at in np.flatnonzero((tag & 7) != VARINT).tolist():
            value[at] = hash(data[start[at] : end[at]].tobytes())
        mixed[events] += _scrambled(_scrambled(name * 64 + tag) ^ value.view(np.uint64))

    def _number(self, value: int, raw: bytes) -> int:
        """Return the number of a kind, which becomes known with its first event."""
        if value not in self._known:
            event = xspace_messages()["XEvent"]()
            event.ParseFromString(raw)
            self._known[value] = len(self._kinds)
            self._kinds.append(self._kind(event))
        return self._known[value]

    def _kind(self, event: Any) -> EventMetadata:
        metadata = self._events.get(event.kind)
        wanted = dict(self._read(event.stats))
        facts = {name: fact for name, fact in wanted.items() if name not in _USES}
        if metadata is None:
            return EventMetadata("", facts, self._host)
        return EventMetadata(text(metadata.name), dict(self._read(metadata.stats)) | facts, self._host)

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


def _program(facts: Mapping[str, StatValue], name: str, number: int) -> int:
    """The number of a program: said, or in its name as in ``jit_f(15)``."""
    said = facts.get("program_id")
    if isinstance(said, int):
        return said
    found = re.search(r"\((\d+)\)$", name)
    return int(found[1]) if found else number


def _table(uses: Iterable[tuple[int, int]]) -> NDArray[np.int8]:
    """Return what a statistic is used for, by the number of its name; the last place stands for all larger ones.

    Nothing.
    """
    known = {number: use for number, use in uses if 0 <= number < _MOST_NAMES}
    found = np.zeros(max(known, default=-1) + 2, np.int8)  # no larger than it has to be: there may be many planes
    found[list(known)] = list(known.values())
    return found


def _scrambled(numbers: Any) -> NDArray[np.uint64]:
    """Numbers that are as different as these, with all their bits: the last steps of MurmurHash3.

    https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp
    """
    found = np.asarray(numbers).astype(np.uint64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        found ^= found >> np.uint64(33)
        found *= np.uint64(factor)
    return found ^ (found >> np.uint64(33))


@cache
def xspace_messages() -> dict[str, Any]:
    """The classes of messages, by their names above."""
    return classes_of("jaxmagic.xplane", _XPLANE)
