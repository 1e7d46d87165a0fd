"""Timelines of memory: peaks that follow from the samples, and timelines that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.memory_use.record.usage import MemoryTimeline, Peak


def timeline(**fields: Any) -> MemoryTimeline:
    """Three samples of a process that grew to 30 bytes and shrank again."""
    usual: dict[str, Any] = {
        "interval_ns": 1,
        "times_ns": (0, 1, 2),
        "rss_bytes": (10, 30, 20),
        "array_bytes": (5, None, 7),
    }
    return MemoryTimeline(**(usual | fields))


def test_ends_and_peaks_follow_from_the_samples() -> None:
    found = timeline()
    assert (found.rss_start_bytes, found.rss_end_bytes, found.rss_peak_bytes) == (10, 20, 30)
    assert found.array_peak_bytes == 7


@pytest.mark.parametrize(
    ("high_water", "peak"),
    [
        (None, Peak(at_least_bytes=30, at_most_bytes=None)),
        ((10, 35), Peak(at_least_bytes=35, at_most_bytes=35)),  # it grew, so it was reached in the window
        ((40, 40), Peak(at_least_bytes=30, at_most_bytes=40)),  # an older peak
        ((30, 30), Peak(at_least_bytes=30, at_most_bytes=30)),  # reached again, to the byte
        ((10, 25), Peak(at_least_bytes=30, at_most_bytes=30)),  # Linux updates VmHWM coarsely
    ],
)
def test_the_high_water_mark_is_the_peak_where_it_grew(high_water: tuple[int, int] | None, peak: Peak) -> None:
    found = timeline(rss_high_water_bytes=high_water)
    assert found.rss_peak == peak
    assert found.rss_peak_bytes == peak.at_least_bytes


def test_a_process_that_cannot_be_read_has_no_peak() -> None:
    found = timeline(rss_bytes=(None, None, None), array_bytes=(None, None, None))
    assert found.rss_peak is None
    assert found.rss_peak_bytes is None
    assert found.array_peak_bytes is None


@pytest.mark.parametrize(
    ("marks", "exact", "at_least", "at_most"),
    [
        ((50, 90), True, 90, 90),
        ((0, 90), True, 90, 90),  # started in the window
        ((90, 90), False, 60, 90),
        ((None, 90), False, 60, 90),  # it may be older than the window
        ((90, None), False, 60, None),
    ],
)
def test_a_devices_peak_is_the_windows_only_where_it_grew(
    marks: Any, exact: bool, at_least: int, at_most: int | None
) -> None:
    found = timeline(device_bytes={"gpu:0": (None, 60, 50)}, device_peak_bytes={"gpu:0": marks}).window_peak("gpu:0")
    assert found == Peak(at_least_bytes=at_least, at_most_bytes=at_most)
    assert found.exact is exact


def test_a_device_that_says_nothing_has_no_peak() -> None:
    assert timeline().window_peak("cpu:0") is None
    assert timeline(device_peak_bytes={"gpu:0": (5, 5)}).window_peak("gpu:0") is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"times_ns": ()}, "times_ns: expected at least the sample at the start"),
        ({"times_ns": (0, 2, 1)}, "in ascending order"),
        ({"times_ns": (-1, 2, 3)}, "in ascending order"),
        ({"rss_bytes": (1,)}, "rss_bytes: expected an entry for each of 3 times, got 1"),
        ({"array_bytes": (1,)}, "array_bytes: expected an entry"),
        ({"device_bytes": {"gpu:0": (1, 2)}}, "gpu:0: expected an entry"),
    ],
)
def test_columns_that_do_not_fit_are_refused(fields: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        timeline(**fields)
