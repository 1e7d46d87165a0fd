"""The relation of the profiler's estimates to a device's own clock, where both are known."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.profiling.analysis.attribution import Ints
from jaxmagic.profiling.analysis.device_clock import device_clock


def of(*numbers: int) -> Ints:
    return np.array(numbers, np.int64)


def test_without_operations_there_is_no_clock() -> None:
    assert device_clock(of(), of(), of(), of()) is None


lengths = st.tuples(*(st.integers(1, 10**12),) * 4)


@given(st.lists(lengths, min_size=1, max_size=9), st.integers(0, 10**16))
def test_what_begins_and_ends_with_an_operation_has_its_times(
    operations: list[tuple[int, int, int, int]], origin: int
) -> None:
    """Each operation has a gap before it and a duration, both once estimated and once by the device's clock."""
    pauses, durations, own_pauses, own_durations = np.array(operations, np.int64).T
    end, own_end = np.cumsum(pauses + durations), origin + np.cumsum(own_pauses + own_durations)
    start, own_start = end - durations, own_end - own_durations
    clock = device_clock(start, end, own_start, own_end)
    assert clock is not None
    found = clock.corrected(start, end)
    assert [each.tolist() for each in found] == [
        (own_start + clock.offset).tolist(),
        (own_end + clock.offset).tolist(),
    ]
    outside = clock.corrected(start[:1] - 7, end[-1:] + 7)
    assert [each.tolist() for each in outside] == [[found[0][0] - 7], [found[1][-1] + 7]]


def test_what_begins_between_operations_is_moved_between_them() -> None:
    clock = device_clock(of(0, 100), of(20, 120), of(0, 60), of(20, 80))
    assert clock is not None
    start, end = clock.corrected(of(20, 60, 100), of(60, 100, 120))
    assert (start - clock.offset).tolist() == [20, 40, 60]
    assert (end - clock.offset).tolist() == [40, 60, 80]


def test_of_operations_with_one_estimate_the_first_start_and_the_last_end_count() -> None:
    """The second and the third begin when the first is estimated to end, and the third is estimated to last for 0."""
    clock = device_clock(of(0, 50, 50), of(50, 90, 50), of(0, 55, 60), of(40, 99, 70))
    assert clock is not None
    start, end = clock.corrected(of(50), of(50))
    assert ((start - clock.offset).tolist(), (end - clock.offset).tolist()) == ([55], [70])
