"""Writes a trace for Perfetto, https://ui.perfetto.dev, in the Trace Event Format of Chrome's trace viewer.

The format is described in https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator

from ..analysis.cpu_completion import SEVERAL_THREADS, with_ends
from ..record.recording import EventMetadata, Trace

#: The name of the process with the threads of the host.
_HOST = "host"

#: The name of a thread with events whose ends were not recorded.
_RECONSTRUCTED = "reconstructed by jaxmagic: operations until they were done"


def perfetto(recorded: Trace, *, compressed: bool = False) -> bytes:
    """Convert a trace: a process for each device and one for the host, with a thread for each line.

    Events are written as they were recorded. CPU operations that outlast their events appear a second time, until
    they completed, on a thread whose name says that their ends were reconstructed.

    Args:
        recorded: the trace as it was read.
        compressed: compress with gzip, which Perfetto reads as well.
    """
    events = ",\n".join(json.dumps(each, separators=(",", ":")) for each in _events(recorded))
    data = f'{{"displayTimeUnit":"ns","traceEvents":[\n{events}\n]}}\n'.encode()
    return gzip.compress(data, mtime=0) if compressed else data


def _events(recorded: Trace) -> Iterator[dict[str, object]]:
    """Yield metadata events first; times are in microseconds."""
    processes = {name: number for number, name in enumerate([*sorted(recorded.devices), _HOST], 1)}
    for name, number in processes.items():
        yield {"ph": "M", "name": "process_name", "pid": number, "args": {"name": name}}
    described = [{"name": _name(kind), "args": _arguments(kind)} for kind in recorded.kinds]
    reconstructed = [each for each in with_ends(recorded).tracks if each.name == SEVERAL_THREADS]
    threads = [*((each.name, each) for each in recorded.tracks), *((_RECONSTRUCTED, each) for each in reconstructed)]
    for thread, (name, track) in enumerate(threads, 1):
        process = processes[track.device or _HOST]
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}
        columns = (track.kinds.tolist(), track.start_ps.tolist(), track.end_ps.tolist())
        for kind, start_ps, end_ps in zip(*columns, strict=True):
            times = {"ts": start_ps / 1e6, "dur": (end_ps - start_ps) / 1e6}
            yield {"ph": "X", "pid": process, "tid": thread, **times, **described[kind]}


def _name(kind: EventMetadata) -> str:
    """Name an operation after its instruction; the event name of a TPU is the HLO text of the instruction."""
    return kind.name.split(" = ")[0].removeprefix("%") or "?"


def _arguments(kind: EventMetadata) -> dict[str, object]:
    return {name: fact for name, fact in kind.stats.items() if not isinstance(fact, bytes)}
