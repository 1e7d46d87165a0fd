"""What one device did: how often, how long, and when."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ....xla.lines.origins import Origins
from ...record.recording import EventMetadata, ProgramKey, Trace, TraceLine
from ..attribution import BESIDE, COPY, Floats, Ints, Segments, divide, innermost, joined, union_of
from ..classify_ops import ClassifiedOp, recorded
from ..cpu_completion import is_cpu
from ..run_windows import Window, within
from .cpu_runs import runs_of_cpu
from .driver_calls import DriverCalls, runs_in_order


class OpClassifier:
    """What the kinds of events of devices are, found out for those that occur."""

    def __init__(self, recording: Trace) -> None:
        self._recording = recording
        self._origins: dict[ProgramKey, Origins] = {}
        self.known: dict[int, ClassifiedOp] = {}
        self.number = len(recording.kinds)

    def of(self, number: int) -> ClassifiedOp:
        """Return what an event of this kind is."""
        if number not in self.known:
            kind = self._recording.kinds[number]
            self.known[number] = recorded(kind, self._recording.modules, self._origins)
        return self.known[number]

    def kind(self, number: int) -> EventMetadata:
        """Return the metadata that events of this kind share."""
        return self._recording.kinds[number]

    def runs_of_cpu(self, events: Ints, executions: Ints) -> dict[int, int]:
        """Count the executions of operations of the CPU, as far as they are known."""
        return runs_of_cpu(events, executions, self._recording.kinds, self._recording.modules)

    def kernel(self, number: int) -> str:
        """The name of an event of this kind, as it was recorded."""
        return self._recording.kinds[number].name

    @cached_property
    def calls(self) -> DriverCalls:
        """The calls of the GPU driver, and the kernels that they launched."""
        return DriverCalls(self._recording)

    def ranks(self, kinds: Ints) -> Ints:
        """Return the rank of each event; -1 for what is ours."""
        found = np.full(self.number, -1)
        for number in np.unique(kinds).tolist():
            mine = self.of(number)
            found[number] = -1 if mine.ours else mine.rank
        return found[kinds]


class _Events(NamedTuple):
    """The events of a track that count, in columns, and whether it is a stream of a GPU."""

    kinds: Ints
    start: Ints
    end: Ints
    launches: Ints | None
    on_stream: bool
    executions: Ints | None = None


class DeviceWork:
    """What one device did.

    Attributes:
        count: of each kind of event, how many there were.
        runs: of each kind, how often its operation ran: where one run is several kernels the one that took most has
            them all, and the others none.
        total_ps: of each kind, how long that took, one added to the other.
        self_ps: of each kind, the same without what ran inside of it.
        time_ps: of each kind, what of the device's time is its own.
        busy: the time of the device.
        copy_ps: for how long it copied, whatever else it did.
        segments: when it did what, on all its threads.
        ranks: of each segment.
    """

    def __init__(self, tracks: Sequence[TraceLine], windows: Sequence[Window], kinds: OpClassifier) -> None:
        parts: list[Segments] = []
        self._events: list[_Events] = []
        self.count = np.zeros(kinds.number, np.int64)
        self.total_ps = np.zeros(kinds.number)
        ranks_of = []
        for track in tracks:
            ranks = kinds.ranks(track.kinds)
            mine = ranks >= 0
            events, start, end = track.kinds[mine], track.start_ps[mine], track.end_ps[mine]
            start, end, chosen = within(start, end, windows)
            events, ranks = events[chosen], ranks[mine][chosen]
            launches = None if track.launches is None else track.launches[mine][chosen]
            executions = None
            if is_cpu(track.device or ""):
                said = np.zeros(len(mine), np.int64) if track.executions is None else track.executions
                executions = said[mine][chosen]
            self._events.append(_Events(events, start, end, launches, track.name.startswith("Stream"), executions))
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
        self.runs = self._runs(kinds)

    @cached_property
    def _sorted(self) -> tuple[_Events, Ints]:
        """All events by their kind, and where each kind begins."""
        launches = [
            np.zeros(len(each.kinds), np.int64) if each.launches is None else each.launches for each in self._events
        ]
        kinds, start, end = (
            np.concatenate([getattr(each, name) for each in self._events]) for name in _Events._fields[:3]
        )
        order = np.argsort(kinds, kind="stable")
        begins = np.searchsorted(kinds[order], np.arange(len(self.count) + 1))
        return _Events(kinds[order], start[order], end[order], np.concatenate(launches)[order], False), begins

    def spans(self, kind: int) -> tuple[Ints, Ints]:
        """Find when events of a kind began and ended."""
        start, end, _ = self.launched(kind)
        return start, end

    def launched(self, kind: int) -> tuple[Ints, Ints, Ints]:
        """The same, and the calls of the driver that they came of, 0 where that is not known."""
        every, begins = self._sorted
        here = slice(int(begins[kind]), int(begins[kind + 1]))
        assert every.launches is not None
        return every.start[here], every.end[here], every.launches[here]

    def on_streams(self) -> list[int]:
        """The kinds of events that ran on streams of a GPU."""
        found = [each.kinds for each in self._events if each.on_stream]
        return np.unique(np.concatenate(found)).tolist() if found else []

    def _runs(self, kinds: OpClassifier) -> Ints:
        """Count executions per kind. On GPU streams and on the CPU one execution can consist of several events."""
        runs = self.count.copy()
        on_cpu = [(each.kinds, each.executions) for each in self._events if each.executions is not None]
        if on_cpu:
            events, executions = map(np.concatenate, zip(*on_cpu, strict=True))
            for number, known_runs in kinds.runs_of_cpu(events, executions).items():
                runs[number] = known_runs
        streams = [each for each in self._events if each.on_stream]
        if not streams:
            return runs
        on_streams = np.sum([np.bincount(each.kinds, minlength=kinds.number) for each in streams], axis=0)
        numbers = np.flatnonzero(on_streams)
        operation, kernel = np.full(kinds.number, -1), np.full(kinds.number, -1)
        known: dict[object, int] = {}
        for number in numbers.tolist():
            operation[number] = known.setdefault(kinds.of(number).identity, len(known))
            kernel[number] = known.setdefault(("kernel", kinds.kernel(number)), len(known))
        in_order = [runs_in_order(operation[each.kinds], kernel[each.kinds]) for each in streams]
        together: dict[int, list[int]] = {}
        for number in numbers.tolist():
            together.setdefault(int(operation[number]), []).append(number)
        for one, members in together.items():
            mine = np.array(members)
            heaviest = mine[np.argmax(self.total_ps[mine])]
            found = None
            if len(mine) > 1 or self.count[mine[0]] > 1:
                found = kinds.calls.runs(
                    kinds.of(int(mine[0])).name, np.concatenate([self.launched(each)[2] for each in mine.tolist()])
                )
            runs[mine] -= on_streams[mine]
            runs[heaviest] += found or sum(each.get(one, 0) for each in in_order)
        return runs

    @staticmethod
    def _by_kind(kinds: Ints, values: Ints | Floats, number: int) -> Floats:
        return np.bincount(kinds, weights=values, minlength=number).astype(np.float64)
