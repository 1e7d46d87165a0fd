"""The chart of memory use: each curve is relative to its first sample, and bands show compilations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jaxmagic.memory_use.charts.usage import timeline_chart
from jaxmagic.memory_use.record.usage import MemoryTimeline

MiB = 2**20


def test_curves_count_from_their_first_sample(memory_profile: Any) -> None:
    timeline = MemoryTimeline(
        interval_ns=10,
        times_ns=(0, 10, 20, 30),
        rss_bytes=(100 * MiB, 103 * MiB, 101 * MiB, 99 * MiB),
        array_bytes=(1024, None, 3072, 1024),
        device_bytes={"gpu:0": (5, 6, 7, 8), "gpu:1": (None, None, None, 4)},
    )
    found = timeline_chart(memory_profile(timeline=timeline))
    assert found is not None
    assert [(each.name, each.x, each.y) for each in found.series] == [
        ("process, from 100 MiB", (0, 10, 20, 30), (0, 3 * MiB, MiB, -MiB)),
        ("arrays, from 1.00 KiB", (0, 20, 30), (0, 2048, 0)),
        ("gpu:0, from 5 B", (0, 10, 20, 30), (0, 1, 2, 3)),
    ]
    assert found.y.low < -MiB
    assert found.y.high > 3 * MiB
    assert (found.x.low, found.x.high) == (0, 30)
    assert found.note == "memory of devices follows dispatch, not execution"
    without = timeline_chart(memory_profile(timeline=replace(timeline, device_bytes={})))
    assert without is not None
    assert without.note == ""


def test_bands_say_what_compiled_and_lie_where_it_did(memory_profile: Any, timing: Any, compilation: Any) -> None:
    compilations = (
        compilation(function="f", began_ns=500_000, ended_ns=900_000),
        compilation(function="late", began_ns=1_800_000, ended_ns=9_000_000),
        compilation(function="unknown"),
        compilation(function="g", began_ns=-300_000, ended_ns=200_000),
    )
    profile = memory_profile(timing=timing(compilations=compilations))
    found = timeline_chart(replace(profile, timeline=replace(profile.timeline, clock_ns=100_000)))
    assert found is not None
    bands = {each.tip.split(":")[0]: (each.low, each.high) for each in found.bands}
    assert bands == {
        "compiling f": (600_000, 1_000_000),
        "compiling late": (1_900_000, 2_000_000),
        "compiling g": (0, 300_000),
    }
    assert found.bands_name == "compiling"


def test_of_many_samples_the_extremes_are_kept(memory_profile: Any) -> None:
    sizes = [MiB] * 5000
    sizes[1234], sizes[4321] = 9 * MiB, 1
    times = tuple(range(5000))
    timeline = MemoryTimeline(interval_ns=1, times_ns=times, rss_bytes=tuple(sizes), array_bytes=(None,) * 5000)
    found = timeline_chart(memory_profile(timeline=timeline))
    assert found is not None
    (process,) = found.series
    assert len(process.x) <= 302
    points = dict(zip(process.x, process.y, strict=True))
    assert (points[1234], points[4321]) == (8 * MiB, 1 - MiB)
    assert (process.x[0], process.x[-1]) == (0, 4999)


def test_where_nothing_was_seen_there_is_no_picture(memory_profile: Any) -> None:
    two = MemoryTimeline(interval_ns=1, times_ns=(0, 5), rss_bytes=(1, 1), array_bytes=(1, 1))
    blind = MemoryTimeline(interval_ns=1, times_ns=(0, 5, 9), rss_bytes=(None,) * 3, array_bytes=(1, None, None))
    at_once = MemoryTimeline(interval_ns=1, times_ns=(0, 0, 0), rss_bytes=(1, 1, 1), array_bytes=(1, 1, 1))
    assert [timeline_chart(memory_profile(timeline=each)) for each in (None, two, blind, at_once)] == [None] * 4
