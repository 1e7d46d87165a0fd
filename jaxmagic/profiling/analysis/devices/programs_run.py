"""Decides whether a trace proves that the code ran no JAX program.

A trace without operations proves nothing: they may be lost, or the device may not record them. But JAX also records
each dispatch of a program, on the thread that calls it, as ``PjitFunction(f)``. jaxmagic's own fence is dispatched
around each run. So if a complete trace has the fence's dispatches in each run, and none besides, there were none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...record.recording import Trace, TraceLine
from ..classify_ops import OURS
from ..run_windows import Window

#: Words in the names of events that dispatch or execute a program; XLA's names differ between versions and devices.
_DISPATCHES = ("pjitfunction", "pmapfunction", "execut")

#: Execution by the CPU's threads of what another event has dispatched.
_DISPATCHED = "ThunkExecutor::"


def ran_no_program(trace: Trace, runs: Sequence[Window]) -> bool:
    """Return whether the code of the runs dispatched no program; ``False`` if that is not known.

    Args:
        trace: the trace, which must be complete.
        runs: the markers of the runs, which cover the fence.
    """
    named = [kind.name.lower() for kind in trace.kinds]
    dispatching = [number for number, name in enumerate(named) if any(each in name for each in _DISPATCHES)]
    ours = [number for number in dispatching if OURS in named[number]]
    hosts = [each for each in trace.tracks if each.role == "host"]
    fenced = [begin for each in hosts for begin, _ in _times(each, ours)]
    if not runs or not all(any(run.start_ps <= begin < run.end_ps for begin in fenced) for run in runs):
        return False
    others = set(dispatching) - set(ours)
    return not any(_foreign(trace, line, others, ours) for line in hosts)


def _foreign(trace: Trace, line: TraceLine, others: set[int], ours: list[int]) -> bool:
    """Return whether a thread dispatched a program outside of the fence's own calls."""
    for number in np.flatnonzero(np.isin(line.kinds, list(others))):
        if trace.kinds[line.kinds[number]].name.startswith(_DISPATCHED):
            continue
        start, end = line.start_ps[number], line.end_ps[number]
        if not any(begin <= start and end <= until for begin, until in _times(line, ours)):
            return True
    return False


def _times(line: TraceLine, kinds: list[int]) -> Iterator[tuple[int, int]]:
    chosen = np.isin(line.kinds, kinds)
    return zip(line.start_ps[chosen].tolist(), line.end_ps[chosen].tolist(), strict=True)
