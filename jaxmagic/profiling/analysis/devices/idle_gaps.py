"""Why a device computes nothing: it exchanges data, it copies, or it waits for what the host does meanwhile."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

import numpy as np

from ...record.recording import Trace
from ...record.timeline import Activity
from ..attribution import (
    BESIDE,
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

#: Names of JAX's, XLA's and the GPU driver's own events, by what the host does in them, each compared as a whole:
#: functions and annotations of the user may have any name, and what they do is not known from it.
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

#: What a device waits for, in the order in which a moment counts for one of them.
Cause = Literal["collective", "copy", "callback", "compilation", "transfer", "host"]
CAUSES: tuple[Cause, ...] = ("collective", "copy", "callback", "compilation", "transfer", "host")


@cache
def host_activity(name: str) -> Activity:
    """Return what an event of the host does, by its name; ``"host"`` where its name does not tell.

    >>> [host_activity(each) for each in ("PjRtCpuClient::Compile", "np.asarray(jax.Array)", "$train.py:3 compile")]
    ['compilation', 'transfer', 'host']
    """
    return next((activity for activity, pattern in _HOST if pattern.fullmatch(name)), "host")


def host_stretches(recording: Trace) -> Mapping[Activity, Segments]:
    """Find when any thread of the host compiled, or moved data."""
    kinds: dict[Activity, set[int]] = {"compilation": set(), "transfer": set()}
    found: dict[Activity, list[Segments]] = {activity: [] for activity in kinds}
    activities: dict[int, Activity] = {}
    for track in recording.tracks:
        if track.role != "host":
            continue
        here = np.unique(track.kinds).tolist()
        activities |= {each: host_activity(recording.kinds[each].name) for each in here if each not in activities}
        for activity, parts in found.items():
            chosen = np.isin(track.kinds, [each for each in here if activities[each] == activity])
            parts.append(Segments(track.start_ps[chosen], track.end_ps[chosen], np.flatnonzero(chosen)))
    return {activity: _union(parts) for activity, parts in found.items()}


def gaps(
    segments: Segments, ranks: Ints, recorded: Segments, host: Mapping[Activity, Segments]
) -> dict[Cause, Segments]:
    """Find when a device computed nothing, by what it waited for; these stretches do not overlap.

    Args:
        segments: what the device did.
        ranks: of each, as in :mod:`jaxmagic.profiling.analysis.attribution`.
        recorded: when that counts, without overlaps and in order.
        host: when the host compiled, or moved data.
    """
    rest = overlap(recorded, _of(segments, ranks == COMPUTE), inside=False)
    found: dict[Cause, Segments] = {}
    busy: tuple[tuple[Cause, Ints], ...] = (
        ("collective", ranks == COLLECTIVE),
        ("copy", (ranks == COPY) | (ranks == BESIDE)),
        ("callback", ranks == CALLBACK),
    )
    for cause, chosen in busy:
        mine = _of(segments, chosen)
        found[cause] = overlap(rest, mine, inside=True)
        rest = overlap(rest, mine, inside=False)
    rest = overlap(rest, _of(segments, ranks == CONTROL), inside=False)  # the device is at work
    for activity in ("compilation", "transfer"):
        found[activity] = overlap(rest, host[activity], inside=True)
        rest = overlap(rest, host[activity], inside=False)
    return found | {"host": rest}


def length_ps(segments: Segments) -> int:
    """Tell how long all of them are, one added to the other."""
    return int((segments.end - segments.start).sum())


def _of(segments: Segments, chosen: Ints) -> Segments:
    return union_of(segments.start[chosen], segments.end[chosen])


def _union(parts: Sequence[Segments]) -> Segments:
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Segments(nothing, nothing, nothing)
    every = joined(parts)
    return union_of(every.start, every.end)
