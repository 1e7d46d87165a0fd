"""Compiled programs: which of them ran, and what memory each needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from ..analysis.lifetimes import timetable
from ..analysis.memory import memory_map
from ..analysis.packing import packed
from ..model.memory import Allocation, Executable
from ..model.program import Assignment, Program
from . import internals
from .program import read_assignment, read_program

_Read = TypeVar("_Read")

#: Fields of XLA's statistics, by ours.
_STATISTICS = {
    "argument_bytes": "argument_size_in_bytes",
    "output_bytes": "output_size_in_bytes",
    "alias_bytes": "alias_size_in_bytes",
    "temporary_bytes": "temp_size_in_bytes",
    "generated_code_bytes": "generated_code_size_in_bytes",
}

#: Programs whose memory is mapped; of the others the sums are known.
_MOST_MAPPED = 20


@dataclass
class Watched:
    """The programs of a window.

    Attributes:
        ran: those that ran at least once; ``None`` where this JAX does not tell.
        compiled: those that were compiled.
    """

    ran: list[Any] | None = field(default_factory=list)
    compiled: list[Any] = field(default_factory=list)


@contextmanager
def watch() -> Iterator[Watched]:
    """Notice the programs that run and that are compiled until the block ends.

    The first call of every function takes some 0.1 to 0.7 ms longer than it would.
    """
    before = internals.executables()  # the objects and not their addresses: none can take the place of one that died
    watched = Watched()
    seen: set[int] = set()

    def note(program: Any) -> None:
        if id(program) not in seen and watched.ran is not None:
            seen.add(id(program))
            watched.ran.append(program)

    undo = internals.notice_programs(note)
    if undo is None:
        watched.ran = None
    try:
        yield watched
    finally:
        if undo is not None:
            undo()
        known = set(map(id, before))
        watched.compiled = [each for each in internals.executables() if id(each) not in known]


def describe(watched: Watched, *, mapped: bool = True) -> tuple[Executable, ...]:
    """What each program of a window needs, the hungriest first; the fence's own are left out."""
    ran, compiled = watched.ran or [], watched.compiled
    programs = {id(each): each for each in (*ran, *compiled)}
    ran_ids, compiled_ids = set(map(id, ran)), set(map(id, compiled))
    found = []
    for key, program in programs.items():
        plan, executable = _planned(program)
        happened = replace(
            executable, ran=None if watched.ran is None else key in ran_ids, compiled=key in compiled_ids
        )
        if "jaxmagic_fence" not in executable.name:
            found.append((plan, happened))
    found.sort(key=lambda each: -(each[1].peak_bytes or 0))
    return tuple(
        _with_map(plan, executable) if mapped and place < _MOST_MAPPED else executable
        for place, (plan, executable) in enumerate(found)
    )


def requirement(program: Any) -> Executable:
    """What a loaded program needs of each device's memory. Never raises: what cannot be read is in the notes."""
    return _with_map(*_planned(program))


class _Plan(NamedTuple):
    """What a backend gave for a program: it serializes this anew whenever it is asked, which takes its time."""

    module: Any
    assignment: bytes


def _planned(program: Any) -> tuple[_Plan, Executable]:
    """The sums that the compiler planned, and where the rest can be read."""
    notes: list[str] = []
    stats = _read("what the compiler planned", program.get_compiled_memory_stats, notes)
    sums: dict[str, Any] = {ours: getattr(stats, theirs, None) for ours, theirs in _STATISTICS.items()}
    module = _read("its module", lambda: program.hlo_modules()[0], notes)
    name = "?" if module is None else str(module.name)
    executable = Executable(name=name, limit_bytes=_limit(program), notes=tuple(notes), **sums)
    return _Plan(module, getattr(stats, "serialized_buffer_assignment_proto", b"")), executable


def _with_map(plan: _Plan, executable: Executable) -> Executable:
    """The same, with its steps and allocations as far as they can be read."""
    if plan.module is None:
        return executable
    notes = list(executable.notes)
    found = _read_plan(plan, notes)
    return replace(executable, notes=tuple(notes), **found)


def _read_plan(plan: _Plan, notes: list[str]) -> dict[str, Any]:
    module, serialized = plan
    schedule = _read("its schedule", lambda: read_program(module.as_serialized_hlo_module_proto()), notes)
    if schedule is None:
        return {}
    assignment = _read("where its buffers lie", lambda: read_assignment(serialized), notes) if serialized else None
    found = _read("how long its buffers live", lambda: _map(schedule, assignment), notes)
    if found is None:
        return {}
    allocations, steps = found
    constants = sum(each.size_bytes for each in allocations if each.kind == "constant")
    return {
        "allocations": allocations,
        "steps": steps,
        "constant_bytes": constants,
        "estimated": assignment is None,
    }


def _map(program: Program, assignment: Assignment | None) -> tuple[tuple[Allocation, ...], int]:
    table = timetable(program)
    return memory_map(program, packed(program, table) if assignment is None else assignment, table), len(table.order)


def _read(what: str, read: Callable[[], _Read], notes: list[str]) -> _Read | None:
    """What `read` returns; where a backend does not say, or says something else, that becomes a note."""
    try:
        return read()
    except Exception as error:
        reason = str(error).splitlines()[0][:100] if str(error) else "no reason given"
        notes.append(f"Not known: {what} ({type(error).__name__}: {reason}).")
        return None


def _limit(program: Any) -> int | None:
    """How much memory the first device of a program has in all, where it says."""
    try:
        stats: Mapping[str, int] | None = program.local_devices()[0].memory_stats()
    except Exception:
        return None
    return None if stats is None else stats.get("bytes_limit")
