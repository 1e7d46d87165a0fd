"""The timeline of a profile: events of the devices and of the host threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

#: What an event does, or what a device waits for in a gap.
Activity = OneOf["computation", "collective", "copy", "control flow", "compilation", "transfer", "host", "run"]

#: What a row of the timeline shows: the runs; the gaps in which a device computes nothing; the operations of a stream
#: or thread of a device; the programs that it ran; its recorded waits; or the functions of a host thread.
Shown = OneOf["runs", "gaps", "operations", "programs", "waits", "host"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLabel:
    """The label of events that differ only in time.

    Attributes:
        name: the name of the operation or the host function.
        activity: what the events do.
        detail: category, shape, source line and module of an operation, or what the host did in a gap; may be empty.
    """

    name: str
    activity: Activity
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTrack:
    """Events of one row, ordered by start; they may be nested.

    Attributes:
        name: the name of the row, such as ``"Stream #16"``.
        device: the device, such as ``"GPU:0"``; ``None`` for the host.
        shows: what the row shows.
        labels: for each event, the number of its label.
        start_ns: start times since the start of the first run.
        length_ns: durations.
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
    """The events of a profile; only the longest ones if there are very many.

    Attributes:
        end_ns: the end of the last run, since the start of the first.
        labels: labels of the events.
        tracks: the rows of the runs, the devices, and the host threads.
        left_out: the number of shorter events that are left out.
        shortest_ns: no longer event is left out; 0 if none is.
        gaps_left_out: the number of shorter gaps of devices that are left out.
        threads_left_out: the number of less busy host threads that are left out.
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
            raise ValueError("every event has one of the labels of the timeline")
