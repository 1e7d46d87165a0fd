"""Timeline chart: a lane for each stream and thread, and one for the gaps of each device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ... import units
from ...charts.lanes import Called, Lane, Lanes
from ...charts.scale import Scale
from ...records.names import numbered
from ..record.profile import Profile
from ..record.timeline import Activity, EventTrack, ProfileTimeline

#: Colour numbers of activities, in the order of the legend.
_HUES: Mapping[Activity, int] = {
    "computation": 0,
    "control flow": 5,
    "collective": 3,
    "copy": 1,
    "transfer": 6,
    "compilation": 4,
    "host": 7,
    "run": 2,
}

#: Names of lanes that are not threads.
_NAMES: Mapping[str, str] = {"gaps": "not computing", "runs": "runs"}

#: Nested calls are drawn down to this depth.
_MOST_ROWS = 12


def profile_timeline_chart(record: Profile) -> Lanes | None:
    """Draw the timeline; ``None`` without events."""
    timeline = record.timeline
    if timeline is None or not timeline.tracks or timeline.end_ns <= 0:
        return None
    present = {timeline.labels[each].activity for track in timeline.tracks for each in set(track.labels)}
    kinds = [each for each in _HUES if each in present]
    if not kinds:
        return None
    numbers = {each: number for number, each in enumerate(kinds)}
    lanes, deeper = [], 0
    for track in timeline.tracks:
        if not track.start_ns:  # a lane without events says nothing
            continue
        lane, hidden = _lane(track)
        lanes.append(lane)
        deeper += hidden
    return Lanes(
        title="what ran when",
        x=Scale(label="time", quantity="time", low=0.0, high=float(timeline.end_ns)),
        kinds=tuple((each, _HUES[each]) for each in kinds),
        called=tuple(
            Called(name=each.name, kind=numbers.get(each.activity, 0), lines=_lines(each.detail))
            for each in timeline.labels
        ),
        lanes=_told_apart(lanes),
        note="; ".join(_left_out(timeline, deeper)),
    )


def _lines(detail: str) -> tuple[str, ...]:
    return tuple(detail.split(" · ")) if detail else ()


def _left_out(timeline: ProfileTimeline, deeper: int) -> Sequence[str]:
    omitted = []
    if timeline.left_out:
        shortest = units.time(timeline.shortest_ns)
        omitted.append(f"{units.count(timeline.left_out, 'event')} of {shortest} or less not drawn")
    if timeline.gaps_left_out:
        omitted.append(f"{units.count(timeline.gaps_left_out, 'shorter gap')} not drawn")
    if timeline.threads_left_out:
        omitted.append(f"{units.count(timeline.threads_left_out, 'less busy thread')} not drawn")
    if deeper:
        omitted.append(f"{units.count(deeper, 'deeply nested call')} not drawn")
    return omitted


def _lane(track: EventTrack) -> tuple[Lane, int]:
    """Arrange a track in rows. Returns the lane, and how many events are nested too deeply."""
    rows = _rows(track.start_ns, track.length_ns)
    kept = [place for place, row in enumerate(rows) if row < _MOST_ROWS]
    lane = Lane(
        name=_NAMES.get(track.shows, track.name),
        owner=track.device or ("host" if track.shows == "host" else ""),
        rows=1 + max((rows[place] for place in kept), default=0),
        row=tuple(rows[place] for place in kept),
        start=tuple(track.start_ns[place] for place in kept),
        length=tuple(track.length_ns[place] for place in kept),
        called=tuple(track.labels[place] for place in kept),
        faint=track.shows == "gaps",
    )
    return lane, len(rows) - len(kept)


def _told_apart(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """Number the lanes of equal names, such as those of threads of one pool."""
    names = numbered([f"{each.owner} {each.name}" for each in lanes])
    return tuple(
        replace(lane, name=name.removeprefix(f"{lane.owner} ")) for lane, name in zip(lanes, names, strict=True)
    )


def _rows(starts: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Return, for each event, the first row that is free when it starts, so that nested events lie below each other.

    >>> _rows([0, 1, 2, 5, 9], [8, 3, 1, 1, 1])
    [0, 1, 2, 1, 0]
    """
    ends: list[int] = []
    rows = []
    for start, length in zip(starts, lengths, strict=True):
        row = next((number for number, end in enumerate(ends) if end <= start), len(ends))
        if row < _MOST_ROWS:  # deeper events are not drawn
            ends[row : row + 1] = [start + max(length, 1)]
        rows.append(row)
    return rows
