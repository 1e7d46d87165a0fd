"""Finds which compiled programs ran, and the memory that each needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from ...errors import message_of
from ...records.note import Note, note
from ...runtime import executed_programs
from ...runtime.gc_pause import held_back
from ...xla.buffer_assignment import BufferAssignment
from ...xla.buffer_packing import packed
from ...xla.hlo import HloModule
from ...xla.lines.callers import with_own_callers, without_callers
from ...xla.read_hlo import read_buffer_assignment, read_module
from ...xla.schedule import Schedule, flattened_schedule
from ..analysis.buffer_map import memory_map
from ..analysis.uncounted import uncounted
from ..record.memory_profile import Allocation, Executable
from .closure_constants import NOTHING, Captured, Named, captured, name_all, names_in
from .usage_readings import known

_Read = TypeVar("_Read")

#: Fields of XLA's CompiledMemoryStats, by those of the record.
_STATISTICS = {
    "argument_bytes": "argument_size_in_bytes",
    "output_bytes": "output_size_in_bytes",
    "alias_bytes": "alias_size_in_bytes",
    "temporary_bytes": "temp_size_in_bytes",
    "generated_code_bytes": "generated_code_size_in_bytes",
    "host_argument_bytes": "host_argument_size_in_bytes",
    "host_output_bytes": "host_output_size_in_bytes",
    "host_alias_bytes": "host_alias_size_in_bytes",
    "host_temporary_bytes": "host_temp_size_in_bytes",
}

#: Most programs with a memory map; others have their sums only.
_MOST_MAPPED = 20


def watch() -> executed_programs.watch:
    """Observe the programs of a block, and the arrays that their functions captured."""
    return executed_programs.watch(captured)


def describe(
    watched: executed_programs.ObservedPrograms, *, mapped: bool = True, namespace: dict[str, Any] | None = None
) -> tuple[Executable, ...]:
    """Describe the programs of a window, those that need most memory first, without the fence's own programs.

    Args:
        watched: the programs.
        mapped: whether to read their memory maps.
        namespace: names of the session, to name captured constants for which their functions have no name.
    """
    return tuple(executable for _, executable in described(watched, mapped=mapped, namespace=namespace))


def described(
    watched: executed_programs.ObservedPrograms, *, mapped: bool = True, namespace: dict[str, Any] | None = None
) -> list[tuple[Any, Executable]]:
    """Return the programs of a window with their descriptions; see :func:`describe`."""
    ran, compiled = watched.ran or [], watched.compiled
    programs = {id(each): each for each in (*ran, *compiled)}
    ran_ids, compiled_ids = set(map(id, ran)), set(map(id, compiled))
    found = []
    for key, program in programs.items():
        plan, executable = _planned(program, watched.captured.get(key, NOTHING))
        happened = replace(
            executable, ran=None if watched.ran is None else key in ran_ids, compiled=key in compiled_ids
        )
        if "jaxmagic_fence" not in executable.name:
            found.append((program, plan, happened))
    found.sort(key=lambda each: -(each[2].peak_bytes or 0))
    most = _MOST_MAPPED if mapped else 0
    names = name_all([plan.captured for _, plan, _ in found[:most]], namespace)
    with_maps = [
        (program, _with_map(plan, each, named, earlier=not each.compiled))
        for (program, plan, each), named in zip(found[:most], names, strict=True)
    ]
    return [*with_maps, *((program, executable) for program, _, executable in found[most:])]


def requirement(
    program: Any, origin: executed_programs.Origin | None = None, namespace: dict[str, Any] | None = None
) -> Executable:
    """Describe the memory that a loaded program needs on each device. Never raises: notes name what cannot be read.

    Args:
        program: the loaded executable.
        origin: the function and jaxpr of the program.
        namespace: names of the session, to name captured constants for which the function has no name.
    """
    plan, executable = _planned(program, captured(origin))
    (named,) = name_all([plan.captured], namespace)
    return _with_map(plan, executable, named)


def need_of(program: Any) -> Executable:
    """Return what a loaded program needs of each device's memory, without a map."""
    return _planned(program, NOTHING)[1]


class _Plan(NamedTuple):
    """Module and buffer assignment of a program, kept because the backend serializes them again for each query."""

    module: Any
    assignment: bytes
    captured: Captured


def _planned(program: Any, capture: Captured) -> tuple[_Plan, Executable]:
    """Read the sums that the compiler planned, and prepare to read the memory map."""
    notes: list[Note] = []
    stats = _read("statistics", program.get_compiled_memory_stats, notes)
    sums: dict[str, Any] = {ours: getattr(stats, theirs, None) for ours, theirs in _STATISTICS.items()}
    module = _read("module", lambda: program.hlo_modules()[0], notes)
    name = "?" if module is None else str(module.name)
    executable = Executable(name=name, limit_bytes=_limit(program), notes=tuple(notes), **sums)
    return _Plan(module, getattr(stats, "serialized_buffer_assignment_proto", b""), capture), executable


def _with_map(plan: _Plan, executable: Executable, named: Named, *, earlier: bool = False) -> Executable:
    """Add steps and allocations to a program, if they can be read.

    Args:
        plan: its module and buffer assignment.
        executable: the program.
        named: names of the arrays that its function captured.
        earlier: whether an earlier call compiled it, whose lines did not run now.
    """
    if plan.module is None:
        return executable
    notes = list(executable.notes)
    with held_back():
        fields = _read_plan(plan, named, notes, earlier=earlier)
    return replace(executable, notes=tuple(notes), **fields)


def _read_plan(plan: _Plan, named: Named, notes: list[Note], *, earlier: bool) -> dict[str, Any]:
    serialized = plan.assignment

    def read_scheduled() -> tuple[HloModule, Schedule]:
        module = read_module(plan.module.as_serialized_hlo_module_proto(), literals=bool(named.arrays))
        module = with_own_callers(module)
        return without_callers(module) if earlier else module, flattened_schedule(module)

    scheduled = _read("schedule", read_scheduled, notes)
    if scheduled is None:
        return {}
    module, table = scheduled
    assignment = _read("buffer_assignment", lambda: read_buffer_assignment(serialized), notes) if serialized else None
    names = _read("constant_names", lambda: names_in(module, named), notes) or {}
    if (more := uncounted(module)) is not None:
        notes.append(more)
    allocations = _read("live_ranges", lambda: _map(module, assignment, table, names), notes)
    if allocations is None:
        return {}
    constants = sum(each.size_bytes for each in allocations if each.kind == "constant")
    return {
        "allocations": allocations,
        "steps": len(table.order),
        "constant_bytes": constants,
        "estimated": assignment is None,
    }


def _map(
    module: HloModule, assignment: BufferAssignment | None, table: Schedule, names: Mapping[int, tuple[str, ...]]
) -> tuple[Allocation, ...]:
    planned = packed(module, table) if assignment is None else assignment
    return memory_map(module, planned, table, names, estimated=assignment is None)


def _read(part: str, read: Callable[[], _Read], notes: list[Note]) -> _Read | None:
    """Call `read`; if it fails, because a backend does not report a part, add a note and return ``None``."""
    try:
        return read()
    except Exception as error:
        lines = message_of(error).splitlines() or ["no reason given"]
        notes.append(note("memory_use.unread", part=part, error=f"{type(error).__name__}: {lines[0][:100]}"))
        return None


def _limit(program: Any) -> int | None:
    """Return the memory limit of the first device of a program; ``None`` if the device does not report it."""
    try:
        stats: Mapping[str, int] | None = program.local_devices()[0].memory_stats()
    except Exception:
        return None
    return None if stats is None else known(stats).get("bytes_limit")
