"""Gathers the parts of the evidence while code runs; a part that fails becomes a note."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from ....errors import briefly
from ....profiling.record.profile import Profile
from ....profiling.record.recording import Trace
from ....records.note import Note, note
from ....runtime.executed_programs import ObservedPrograms
from ....runtime.jax_version import caches_callbacks
from ....runtime.private_api import local_devices
from ....timing.record import Timing
from ...analysis.program_names import name_in_xla
from ...record.evidence import Evidence, HostUse, Input, LibraryNames
from ...record.jitted_names import StaticParameters
from .. import host_use
from ..compiled import programs
from ..compiled.conversions import Conversions
from ..compiled.device_puts import DevicePuts
from ..compiled.kept_programs import ProgramCount
from ..host_lines import LineSampler
from ..host_waits import WaitPlaces
from ..inputs import deleted, inputs_of
from ..jitted import jitted_names, static_parameters
from ..kept_arrays import ArrayMarks
from ..library_names import library_names
from ..lowering_imports import LoweringImports

_T = TypeVar("_T")


class Gathered:
    """The evidence so far.

    Attributes:
        notes: what could not be gathered, and why.
    """

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self._programs = ObservedPrograms(ran=None)
        self._puts, self._conversions = DevicePuts(), Conversions()
        self._imports = LoweringImports()
        self._lines: LineSampler | None = None
        self._waits: WaitPlaces | None = None
        self._host_use: HostUse | None = None
        self._inputs: tuple[Input, ...] = ()
        self._static: tuple[StaticParameters, ...] = ()
        self._names: tuple[LibraryNames, ...] = ()
        self._gone: list[str] = []
        self._arrays = ArrayMarks()
        self._count = ProgramCount()

    def list_inputs(self, code: str | None, variables: Mapping[str, Any]) -> None:
        """List what the code reads, before it runs."""
        self._part("live arrays", self._arrays.mark, None)
        self._gone = self._deleted(variables)
        self._inputs = self._part("inputs", lambda: inputs_of(variables), ())
        self._static = self._part("static arguments", lambda: static_parameters(variables), ())
        self._names = self._part("names of libraries", lambda: library_names(code, variables), ())

    def note_deleted(self, variables: Mapping[str, Any]) -> list[str]:
        """Mark the inputs that a run has deleted, and return their paths."""
        before = set(self._gone)
        gone = [each for each in self._deleted(variables) if each not in before]
        self._inputs = tuple(replace(each, deleted=each.path in gone) for each in self._inputs)
        return gone

    def _deleted(self, variables: Mapping[str, Any]) -> list[str]:
        none: list[str] = []
        return self._part("inputs", lambda: [each.path for each in deleted(variables)], none)

    @contextmanager
    def programs(self) -> Iterator[None]:
        """Observe the programs that run in the block."""
        with self._imports, self._puts.watch(), self._conversions.watch(), programs.watch() as self._programs:
            yield
        programs.run_ended(self._programs)
        self._part("live arrays", self._arrays.mark, None)

    @contextmanager
    def places(self) -> Iterator[None]:
        """Prepare to record waits and to sample lines in the block, between :meth:`resume` and :meth:`pause`."""
        self._lines, self._waits = LineSampler(), WaitPlaces()
        try:
            self._waits.start()
            self._lines.start()
            yield
        finally:
            try:
                self._lines.stop()
            finally:
                self._waits.stop()
        self._part("live arrays", self._arrays.mark, None)
        self._part("live programs", self._count.mark, None)

    def resume(self) -> None:
        """Begin to record waits and lines: the code starts."""
        if self._waits is not None and self._lines is not None:
            self._waits.paused = self._lines.paused = False

    def pause(self) -> None:
        """Record no further waits and lines: the code has returned."""
        if self._waits is not None and self._lines is not None:
            self._waits.paused = self._lines.paused = True

    def read_trace(self, trace: Trace) -> Iterable[Note]:
        """Find in the recording what the host did."""
        self._host_use = self._part("host use", lambda: host_use.host_use_of(trace), None)
        return ()

    def evidence(
        self,
        *,
        code: str | None,
        first: Timing,
        observed: Timing,
        timed: Sequence[Timing],
        profile: Profile | None,
        namespace: dict[str, Any],
        limit_bytes: int | None,
    ) -> Evidence:
        """Put the evidence together, once the code has ended."""
        lines, waits = self._lines, self._waits
        later = len(timed) + (profile is not None)
        limit = self._part("memory limit", _memory_limit, None) if limit_bytes is None else limit_bytes
        disabled = self._part("jax_disable_jit", _jit_disabled, False)
        if disabled or self._programs.jit_disabled:
            self.notes.append(note("doctor.jit_disabled", inside=int(not disabled)))
        return Evidence(
            code=code,
            first=first,
            observed=observed,
            timed=tuple(timed),
            profile=profile,
            programs=self._part("programs", lambda: programs.programs_of(self._programs, namespace), None),
            device_puts=self._part("device_put", lambda: self._puts.described(namespace), ()),
            conversions=self._part("conversions", lambda: self._conversions.described(namespace), ()),
            inputs=self._inputs,
            host=None if lines is None else lines.stop(),
            functions=() if lines is None else lines.functions(),
            host_interval_ns=0 if lines is None else lines.interval_ns,
            waits=None if waits is None else waits.stop(),
            host_use=self._host_use,
            cache_dir=self._part("cache", _cache_dir, None),
            caches_callbacks=self._part("cache", caches_callbacks, False),
            cache_entries=self._part("cache", lambda: _cache_entries(first), None),
            cache_least_ns=self._part("cache", _cache_least_ns, 10**9),
            cache_least_bytes=self._part("cache", _cache_least_bytes, 0),
            lowering_imports=self._part("imports", self._imports.imports, ()),
            limit_bytes=limit,
            jitted=self._part("jitted functions", lambda: jitted_names(code, namespace), ()),
            static=self._static,
            names=self._names,
            matmul_precision=self._part("matmul precision", _matmul_precision, None),
            kept=self._part("live arrays", lambda: self._arrays.kept(namespace, later), None),
            devices=self._part("live arrays", lambda: self._arrays.by_device(namespace, limit), ()),
            kept_programs=self._part("live programs", self._count.kept, ()),
            resident_bytes=self._part("live arrays", self._arrays.resident_bytes, None),
        )

    def forget(self) -> None:
        """Let go of the programs."""
        self._programs, self._puts, self._conversions = ObservedPrograms(ran=None), DevicePuts(), Conversions()

    def _part(self, part: str, read: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return read()
        except Exception as error:
            self.notes.append(note("doctor.unread", part=part, error=briefly(error)))
            return otherwise


def _cache_dir() -> str | None:
    import jax

    if not getattr(jax.config, "jax_enable_compilation_cache", True):
        return None
    found = getattr(jax.config, "jax_compilation_cache_dir", None)
    return None if not found else str(found)


def _cache_entries(first: Timing) -> int | None:
    """Count the programs of the names that a run missed, among those that were in the cache's folder before it."""
    folder = _cache_dir()
    names = {f"jit_{name_in_xla(each.function)}" for each in first.compilations if each.cache == "miss"}
    if folder is None or not names or not os.path.isdir(folder):  # a bucket is not read
        return None
    began_s = datetime.fromisoformat(first.started_at).timestamp()
    with os.scandir(folder) as entries:
        keys = [each.name.removesuffix("-cache") for each in entries if each.stat().st_mtime < began_s]
    return sum(each.rpartition("-")[0] in names for each in keys if not each.endswith("-atime"))


def _jit_disabled() -> bool:
    import jax

    return bool(getattr(jax.config, "jax_disable_jit", False))


def _matmul_precision() -> str | None:
    import jax

    found = getattr(jax.config, "jax_default_matmul_precision", None)
    return None if found is None else str(found)


def _cache_least_ns() -> int:
    import jax

    return round(max(getattr(jax.config, "jax_persistent_cache_min_compile_time_secs", 1.0), 0.0) * 1e9)


def _cache_least_bytes() -> int:
    import jax

    return max(int(getattr(jax.config, "jax_persistent_cache_min_entry_size_bytes", 0)), 0)


def _memory_limit() -> int | None:
    limits = [(each.memory_stats() or {}).get("bytes_limit") for each in local_devices()]
    known = [each for each in limits if each]
    return min(known) if known else None
