"""Properties of memory profiles, and those that are unknown because a part is unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxmagic.memory_use.record.memory_profile import MemoryProfile

PARTS = ("argument_bytes", "output_bytes", "temporary_bytes", "alias_bytes")
SIZES = st.integers(0, 2**40)
DEVICES = st.dictionaries(st.sampled_from(["cpu:0", "cpu:1", "gpu:0"]), SIZES)
property_test = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@property_test
@given(st.tuples(SIZES, SIZES, SIZES, SIZES))
def test_a_program_needs_its_parts_without_what_lies_in_arguments(executable: Any, sizes: Any) -> None:
    argument, output, temporary, alias = sizes
    found = executable(**dict(zip(PARTS, sizes, strict=True)))
    assert found.peak_bytes == argument + output + temporary - alias


@pytest.mark.parametrize("part", PARTS)
def test_what_a_program_needs_is_not_known_where_a_part_is_not(executable: Any, part: str) -> None:
    found = executable(limit_bytes=10**9, **{part: None})
    assert found.peak_bytes is None
    assert found.fits is None


@pytest.mark.parametrize(
    ("limit_bytes", "fits"), [(4096, True), (4095, False), (4097, True), (None, None), (0, False)]
)
def test_it_fits_where_the_device_has_as_much(executable: Any, limit_bytes: int | None, fits: bool | None) -> None:
    assert executable(limit_bytes=limit_bytes).fits is fits


@property_test
@given(DEVICES, DEVICES)
def test_before_and_what_came_is_after(
    memory_profile: Any, live_arrays: Any, before: dict[str, int], after: dict[str, int]
) -> None:
    arrays = live_arrays(*(array(live_arrays, name, size) for name, size in after.items()))
    found: MemoryProfile = memory_profile(before_bytes=tuple(before.items()), arrays=arrays)
    assert found.after_bytes == after
    assert set(found.delta_bytes) == set(before) | set(after)
    for name, delta in found.delta_bytes.items():
        assert before.get(name, 0) + delta == after.get(name, 0)


def array(live_arrays: Any, device: str, size_bytes: int) -> Any:
    (one,) = live_arrays((size_bytes, ())).arrays
    return replace(one, device_bytes=((device, size_bytes),))


def test_the_peak_is_the_largest_known_one_of_the_programs(memory_profile: Any, executable: Any) -> None:
    silent = executable(output_bytes=None, argument_bytes=10**9)
    assert memory_profile(executables=(silent, executable())).peak_bytes == 4096
    assert memory_profile(executables=(silent,)).peak_bytes is None
    assert memory_profile(executables=()).peak_bytes is None


def test_a_profile_has_the_code_and_the_environment_of_its_timing(memory_profile: Any, timing: Any) -> None:
    found = memory_profile(timing=timing(code="g(y)"))
    assert found.code == "g(y)"
    assert found.environment is found.timing.environment
    assert found.without_values() is found


@pytest.mark.parametrize(("first", "last"), [(3, 2), (0, 4), (-1, 2)])
def test_a_buffer_that_outlives_its_program_is_refused(executable: Any, first: int, last: int) -> None:
    program = executable()
    allocation = program.allocations[0]
    wrong = replace(allocation, buffers=(replace(allocation.buffers[0], first=first, last=last),))
    with pytest.raises(ValueError, match="buffers: expected live ranges 0 <= first <= last < 4 steps"):
        executable(allocations=(wrong,))
    assert executable(allocations=(wrong,), steps=None).steps is None
