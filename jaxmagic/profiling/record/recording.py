"""What the JAX profiler recorded, in columns: what the analysis reads, and nobody keeps."""

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

#: What the events of a track are: operations that a device ran one after the other; operations that it ran beside
#: those; whole programs; steps; when it waited; or what a thread of the host did.
Role = OneOf["operations", "asynchronous", "programs", "steps", "waits", "host"]

#: A statistic of an event, as the profiler wrote it.
StatValue = int | float | str | bytes


#: Which program: the host that ran it, empty where there is one alone, and its number there. Two hosts may have given
#: one number to different programs.
ProgramKey = tuple[str, int]


class EventMetadata(NamedTuple):
    """Metadata shared by events that differ only in time (XEventMetadata plus stats).

    Attributes:
        name: as recorded: of an operation, a kernel, or a function of the host.
        stats: its statistics, by their names: ``"hlo_op"``, ``"program_id"``, ``"bytes_accessed"`` and others.
        host: whose it is, empty where there is one alone.
    """

    name: str
    stats: Mapping[str, StatValue]
    host: str = ""

    @property
    def program(self) -> ProgramKey | None:
        """Which program it belongs to; ``None`` if that is not said."""
        number = self.stats.get("program_id")
        return (self.host, number) if isinstance(number, int) else None


@dataclass(frozen=True, slots=True)
class TraceLine:
    """Events of one thread of the host, or of one stream or unit of a device, by when they started.

    Attributes:
        name: of the thread, the stream or the line.
        device: whose operations these are, such as ``"GPU:0"``; ``None`` for the host's.
        role: what its events are.
        kinds: for each event, the number of its kind in the recording.
        start_ps: when each started, in picoseconds since the recording did.
        end_ps: when each ended.
        flows: for each event the number by which the profiler ties it to another one, or 0; ``None`` where not known.
        executions: for each event the number of the execution of a program that it is part of, or 0; likewise.
        launches: for each event the number of the call of the driver that it is, or that it came of, or 0; likewise.
        held_bytes: for each event of an allocator how much it had given away behind it, or 0; likewise.
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


@dataclass(frozen=True, slots=True)
class Trace:
    """A profile as it was recorded.

    Attributes:
        tracks: of all devices and hosts.
        kinds: what the events are.
        devices: what is said of each device that has a track, such as its peak rates, by its name.
        modules: the compiled modules, by their program.
        unread: the programs whose module could not be read, and why.
        notes: what a reader must know.
    """

    tracks: tuple[TraceLine, ...]
    kinds: tuple[EventMetadata, ...]
    devices: Mapping[str, Mapping[str, StatValue]]
    modules: Mapping[ProgramKey, HloModule]
    unread: Mapping[ProgramKey, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


#: A recording with what follows from it, as :func:`~jaxmagic.profiling.analysis.interpret.interpreted` adds it.
Interpreted = NewType("Interpreted", Trace)
