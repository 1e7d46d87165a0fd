"""Finds why a device computes nothing: communication, copies, or what the host does meanwhile."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from ...record.recording import Trace
from ...record.timeline import Activity
from ..attribution import COLLECTIVE, COMPUTE, CONTROL, Ints, Segments, joined, overlap, union_of

#: Patterns for names of host functions that compile or move data; the first match counts.
_HOST: tuple[tuple[Activity, re.Pattern[str]], ...] = (
    ("compilation", re.compile(r"compil|lower_sharding|lower_jaxpr|to_mlir|deserialize_executable", re.IGNORECASE)),
    (
        "transfer",
        re.compile(
            r"np\.asarray|memcpy|copy_?(array_)?to_?(host|device|literal)|copywithsharding|deviceput|device_put"
            r"|transfer(to|from|literal)|toliteral|bufferfromhost|copyraw|batchedcopy",
            re.IGNORECASE,
        ),
    ),
)

#: Causes of gaps; a time with several causes counts for the first of them.
CAUSES: tuple[Activity, ...] = ("collective", "copy", "compilation", "transfer", "host")


@cache
def host_activity(name: str) -> Activity:
    """Classify a host function by its name.

    >>> [host_activity(each) for each in ("PjRtCpuClient::Compile", "np.asarray(jax.Array)", "PjitFunction(f)")]
    ['compilation', 'transfer', 'host']
    """
    if name.startswith("PjitFunction("):  # the name in parentheses is the user's
        return "host"
    return next((activity for activity, pattern in _HOST if pattern.search(name)), "host")


def host_stretches(recording: Trace) -> Mapping[Activity, Segments]:
    """Return the times in which any thread of the host compiled or moved data."""
    kinds: dict[Activity, set[int]] = {"compilation": set(), "transfer": set()}
    by_activity: dict[Activity, list[Segments]] = {activity: [] for activity in kinds}
    activities: dict[int, Activity] = {}
    for track in recording.tracks:
        if track.role != "host":
            continue
        here = np.unique(track.kinds).tolist()
        activities |= {each: host_activity(recording.kinds[each].name) for each in here if each not in activities}
        for activity, parts in by_activity.items():
            chosen = np.isin(track.kinds, [each for each in here if activities[each] == activity])
            parts.append(Segments(track.start_ps[chosen], track.end_ps[chosen], np.flatnonzero(chosen)))
    return {activity: _union(parts) for activity, parts in by_activity.items()}


def gaps(
    segments: Segments, priorities: Ints, recorded: Segments, host: Mapping[Activity, Segments]
) -> dict[Activity, Segments]:
    """Return the times in which a device computed nothing, by cause; they do not overlap.

    Args:
        segments: the activity of the device.
        priorities: the priorities of the segments, see :mod:`jaxmagic.profiling.analysis.attribution`.
        recorded: the times to cover, disjoint and in order.
        host: the times in which the host compiled or moved data.
    """
    rest = overlap(recorded, _of(segments, priorities == COMPUTE), inside=False)
    by_cause: dict[Activity, Segments] = {}
    busy: tuple[tuple[Activity, Ints], ...] = (
        ("collective", priorities == COLLECTIVE),
        ("copy", (priorities != COMPUTE) & (priorities != COLLECTIVE) & (priorities != CONTROL)),
        ("control flow", priorities == CONTROL),
    )
    for activity, chosen in busy:
        mine = _of(segments, chosen)
        by_cause[activity] = overlap(rest, mine, inside=True)
        rest = overlap(rest, mine, inside=False)
    del by_cause["control flow"]  # the device is at work
    for activity in ("compilation", "transfer"):
        by_cause[activity] = overlap(rest, host[activity], inside=True)
        rest = overlap(rest, host[activity], inside=False)
    return by_cause | {"host": rest}


def length_ps(segments: Segments) -> int:
    """Return the sum of the lengths."""
    return int((segments.end - segments.start).sum())


def _of(segments: Segments, chosen: Ints) -> Segments:
    return union_of(segments.start[chosen], segments.end[chosen])


def _union(parts: Sequence[Segments]) -> Segments:
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Segments(nothing, nothing, nothing)
    every = joined(parts)
    return union_of(every.start, every.end)
