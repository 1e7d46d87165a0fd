"""Estimates what jitting some lines of a loop spares, so that each round calls one function in their place."""

from __future__ import annotations

from collections.abc import Sequence

from .....records.note import Note, note
from ....record.evidence import Dispatch, Evidence
from ...rewriting.loops.jitted_round import JittedRound
from ..host_time import HostTime, names_of_program
from .first_called import first_called, is_called_in, most_called
from .inside_function import SourceRange, frames_of, inside_lines, is_within
from .spared import NEARLY_ALL, Spared, operations_ns, own_calls_ns, without_device
from .transformed_function import transforms


def spared_in_loop(one: JittedRound, calls: Sequence[Dispatch], evidence: Evidence, time: HostTime) -> Spared:
    """Estimate what jitting lines of a loop spares: the time in them, but for the device, or the idle time there.

    Args:
        one: what a jitted function does in each round.
        calls: the calls of eager operations, also of those that other lines call.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    count = sum(each.count for each in calls)
    idle_ns = operations_ns(calls, evidence, time)
    inside = inside_lines(one.lines, evidence)
    rounds = sum(_least_called(each, calls, evidence) or count // max(one.operations, 1) for each in one.lines)
    own_ns = own_calls_ns(one.calls or min(rounds, count), calls, evidence, time)
    first = first_called(is_called_in(one.lines, evidence), calls, evidence)
    sampled, least = (1.0, 0.0) if inside is None else (inside.share, inside.least_share)
    most = min(1.0 if first is None else max(first, least), most_called(one.lines, calls, evidence))
    share = min(sampled, most)
    told = tuple[Note, ...]()
    if share >= NEARLY_ALL:
        told = (note("doctor.not_jitted_lines_unknown"),) if inside is None and first is None else ()
    elif share == sampled:
        told = (note("doctor.not_jitted_lines", share=share),)
    else:
        told = (note("doctor.not_jitted_lines_called", share=share),)
    spared_ns = idle_ns * share
    if inside is not None:
        compiles = one.compiles or transforms(evidence)
        traced_ns = without_device(inside, evidence, time) if compiles else 0.0
        spared_ns = max(min(spared_ns, inside.most_ns), traced_ns)
    return Spared(max(spared_ns - own_ns, 0.0), told, own_ns)


def _least_called(lines: SourceRange, calls: Sequence[Dispatch], evidence: Evidence) -> int | None:
    """Return how often the operation in some lines is called that is called least; ``None`` if none is known."""
    names = {
        name
        for each in evidence.programs or ()
        if each.eager and any(is_within(frame, [lines]) for frame in frames_of(each))
        for name in names_of_program(each)
    }
    return min((each.count for each in calls if each.name in names), default=None)
