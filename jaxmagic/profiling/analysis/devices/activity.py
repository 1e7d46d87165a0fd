"""Sums up the activity of one device: count, durations and times of each kind of event."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ....xla.lines.origins import Origins
from ...record.recording import EventMetadata, ProgramKey, Trace, TraceLine
from ..attribution import ASYNC, COPY, Floats, Ints, Segments, divide, innermost, joined, union_of
from ..classify_ops import ClassifiedOp, classify
from ..cpu_completion import is_cpu
from ..run_windows import Window, within
from .cpu_runs import runs_of_cpu
from .driver_calls import DriverCalls, runs_in_order


class OpClassifier:
    """Classifies the kinds of events of a trace, each when it is first needed."""

    def __init__(self, recording: Trace) -> None:
        self._recording = recording
        self._origins: dict[ProgramKey, Origins] = {}
        self.known: dict[int, ClassifiedOp] = {}
        self.number = len(recording.kinds)

    def of(self, number: int) -> ClassifiedOp:
        """Classify the events of a kind."""
        if number not in self.known:
            kind = self._recording.kinds[number]
            self.known[number] = classify(kind, self._recording.modules, self._origins)
        return self.known[number]

    def kind(self, number: int) -> EventMetadata:
        """Return the metadata that events of this kind share."""
        return self._recording.kinds[number]

    def runs_of_cpu(self, events: Ints, executions: Ints) -> dict[int, int]:
        """Count the executions of operations of the CPU, as far as they are known."""
        return runs_of_cpu(events, executions, self._recording.kinds, self._recording.modules)

    @cached_property
    def calls(self) -> DriverCalls:
        """The calls of the GPU driver, and the kernels that they launched."""
        return DriverCalls(self._recording)

    def priorities(self, kinds: Ints) -> Ints:
        """Return the priority of each event; -1 for events of jaxmagic's own programs."""
        by_kind = np.full(self.number, -1)
        for number in np.unique(kinds).tolist():
            op = self.of(number)
            by_kind[number] = -1 if op.ours else op.priority
        return by_kind[kinds]


class _Events(NamedTuple):
    """The events of a line within the windows, in columns, and whether the line is a GPU stream."""

    kinds: Ints
    start: Ints
    end: Ints
    launches: Ints | None
    on_stream: bool
    executions: Ints | None = None


class DeviceWork:
    """Activity of one device.

    Attributes:
        count: number of events, by kind.
        runs: executions of the operation, by kind. If one execution is several kernels, the kind with most time has
            all of them, and the others none.
        total_ps: sum of durations, by kind.
        self_ps: the same without the events inside, by kind.
        time_ps: attributed device time, by kind.
        busy: busy time of the device.
        copy_ps: time in which the device copied, also while it did something else.
        segments: innermost events of all threads.
        priorities: priorities of the segments.
    """

    def __init__(self, tracks: Sequence[TraceLine], windows: Sequence[Window], classifier: OpClassifier) -> None:
        parts: list[Segments] = []
        self._events: list[_Events] = []
        self.count = np.zeros(classifier.number, np.int64)
        self.total_ps = np.zeros(classifier.number)
        priorities_of = []
        for track in tracks:
            priorities = classifier.priorities(track.kinds)
            mine = priorities >= 0
            events, start, end = track.kinds[mine], track.start_ps[mine], track.end_ps[mine]
            start, end, chosen = within(start, end, windows)
            events, priorities = events[chosen], priorities[mine][chosen]
            launches = None if track.launches is None else track.launches[mine][chosen]
            executions = None
            if is_cpu(track.device or ""):
                said = np.zeros(len(mine), np.int64) if track.executions is None else track.executions
                executions = said[mine][chosen]
            self._events.append(_Events(events, start, end, launches, track.name.startswith("Stream"), executions))
            self.count += np.bincount(events, minlength=classifier.number)
            self.total_ps += np.bincount(events, weights=end - start, minlength=classifier.number)
            is_async = track.role == "asynchronous"
            part = Segments(start, end, np.arange(len(start))) if is_async else innermost(start, end)
            priorities_of.append(np.full(len(part.event), ASYNC) if is_async else priorities[part.event])
            parts.append(part._replace(event=events[part.event]))
        self.segments = segments = joined(parts)
        self.priorities = priorities = np.concatenate(priorities_of)
        self.busy = divide(segments.start, segments.end, priorities)
        copies = (priorities == COPY) | (priorities == ASYNC)
        copied = union_of(segments.start[copies], segments.end[copies])
        self.copy_ps = int((copied.end - copied.start).sum())
        self.self_ps = self._by_kind(segments.event, segments.end - segments.start)
        self.time_ps = self._by_kind(segments.event, self.busy.share)
        self.runs = self._runs(classifier)

    @cached_property
    def _sorted(self) -> tuple[_Events, Ints]:
        """All events, sorted by kind, and the index of the first event of each kind."""
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
        """Return the start and end times of the events of a kind."""
        start, end, _ = self.launched(kind)
        return start, end

    def launched(self, kind: int) -> tuple[Ints, Ints, Ints]:
        """Return the start times, end times and driver calls of the events of a kind; 0 for unknown calls."""
        every, begins = self._sorted
        here = slice(int(begins[kind]), int(begins[kind + 1]))
        assert every.launches is not None
        return every.start[here], every.end[here], every.launches[here]

    def on_streams(self) -> list[int]:
        """Return the kinds of events on GPU streams."""
        kinds = [each.kinds for each in self._events if each.on_stream]
        return np.unique(np.concatenate(kinds)).tolist() if kinds else []

    def _runs(self, classifier: OpClassifier) -> Ints:
        """Count executions per kind. On GPU streams and on the CPU one execution can consist of several events."""
        runs = self.count.copy()
        on_cpu = [(each.kinds, each.executions) for each in self._events if each.executions is not None]
        if on_cpu:
            events, executions = map(np.concatenate, zip(*on_cpu, strict=True))
            for number, known_runs in classifier.runs_of_cpu(events, executions).items():
                runs[number] = known_runs
        streams = [each for each in self._events if each.on_stream]
        if not streams:
            return runs
        on_streams = np.sum([np.bincount(each.kinds, minlength=classifier.number) for each in streams], axis=0)
        numbers = np.flatnonzero(on_streams)
        operation, kernel = np.full(classifier.number, -1), np.full(classifier.number, -1)
        known: dict[object, int] = {}
        for number in numbers.tolist():
            operation[number] = known.setdefault(classifier.of(number).identity, len(known))
            kernel[number] = known.setdefault(("kernel", classifier.kind(number).name), len(known))
        in_order = [runs_in_order(operation[each.kinds], kernel[each.kinds]) for each in streams]
        together: dict[int, list[int]] = {}
        for number in numbers.tolist():
            together.setdefault(int(operation[number]), []).append(number)
        for one, members in together.items():
            mine = np.array(members)
            heaviest = mine[np.argmax(self.total_ps[mine])]
            by_calls = None
            if len(mine) > 1 or self.count[mine[0]] > 1:
                launches = np.concatenate([self.launched(each)[2] for each in mine.tolist()])
                by_calls = classifier.calls.runs(classifier.of(int(mine[0])).name, launches)
            runs[mine] -= on_streams[mine]
            runs[heaviest] += by_calls or sum(each.get(one, 0) for each in in_order)
        return runs

    def _by_kind(self, kinds: Ints, values: Ints | Floats) -> Floats:
        return np.bincount(kinds, weights=values, minlength=len(self.count)).astype(np.float64)
