"""Reads memory in use over time from the events of allocators."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from ...record.allocators import AllocatorUse
from ...record.recording import EventMetadata, Trace, TraceLine
from ..attribution import Ints

#: Names of allocator events.
_EVENTS = ("MemoryAllocation", "MemoryDeallocation")

#: At most this many points of a curve are kept: the last and the highest of each interval.
_MOST_POINTS = 400

_DISPATCHED = re.compile(r"PjitFunction\((?P<name>.*)\)")


def allocator_uses(recording: Trace, base_ps: int) -> tuple[AllocatorUse, ...]:
    """Return the memory in use of each allocator over time, largest peak first.

    Args:
        recording: the trace.
        base_ps: the time that the result's times count from.
    """
    numbers: dict[str, list[int]] = {}
    for number, kind in enumerate(recording.kinds):
        if kind.name in _EVENTS:
            numbers.setdefault(_name(kind, recording), []).append(number)
    uses = [_use(name, each, recording, base_ps) for name, each in numbers.items()]
    return tuple(sorted(filter(None, uses), key=lambda each: -each.peak_bytes))


def _name(kind: EventMetadata, recording: Trace) -> str:
    """Name the allocator of an event: as recorded, or by its device, as on a TPU."""
    name = str(kind.stats.get("allocator_name") or "")
    ordinal = kind.stats.get("index_on_host", kind.stats.get("device_ordinal"))
    if name or not isinstance(ordinal, int):
        return f"{kind.host} {name or 'unnamed'}".strip()
    devices = (each for each in recording.devices if each.rpartition(" ")[0] == kind.host)
    same = [each for each in devices if each.rpartition(":")[2] == str(ordinal)]
    return same[0] if len(same) == 1 else f"{kind.host} device:{ordinal}".strip()


def _use(name: str, numbers: list[int], recording: Trace, base_ps: int) -> AllocatorUse | None:
    tracks = [each for each in recording.tracks if each.held_bytes is not None and np.isin(each.kinds, numbers).any()]
    if not tracks:
        return None
    parts = [(np.isin(each.kinds, numbers), each) for each in tracks]
    time = np.concatenate([track.start_ps[chosen] for chosen, track in parts])
    held = np.concatenate([track.held_bytes[chosen] for chosen, track in parts if track.held_bytes is not None])
    order = np.argsort(time, kind="stable")
    time, held = time[order], held[order]
    first = max(int(np.searchsorted(time, base_ps, side="right")) - 1, 0)  # the memory in use at the beginning
    time, held = np.maximum(time[first:], base_ps), held[first:]
    peak = int(np.argmax(held))
    kept = _thinned(held)
    return AllocatorUse(
        allocator=name,
        peak_bytes=int(held[peak]),
        peak_ns=(int(time[peak]) - base_ps) // 1000,
        program=_during(tracks, int(time[peak]), recording),
        time_ns=tuple(((time[kept] - base_ps) // 1000).tolist()),
        held_bytes=tuple(held[kept].tolist()),
    )


def _thinned(held: Ints) -> Ints:
    """Choose the samples to keep: the highest and the last of each interval."""
    if len(held) <= _MOST_POINTS:
        return np.arange(len(held))
    edges = np.linspace(0, len(held), _MOST_POINTS // 2 + 1).astype(np.int64)
    highest = [low + int(np.argmax(held[low:high])) for low, high in pairwise(edges)]
    return np.unique(np.concatenate([highest, edges[1:] - 1]))


def _during(tracks: list[TraceLine], at: int, recording: Trace) -> str:
    """Return the jitted function that was being dispatched at a time; empty if none was recorded."""
    for track in tracks:
        around = np.flatnonzero((track.start_ps <= at) & (track.end_ps >= at))
        names = (recording.kinds[number].name for number in track.kinds[around].tolist())
        dispatched = next(filter(None, map(_DISPATCHED.fullmatch, names)), None)
        if dispatched is not None:
            return dispatched["name"]
    return ""
