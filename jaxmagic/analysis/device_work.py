"""What one device did: how often, how long, and when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.recording import ProgramKey, Recording, Track
from .attribution import BESIDE, COPY, Floats, Ints, Segments, divide, innermost, joined, union_of
from .origins import Origins
from .recorded import Recorded, recorded
from .windows import Window, within


class Kinds:
    """What the kinds of events of devices are, found out for those that occur."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._origins: dict[ProgramKey, Origins] = {}
        self.known: dict[int, Recorded] = {}
        self.number = len(recording.kinds)

    def of(self, number: int) -> Recorded:
        """What an event of this kind is."""
        if number not in self.known:
            kind = self._recording.kinds[number]
            self.known[number] = recorded(kind, self._recording.modules, self._origins)
        return self.known[number]

    def ranks(self, kinds: Ints) -> Ints:
        """Of each event; -1 for what is ours."""
        found = np.full(self.number, -1)
        for number in np.unique(kinds).tolist():
            mine = self.of(number)
            found[number] = -1 if mine.ours else mine.rank
        return found[kinds]


class DeviceWork:
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

    def __init__(self, tracks: Sequence[Track], windows: Sequence[Window], kinds: Kinds) -> None:
        parts: list[Segments] = []
        self._events: list[tuple[Ints, Ints, Ints]] = []
        self.count = np.zeros(kinds.number, np.int64)
        self.total_ps = np.zeros(kinds.number)
        ranks_of = []
        for track in tracks:
            ranks = kinds.ranks(track.kinds)
            mine = ranks >= 0
            events, start, end = track.kinds[mine], track.start_ps[mine], track.end_ps[mine]
            start, end, chosen = within(start, end, windows)
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
