"""Finds why a device computes nothing: communication, copies, or what the host does meanwhile."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

import numpy as np

from ...record.recording import Trace
from ...record.timeline import Activity
from ..attribution import (
    ASYNC,
    CALLBACK,
    COLLECTIVE,
    COMPUTE,
    CONTROL,
    COPY,
    Ints,
    Segments,
    joined,
    overlap,
    union_of,
)

#: Patterns for the names of JAX's, XLA's and the GPU driver's own events, to match whole names: functions and
#: annotations of the user may have any name, which says nothing about what they do.
_HOST: tuple[tuple[Activity, re.Pattern[str]], ...] = (
    (
        "compilation",
        re.compile(
            r"backend_compile(?:_and_load)?|lower_sharding_computation|lower_parallel_callable"
            r"|UnloadedPmapExecutable\.compile"
            r"|(?:Common|Tfrt|StreamExecutor)?(?:PjRt|Cpu|Gpu|Tpu)\w*Client::(?:Compile|DeserializeExecutable)\w*"
            r"|(?:Cpu|Gpu|TfrtTpu|Fusion|Jit)Compiler::\w+"
        ),
    ),
    (
        "transfer",
        re.compile(
            r"np\.asarray\(jax\.Array\)|ArrayImpl\.copy_to_host_async|DevicePut(?:WithSharding)?"
            r"|batched_copy_array_to_devices_with_sharding(?:: assemble device lists)?"
            r"|BatchedCopyToDeviceWithSharding(?:: dispatch| create batch| create results)"
            r"|(?:Common|Tfrt)?(?:PjRt|Cpu|Gpu|Tpu)\w*(?:Buffer|Client)"
            r"::(?:ToLiteral|CopyTo|CopyRaw|BufferFromHost)\w*(?:::\w+)*"
            r"|(?:Gpu)?AsyncHostToDeviceTransferManager::Transfer\w+"
            r"|tpu::System::Transfer(?:To|From)Device(?:=>\w+)*|PCIe/Memcpy Dispatch"
            r"|(?:hip|cu|cuda)Memcpy\w*|Memcpy[HDP]2[HDP]"
        ),
    ),
)

#: Causes of gaps; a time with several causes counts for the first of them.
Cause = Literal["collective", "copy", "callback", "compilation", "transfer", "host"]
CAUSES: tuple[Cause, ...] = ("collective", "copy", "callback", "compilation", "transfer", "host")


@cache
def host_activity(name: str) -> Activity:
    """Classify an event of the host by its name; ``"host"`` if the name says nothing.

    >>> [host_activity(each) for each in ("PjRtCpuClient::Compile", "np.asarray(jax.Array)", "$train.py:3 compile")]
    ['compilation', 'transfer', 'host']
    """
    return next((activity for activity, pattern in _HOST if pattern.fullmatch(name)), "host")


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
    return {activity: union_of(*joined(parts)[:2]) for activity, parts in by_activity.items()}


def gaps(
    segments: Segments, priorities: Ints, recorded: Segments, host: Mapping[Activity, Segments]
) -> dict[Cause, Segments]:
    """Return the times in which a device computed nothing, by cause; they do not overlap.

    Args:
        segments: the activity of the device.
        priorities: the priorities of the segments, see :mod:`jaxmagic.profiling.analysis.attribution`.
        recorded: the times to cover, disjoint and in order.
        host: the times in which the host compiled or moved data.
    """
    rest = overlap(recorded, _of(segments, priorities == COMPUTE), inside=False)
    by_cause: dict[Cause, Segments] = {}
    busy: tuple[tuple[Cause, Ints], ...] = (
        ("collective", priorities == COLLECTIVE),
        ("copy", (priorities == COPY) | (priorities == ASYNC)),
        ("callback", priorities == CALLBACK),
    )
    for cause, chosen in busy:
        mine = _of(segments, chosen)
        by_cause[cause] = overlap(rest, mine, inside=True)
        rest = overlap(rest, mine, inside=False)
    rest = overlap(rest, _of(segments, priorities == CONTROL), inside=False)  # the device is at work
    for activity in ("compilation", "transfer"):
        by_cause[activity] = overlap(rest, host[activity], inside=True)
        rest = overlap(rest, host[activity], inside=False)
    return by_cause | {"host": rest}


def length_ps(segments: Segments) -> int:
    """Return the sum of the lengths."""
    return int((segments.end - segments.start).sum())


def _of(segments: Segments, chosen: Ints) -> Segments:
    return union_of(segments.start[chosen], segments.end[chosen])
