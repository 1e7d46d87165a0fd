"""Declares a timing: how long code took, split into parts that add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..compilation.record.compilation import Compilation
from ..records.environment import Environment
from ..records.note import Note
from ..session.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Record):
    """The time that some code really took, with all the JAX work that it started.

    ::

        wall     = dispatch + wait
        dispatch = tracing + lowering + compilation + cache retrieval + host
        compile  = tracing + lowering + compilation + cache retrieval

    Attributes:
        code: the source that was timed; ``None`` for ``jaxmagic.stopwatch()``.
        started_at: the start, in ISO 8601 with the time zone.
        dispatch_ns: until the code returned, without the time that it spent waiting for results itself.
        wait_ns: the time that the code itself waited, as in ``float(y)`` or ``y.block_until_ready()``, plus the time
            from its return until all of its work was done on every local device.
        unreached_ns: the last part of the wait, for discarded work that neither the result nor a live array depends
            on. ``None`` if that could not be separated.
        tracing_ns: Python to jaxpr, in the threads of the measured code.
        lowering_ns: jaxpr to StableHLO.
        compilation_ns: StableHLO to executables.
        cache_retrieval_ns: executables from the persistent cache.
        cpu_user_ns: processor time of the whole process in user mode; above the wall time with several threads.
        cpu_system_ns: the same in the kernel.
        code_wait_ns: the part of the wait inside the code, until a value that it requested was available, including
            the copy to the host. ``None`` if waits could not be observed and are part of the dispatch: in records of
            older versions, and on a JAX with other internals.
        fetch_ns: copying the result to the host afterwards, not part of the wall time. ``None`` if not requested.
        fetch_bytes: the bytes copied.
        error: the type of the exception that ended the code; ``None`` if it completed.
        notes: what a reader must know to understand the numbers.
        compilations: what was compiled, in the order of completion.
        heard_all: whether JAX's compile events were received until the end. They are not if the code called
            ``jax.monitoring.clear_event_listeners()``; later compilations are then part of ``host_ns``.
        other_load: how many processors other processes kept busy meanwhile, on average; ``None`` if unknown, as for
            less than 0.2 s.
        environment: versions, devices and settings of the measurement.
    """

    _derived: ClassVar[tuple[str, ...]] = ("wall_ns", "host_ns", "compile_ns")

    code: str | None
    started_at: str
    dispatch_ns: int
    wait_ns: int
    unreached_ns: int | None
    tracing_ns: int
    lowering_ns: int
    compilation_ns: int
    cache_retrieval_ns: int
    cpu_user_ns: int
    cpu_system_ns: int
    code_wait_ns: int | None = None
    fetch_ns: int | None = None
    fetch_bytes: int | None = None
    error: str | None = None
    notes: tuple[Note, ...] = ()
    compilations: tuple[Compilation, ...] = ()
    heard_all: bool = True
    other_load: float | None = None
    environment: Environment

    def __post_init__(self) -> None:
        for name in _DURATIONS:
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name}: expected a duration of 0 or more, got {value}")
        if (self.code_wait_ns or 0) > self.wait_ns:
            raise ValueError(
                f"code_wait_ns: expected at most {self.wait_ns}, as long as the wait, got {self.code_wait_ns}"
            )
        if self.host_ns < 0:
            raise ValueError(
                f"dispatch_ns is {self.dispatch_ns}, but its parts add up to {self.compile_ns}: "
                "tracing, lowering, compilation and cache retrieval are parts of the dispatch"
            )

    @property
    def wall_ns(self) -> int:
        """Wall time: dispatch and wait."""
        return self.dispatch_ns + self.wait_ns

    @property
    def compile_ns(self) -> int:
        """Time that a second, identical call would not take: tracing, lowering, compilation and cache retrieval."""
        return self.tracing_ns + self.lowering_ns + self.compilation_ns + self.cache_retrieval_ns

    @property
    def host_ns(self) -> int:
        """The rest of the dispatch: Python, JAX's own bookkeeping, and work that ran on the calling thread."""
        return self.dispatch_ns - self.compile_ns


_DURATIONS = (
    "dispatch_ns",
    "wait_ns",
    "unreached_ns",
    "tracing_ns",
    "lowering_ns",
    "compilation_ns",
    "cache_retrieval_ns",
    "cpu_user_ns",
    "cpu_system_ns",
    "code_wait_ns",
    "fetch_ns",
    "fetch_bytes",
)
