"""The memory maps of random programs agree with the compiler's own numbers."""

from __future__ import annotations

from typing import Any

import jax
import pytest
from programs import PROGRAMS
from random_programs import random_program
from recordings import serialized

from jaxmagic.memory_use.analysis.buffer_map import live_bytes, memory_map
from jaxmagic.memory_use.analysis.peak import peak_of
from jaxmagic.memory_use.capture.executables import requirement
from jaxmagic.xla.buffer_assignment import BufferAllocation, BufferAssignment, Location
from jaxmagic.xla.buffer_packing import packed
from jaxmagic.xla.hlo import HloModule
from jaxmagic.xla.live_ranges import LiveRange, live_ranges
from jaxmagic.xla.read_hlo import read_buffer_assignment, read_module
from jaxmagic.xla.schedule import flattened_schedule

#: Seeds that run always, the last for branches that write over what both were given; and those for which there has to
#: be time.
_ALWAYS, _LONG = (*range(40), 30057), range(40, 200)

#: A third of the time; where buffers lie is decided before.
_QUICKLY = {"xla_llvm_disable_expensive_passes": True, "xla_backend_optimization_level": 0}


@pytest.mark.filterwarnings("ignore:Some donated buffers")
@pytest.mark.parametrize("seed", [*_ALWAYS, *(pytest.param(seed, marks=pytest.mark.long) for seed in _LONG)])
def test_the_map_of_a_random_program_never_has_more_than_the_compiler_says(seed: int) -> None:
    function, arguments = random_program(seed)
    check(function.lower(*arguments).compile(compiler_options=_QUICKLY))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_map_of_a_real_program_never_has_more_than_the_compiler_says(name: str) -> None:
    function, arguments = PROGRAMS[name]()
    check(function.lower(*arguments).compile())


def check(compiled: Any) -> None:
    """Check all invariants of the map of a program."""
    said, found = compiled.memory_analysis(), requirement(compiled.runtime_executable())
    kept = said.argument_size_in_bytes + said.output_size_in_bytes - said.alias_size_in_bytes
    needs = kept + said.temp_size_in_bytes
    assert {each.kind for each in found.notes} <= {"memory_use.uncounted"}  # in calls of a library
    assert found.peak_bytes == needs
    if hasattr(said, "total_allocation_bytes"):  # from JAX 0.12 on; with constants
        assert needs + (found.constant_bytes or 0) == said.total_allocation_bytes
    peak = peak_of(found)
    assert peak is not None
    assert kept <= peak.live_bytes <= needs
    assert sum(buffer.size_bytes for _, buffer in peak.live) == peak.live_bytes
    module = read_module(serialized(compiled))
    assignment = read_buffer_assignment(said.serialized_buffer_assignment_proto)
    assert list(unexplained(module, assignment)) == []
    assert kept <= least(module) <= needs


def unexplained(module: HloModule, assignment: BufferAssignment) -> list[tuple[Location, Location]]:
    """Values that overlap at a step, unless one contains the other or was written over it."""
    table = flattened_schedule(module)
    lives = live_ranges(module, (value.defined_at for value in assignment.logical_buffers.values()), table)
    planned = [each for each in assignment.buffer_allocations if each.kind in ("argument", "output", "temporary")]
    return [pair for allocation in planned for pair in clashes(allocation, assignment, lives)]


def clashes(
    allocation: BufferAllocation, assignment: BufferAssignment, lives: dict[Location, LiveRange]
) -> list[tuple[Location, Location]]:
    found = []
    places = [(assignment.logical_buffers[each.logical_buffer_id].defined_at, each) for each in allocation.assigned]
    inside = sorted(
        ((lives[place], place, each) for place, each in places if place in lives), key=lambda row: row[0][:2]
    )
    for index, (life, place, each) in enumerate(inside):
        for later, other_place, other in inside[index + 1 :]:
            if later.first >= life.last:
                continue  # after it, or written over it at its last use
            begin, end = each.offset_bytes, each.offset_bytes + each.size_bytes
            other_begin, other_end = other.offset_bytes, other.offset_bytes + other.size_bytes
            if begin < other_end and other_begin < end and (begin, end) != (other_begin, other_end):
                found.append((place, other_place))
    return found


def least(module: HloModule) -> int:
    """The estimated peak, for a backend that does not report its buffer assignment."""
    table = flattened_schedule(module)
    return max(live_bytes(memory_map(module, packed(module, table), table, estimated=True), len(table.order)))


def test_the_state_of_a_scan_that_runs_inside_of_a_call_counts_once() -> None:
    x = jax.numpy.ones(16)
    scan = jax.jit(lambda x: jax.lax.scan(lambda c, _: (c * 0.9 + 1, c), x, None, length=200_000))
    found = requirement(scan.lower(x).compile().runtime_executable())
    peak = peak_of(found)
    assert peak is not None
    assert found.peak_bytes is not None
    assert 12_800_000 < peak.live_bytes <= found.peak_bytes < 12_801_000
