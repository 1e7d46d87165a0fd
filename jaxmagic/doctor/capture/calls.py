"""Counts calls of jitted functions, and copies to devices, in a recording."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from ...profiling.record.recording import Trace, TraceLine

#: JAX's event for a call of a jitted function or an eager operation, with its name.
_CALL = re.compile(r"PjitFunction\((.*)\)$")

#: JAX's event for handing an array of the host to a device.
_PUT = "DevicePut"

#: Our own programs.
_OURS = "jaxmagic_fence"


class Calls(NamedTuple):
    """What the host called during a recording.

    Attributes:
        counts: how often each jitted function or eager operation was called, by name.
        device_puts: how often an array was handed to a device.
    """

    counts: dict[str, int]
    device_puts: int


def calls_in(trace: Trace) -> Calls:
    """Count the calls in a recording; calls inside a call, as while it is traced, do not count."""
    names = {number: found[1] for number, kind in enumerate(trace.kinds) if (found := _CALL.match(kind.name))}
    puts = {number for number, kind in enumerate(trace.kinds) if kind.name == _PUT}
    counts: Counter[str] = Counter()
    device_puts = 0
    for line in trace.tracks:
        if line.role == "host":
            counts.update(_outermost(line, names))
            device_puts += sum(int(kind) in puts for kind in line.kinds)
    return Calls({name: count for name, count in counts.items() if _OURS not in name}, device_puts)


def _outermost(line: TraceLine, names: dict[int, str]) -> list[str]:
    ended_ps, found = -1, []
    for kind, start_ps, end_ps in zip(line.kinds.tolist(), line.start_ps.tolist(), line.end_ps.tolist(), strict=True):
        name = names.get(kind)
        if name is not None and start_ps >= ended_ps:
            found.append(name)
            ended_ps = end_ps
    return found
