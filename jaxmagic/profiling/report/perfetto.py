"""A recording as a trace that Perfetto opens, at https://ui.perfetto.dev: the JSON of Chrome's trace viewer.

The format is that of https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator

from ..analysis.cpu_completion import SEVERAL_THREADS, with_ends
from ..record.recording import EventMetadata, Trace

#: The name of the process that has the threads of the host.
_HOST = "host"

#: The name of a thread with events that were not recorded so.
_RECONSTRUCTED = "reconstructed by jaxmagic: operations until they were done"


def perfetto(recorded: Trace, *, compressed: bool = False) -> bytes:
    """The trace: a process for each device and one for the host, and in it a thread for each track.

    Events are as they were recorded. Operations of the CPU that went on longer than their events are there a second
    time, until they were done, on a thread whose name says that their ends were reconstructed.

    Args:
        recorded: the recording as it was read.
        compressed: whether with gzip, which Perfetto opens as well.
    """
    events = ",\n".join(json.dumps(each, separators=(",", ":")) for each in _events(recorded))
    data = f'{{"displayTimeUnit":"ns","traceEvents":[\n{events}\n]}}\n'.encode()
    return gzip.compress(data, mtime=0) if compressed else data


def _events(recorded: Trace) -> Iterator[dict[str, object]]:
    """Metadata first; times are in microseconds."""
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
    """An operation by the name of its instruction: a TPU's profiler has all of its text there."""
    return kind.name.split(" = ")[0].removeprefix("%") or "?"


def _arguments(kind: EventMetadata) -> dict[str, object]:
    return {name: fact for name, fact in kind.stats.items() if not isinstance(fact, bytes)}
