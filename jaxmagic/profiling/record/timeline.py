"""What ran when: the events of a profile on the threads of the host and on the devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

#: What an event is, or what a device without anything to compute waits for.
Activity = OneOf["computation", "collective", "copy", "control flow", "compilation", "transfer", "host", "run"]

#: What a row of the timeline shows: the runs; a device's gaps, in which it computes nothing; what ran on a stream or
#: thread of a device; the programs that it ran; what it waited for; or what a thread of the host did.
Shown = OneOf["runs", "gaps", "operations", "programs", "waits", "host"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLabel:
    """The label of events that differ only in time.

    Attributes:
        name: of the operation, or of the function of the host.
        activity: what it is.
        detail: where it comes from, or what else is known; empty if nothing is.
    """

    name: str
    activity: Activity
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTrack:
    """Events of one thread, one stream, or one kind, by when they started; they may lie within each other.

    Attributes:
        name: such as ``"Stream #16"``.
        device: whose they are, such as ``"GPU:0"``; ``None`` for the host's.
        shows: what they are.
        labels: for each event, the number of its label.
        start_ns: when each started, since the first run did.
        length_ns: how long it took.
    """

    name: str
    device: str | None
    shows: Shown
    labels: tuple[int, ...]
    start_ns: tuple[int, ...]
    length_ns: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.labels) == len(self.start_ns) == len(self.length_ns):
            raise ValueError("every event has a label, a start and a length")
        if any(each < 0 for each in self.length_ns):
            raise ValueError("no event ends before it starts")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileTimeline:
    """The events of a profile, the longest ones where there are very many.

    Attributes:
        end_ns: when the last run ended, since the first started.
        labels: what events are.
        tracks: the runs, the devices, and the threads of the host.
        left_out: how many shorter events are not here.
        shortest_ns: no event that took longer is left out; 0 if none is.
        gaps_left_out: how many shorter gaps of devices are not here.
        threads_left_out: how many threads of the host that did least are not here.
    """

    end_ns: int
    labels: tuple[EventLabel, ...]
    tracks: tuple[EventTrack, ...]
    left_out: int = 0
    shortest_ns: int = 0
    gaps_left_out: int = 0
    threads_left_out: int = 0

    def __post_init__(self) -> None:
        if any(not 0 <= each < len(self.labels) for track in self.tracks for each in track.labels):
            raise ValueError("the label of an event is one of those of the timeline")
