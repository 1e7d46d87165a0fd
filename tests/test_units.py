"""Formatting of numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic import units


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (0, "0 ns"),
        (1, "1 ns"),
        (999, "999 ns"),
        (999.6, "1.00 µs"),
        (1_000, "1.00 µs"),
        (999_700, "1.00 ms"),
        (12_345_678, "12.3 ms"),
        (59_999_000_000, "60.0 s"),
        (60 * 10**9, "1min 0s"),
        (3_661 * 10**9, "1h 1min 1s"),
    ],
)
def test_a_time_has_three_digits_and_one_unit(time_ns: float, text: str) -> None:
    assert units.time(time_ns) == text


@pytest.mark.parametrize(
    ("low_ns", "high_ns", "text"),
    [
        (13_200, 48_100_000, "13.2 µs to 48.1 ms"),
        (10_000, 1_000_000, "0.01 to 1.00 ms"),
        (9_000, 1_000_000, "9.00 µs to 1.00 ms"),
        (20_000_000, 90 * 10**9, "20.0 ms to 1min 30s"),
        (2_000, 400_000, "2.00 to 400 µs"),
        (0, 48_100_000, "0 to 48.1 ms"),
    ],
)
def test_ends_of_a_range_that_are_far_apart_have_their_own_units(low_ns: float, high_ns: float, text: str) -> None:
    assert units.time_range(low_ns, high_ns) == text


@given(st.floats(0, 5.9e10))
def test_no_time_has_an_exponent_or_four_digits_before_its_unit(time_ns: float) -> None:
    number = units.time(time_ns).split()[0]
    assert "e" not in number
    assert float(number) <= 1000


@given(st.integers(1, 10**10))
def test_a_time_in_the_unit_of_its_line_is_never_shown_as_zero(time_ns: int) -> None:
    for unit in units.TIME_UNITS:
        assert not units.time_in(time_ns, unit).startswith(("0 ", "0.00 "))


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_a_share_is_0_or_100_only_where_it_is(part: int, whole: int) -> None:
    part = min(part, whole)
    text = units.share(part, whole)
    assert (text == "0 %") == (part == 0)
    assert (text == "100 %") == (part == whole)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (3 * 2**30, "3.00 GiB"), (2**42, "4.00 TiB")],
)
def test_sizes_are_binary(size_bytes: int, text: str) -> None:
    assert units.size(size_bytes) == text


def test_digits_can_be_chosen() -> None:
    assert units.time(12_345_678, 5) == "12.346 ms"
