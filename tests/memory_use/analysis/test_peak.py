"""The step at which most bytes of a program are live."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.memory_use.analysis.peak import peak_of


def test_the_peak_is_where_most_is_live_and_says_what_is_made_there(executable: Any) -> None:
    found = peak_of(executable())
    assert found is not None
    assert (found.step, found.live_bytes) == (3, 4096)
    assert found.instruction is not None
    assert found.instruction.instruction == "add.1"
    assert {buffer.instruction for _, buffer in found.live} == {"a.1", "b.1", "dot.1", "add.1"}


def test_of_equal_steps_the_first_is_the_peak(executable: Any) -> None:
    program = executable()
    arguments = program.allocations[:2]
    found = peak_of(replace(program, allocations=arguments))
    assert found is not None
    assert (found.step, found.live_bytes) == (0, 2048)


def test_the_largest_comes_first(executable: Any) -> None:
    program = executable()
    *others, output = program.allocations
    larger = replace(output, buffers=(replace(output.buffers[0], size_bytes=9000),))
    found = peak_of(replace(program, allocations=(*others, larger)))
    assert found is not None
    assert [buffer.size_bytes for _, buffer in found.live] == [9000, 1024, 1024, 1024]


def test_a_program_of_empty_arrays_needs_nothing(executable: Any) -> None:
    program = executable()
    (buffer,) = program.allocations[2].buffers
    empty = replace(program.allocations[2], size_bytes=0, buffers=(replace(buffer, size_bytes=0),))
    assert peak_of(replace(program, allocations=(empty,))) == (0, 0, [], None)


@pytest.mark.parametrize("changes", [{"allocations": None}, {"allocations": ()}, {"steps": None}])
def test_where_the_allocations_are_not_known_there_is_no_peak(executable: Any, changes: dict[str, Any]) -> None:
    assert peak_of(executable(**changes)) is None


def test_what_is_built_in_and_what_is_on_a_stack_counts_nowhere(executable: Any) -> None:
    program = executable()
    constant = replace(program.allocations[0], kind="constant")
    stack = replace(program.allocations[1], kind="thread-local")
    found = peak_of(replace(program, allocations=(constant, stack, *program.allocations)))
    assert found is not None
    assert found.live_bytes == 4096
