"""Finds the HLO ops of kernels in CUDA graphs, whose events name the graph and not the op.

XLA for NVIDIA GPUs groups ops into command buffers, which run as CUDA graphs. The events of their kernels have
``hlo_op=command_buffer`` or ``command_buffer.1``, whichever op they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ...record.recording import EventMetadata, ProgramKey, Trace, TraceLine
from .graph_kernels import UNSURE, GraphKernel, ops_of_kernels


def in_command_buffer(kind: EventMetadata) -> bool:
    """Return whether an event is a kernel of a command buffer."""
    return str(kind.stats.get("hlo_op", "")).startswith("command_buffer")


def may_be_several(kind: EventMetadata) -> bool:
    """Return whether an event is a kernel of a command buffer that may belong to several ops."""
    return kind.stats.get("hlo_op") == UNSURE and "command_buffer" in kind.stats


def with_ops_of_graphs(recording: Trace) -> Trace:
    """Add the ops of kernels in CUDA graphs to a trace, as far as their positions and nodes show them."""
    graphs: dict[ProgramKey, list[int]] = {}
    elsewhere: dict[ProgramKey, set[str]] = {}
    on_devices = [np.unique(each.kinds) for each in recording.tracks if each.role == "operations"]
    for number in np.unique(np.concatenate([[], *on_devices])).astype(int).tolist():
        kind = recording.kinds[number]
        if kind.program is None or kind.program not in recording.modules:
            continue
        if in_command_buffer(kind):
            graphs.setdefault(kind.program, []).append(number)
        else:
            elsewhere.setdefault(kind.program, set()).add(str(kind.stats.get("hlo_op", "")))
    if not graphs:
        return recording
    kinds, known = list(recording.kinds), dict[tuple[int, str], int]()
    tracks = []
    for track in recording.tracks:
        numbers = track.kinds.copy()
        for program, mine in graphs.items() if track.role == "operations" else ():
            here = np.flatnonzero(np.isin(track.kinds, mine)).tolist()
            kernels = _kernels(track, here, recording.kinds)
            found = ops_of_kernels(kernels, recording.modules[program], elsewhere.get(program, ())) if here else []
            for at, op in zip(here, found, strict=True):
                if op is not None:
                    key = int(track.kinds[at]), op
                    if key not in known:
                        known[key] = len(kinds)
                        kinds.append(_with_op(kinds[key[0]], op))
                    numbers[at] = known[key]
        tracks.append(replace(track, kinds=numbers))
    return replace(recording, tracks=tuple(tracks), kinds=tuple(kinds))


def _kernels(track: TraceLine, here: Sequence[int], kinds: Sequence[EventMetadata]) -> list[GraphKernel]:
    none = np.zeros(len(track.kinds), np.int64)
    nodes = none if track.graph_nodes is None else track.graph_nodes
    launches = none if track.launches is None else track.launches
    found = []
    for at in here:
        kind = kinds[track.kinds[at]]
        graph = kind.stats.get("cuda_graph_id", 0)
        found.append(GraphKernel(kind.name, graph, int(nodes[at]), int(launches[at])))
    return found


def _with_op(kind: EventMetadata, op: str) -> EventMetadata:
    return kind._replace(stats={**kind.stats, "hlo_op": op, "command_buffer": kind.stats.get("hlo_op", "")})


def ran_in_graphs(kinds: Iterable[EventMetadata]) -> bool:
    """Return whether any kernels ran in CUDA graphs."""
    return any(in_command_buffer(each) or "command_buffer" in each.stats for each in kinds)
