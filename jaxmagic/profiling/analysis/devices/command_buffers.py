"""Finds the HLO ops of kernels in CUDA graphs, whose events name the graph and not the op.

XLA for NVIDIA GPUs groups ops into command buffers, which run as CUDA graphs. The events of their kernels have
``hlo_op=command_buffer`` or ``command_buffer.1``, whichever op they belong to. XLA names a kernel after its op, with
underscores for all but letters, digits and underscores: ``loop_add_fusion_1`` for ``loop_add_fusion.1``. Kernels of
libraries have other names. They are found by their position between other kernels, because a graph runs its ops in
the order of the module's schedule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ....xla.hlo import HloModule
from ...record.recording import EventMetadata, ProgramKey, Trace


def in_command_buffer(kind: EventMetadata) -> bool:
    """Return whether an event is a kernel of a command buffer."""
    return str(kind.stats.get("hlo_op", "")).startswith("command_buffer")


def op_of_kernel(kernel: str, module: HloModule | None) -> str:
    """Return the name of the HLO op that a kernel was compiled from, or the kernel's name if that is not certain.

    Without a module, a number at the end is taken for the number of an op.

    >>> op_of_kernel("loop_add_fusion_1", None), op_of_kernel("ampere_sgemm_128x64_tn", None)
    ('loop_add_fusion.1', 'ampere_sgemm_128x64_tn')
    """
    if module is None:
        return re.sub(r"_(\d+)$", r".\1", kernel)
    if kernel in module.instruction_ids:
        return kernel
    names = [name for name in module.instruction_ids if sanitized(name) == kernel]
    return names[0] if len(names) == 1 else kernel


def with_ops_of_graphs(recording: Trace) -> Trace:
    """Add the ops of library kernels in CUDA graphs to a trace, as far as their positions show them.

    The kernels between two kernels with known ops belong to the custom calls between these ops in the schedule. All
    of them belong to the same call if there is only one, and one to each if there are as many calls as kernels.
    """
    graphs: dict[ProgramKey, list[int]] = {}
    for number, kind in enumerate(recording.kinds):
        if in_command_buffer(kind) and kind.program is not None and kind.program in recording.modules:
            graphs.setdefault(kind.program, []).append(number)
    if not graphs:
        return recording
    kinds, known = list(recording.kinds), dict[tuple[int, str], int]()
    tracks = []
    for track in recording.tracks:
        numbers = track.kinds.copy()
        for program, mine in graphs.items() if track.role == "operations" else ():
            here = np.flatnonzero(np.isin(track.kinds, mine)).tolist()
            names = [recording.kinds[track.kinds[at]].name for at in here]
            ops = _ops_by_place(names, recording.modules[program]) if here else []
            for at, op in zip(here, ops, strict=True):
                if op is not None:
                    key = int(track.kinds[at]), op
                    if key not in known:
                        known[key] = len(kinds)
                        kinds.append(_with_op(kinds[key[0]], op))
                    numbers[at] = known[key]
        tracks.append(replace(track, kinds=numbers))
    return replace(recording, tracks=tuple(tracks), kinds=tuple(kinds))


def _with_op(kind: EventMetadata, op: str) -> EventMetadata:
    return kind._replace(stats={**kind.stats, "hlo_op": op, "command_buffer": kind.stats.get("hlo_op", "")})


def _ops_by_place(kernels: Sequence[str], module: HloModule) -> list[str | None]:
    """Return the op that the position of each kernel shows; ``None`` if its name shows it, or if unsure."""
    order = {module.instructions[number].name: at for at, number in enumerate(_schedule(module))}
    calls = [each for each in order if module.instructions[module.instruction_ids[each]].opcode == "custom-call"]
    places = [order.get(op_of_kernel(each, module)) for each in kernels]
    ops: list[str | None] = [None] * len(kernels)
    begin = 0
    while begin < len(kernels):
        if places[begin] is not None:
            begin += 1
            continue
        end = next((at for at in range(begin, len(kernels)) if places[at] is not None), len(kernels))
        low = places[begin - 1] if begin else -1
        high = places[end] if end < len(kernels) else len(order)
        between = [each for each in calls if (low or 0) < order[each] < (high or 0)] if _in_order(low, high) else []
        if len(between) == 1:
            ops[begin:end] = between * (end - begin)
        elif len(between) == end - begin:
            ops[begin:end] = between
        begin = end
    return ops


def _in_order(low: int | None, high: int | None) -> bool:
    """Return whether one position precedes the other; it does not where the next run of a graph starts."""
    return low is not None and high is not None and low < high


def _schedule(module: HloModule) -> Iterator[int]:
    """Yield the instructions of the computations that no instruction calls, in order."""
    called = {each for one in module.instructions.values() for each in one.called_computation_ids}
    for number, instructions in module.computations.items():
        if number not in called:
            yield from instructions


def ran_in_graphs(kinds: Iterable[EventMetadata]) -> bool:
    """Return whether any kernels ran in CUDA graphs."""
    return any(in_command_buffer(each) or "command_buffer" in each.stats for each in kinds)


def sanitized(name: str) -> str:
    """Return the kernel name that XLA derives from the name of an op."""
    return re.sub(r"\W", "_", name)
