"""The trace that the JAX profiler recorded, in columns; the analysis reads it, and it is not saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, NewType
from typing import Literal as OneOf

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from ...records.note import Note
    from ...xla.hlo import HloModule

#: What the events of a line are: operations of a device; its asynchronous operations; executions of programs; steps;
#: waits; or functions of a host thread.
Role = OneOf["operations", "asynchronous", "programs", "steps", "waits", "host"]

#: A statistic of an event, as the profiler wrote it.
StatValue = int | float | str | bytes

#: The host of a program, empty if there is only one, and its program id there. Program ids of two hosts may collide.
ProgramKey = tuple[str, int]


class EventMetadata(NamedTuple):
    """Metadata shared by events that differ only in time (XEventMetadata plus stats).

    Attributes:
        name: the recorded name of the operation, the kernel, or the host function.
        stats: the statistics by name, such as ``"hlo_op"``, ``"program_id"`` and ``"bytes_accessed"``.
        host: the host; empty if there is only one.
    """

    name: str
    stats: Mapping[str, StatValue]
    host: str = ""

    @property
    def program(self) -> ProgramKey | None:
        """The program of the events; ``None`` if it was not recorded."""
        number = self.stats.get("program_id")
        return (self.host, number) if isinstance(number, int) else None


@dataclass(frozen=True, slots=True)
class TraceLine:
    """Events of one host thread, or of one stream or unit of a device, ordered by start.

    Optional columns are ``None`` if they were not recorded, and have 0 for events without a value.

    Attributes:
        name: the name of the thread, the stream or the line.
        device: the device of the operations, such as ``"GPU:0"``; ``None`` for the host.
        role: what the events are.
        kinds: indices of the events' metadata in the trace.
        start_ps: start times in picoseconds since the recording began.
        end_ps: end times.
        flows: flow ids, which tie events to each other.
        executions: run ids, which the events of one execution of a program share.
        launches: correlation ids, which a driver call shares with the events that it launched.
        held_bytes: for allocator events, the allocated memory after them.
        graph_nodes: ids of nodes in CUDA graphs.
    """

    name: str
    device: str | None
    role: Role
    kinds: NDArray[int64]
    start_ps: NDArray[int64]
    end_ps: NDArray[int64]
    flows: NDArray[int64] | None = None
    executions: NDArray[int64] | None = None
    launches: NDArray[int64] | None = None
    held_bytes: NDArray[int64] | None = None
    graph_nodes: NDArray[int64] | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as it was recorded.

    Attributes:
        tracks: the lines of all devices and hosts.
        kinds: metadata of the events.
        devices: statistics of each device that has a line, such as its peak rates, by its name.
        modules: the compiled modules by program.
        unread: the programs whose module could not be read, with the type of the error.
        notes: what a reader must know.
    """

    tracks: tuple[TraceLine, ...]
    kinds: tuple[EventMetadata, ...]
    devices: Mapping[str, Mapping[str, StatValue]]
    modules: Mapping[ProgramKey, HloModule]
    unread: Mapping[ProgramKey, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


#: A trace after :func:`~jaxmagic.profiling.analysis.interpret.interpreted`.
Interpreted = NewType("Interpreted", Trace)
