"""Draws memory use while code ran, as growth since the start, and when something compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ... import units
from ...charts.curves import Band, Curves, Series
from ...charts.scale import Scale
from ...compilation.record.compilation import Compilation
from ..record.memory_profile import MemoryProfile
from ..record.usage import MemoryTimeline

#: A long column is split into this many intervals, of which the lowest and the highest sample are drawn.
_INTERVALS = 150

#: Number of compilations that are drawn, the longest ones.
_MOST_BANDS = 60

#: Smallest distance of the edges of the chart from its lowest and highest point.
_LEAST_BYTES = 1024

#: Memory of a device is handed out when a program is enqueued, and temporaries are taken back right after.
_WHEN = "memory of devices follows dispatch, not execution"


def timeline_chart(profile: MemoryProfile) -> Curves | None:
    """Chart the memory of process, arrays and devices while the code ran; ``None`` if nothing changed.

    Each curve is relative to its first sample, because the process is a hundred times as large as what a cell adds to
    it. Bands show compilations.
    """
    timeline = profile.timeline
    if timeline is None or timeline.times_ns[-1] <= 0:
        return None
    columns = {"process": timeline.rss_bytes, "arrays": timeline.array_bytes, **timeline.device_bytes}
    drawn = [(name, samples) for name, column in columns.items() if len(samples := _samples(timeline, column)) > 2]
    if all(size == samples[0][1] for _, samples in drawn for _, size in samples):
        return None
    series = tuple(_series(name, hue, samples) for hue, (name, samples) in enumerate(drawn))
    label = "growth" if len(series) > 1 else f"growth of {drawn[0][0]}"  # one curve has no legend
    heights = [y for each in series for y in each.y if y is not None]
    low, high = min(heights), max(heights)
    room = max((high - low) * 0.06, _LEAST_BYTES)
    end = float(timeline.times_ns[-1])
    return Curves(
        title="memory while the code ran",
        x=Scale(label="time", quantity="time", low=0.0, high=end),
        y=Scale(label=label, quantity="size", low=low - room, high=high + room),
        series=series,
        bands=tuple(_bands(profile.timing.compilations, timeline.clock_ns, end)),
        bands_name="compiling",
        note=_WHEN if any(name in timeline.device_bytes for name, _ in drawn) else "",
    )


def _samples(timeline: MemoryTimeline, column: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return times and sizes of a column, without missing samples; for a long column, the extremes of intervals."""
    samples = [(at, size) for at, size in zip(timeline.times_ns, column, strict=True) if size is not None]
    if len(samples) <= 2 * _INTERVALS:
        return samples
    edges = [len(samples) * number // _INTERVALS for number in range(_INTERVALS + 1)]
    kept = {0, len(samples) - 1}
    for first, end in pairwise(edges):
        interval = range(first, end)
        kept |= {min(interval, key=lambda at: samples[at][1]), max(interval, key=lambda at: samples[at][1])}
    return [samples[at] for at in sorted(kept)]


def _series(name: str, hue: int, samples: Sequence[tuple[int, int]]) -> Series:
    first_bytes = samples[0][1]
    return Series(
        name=f"{name}, from {units.size(first_bytes)}",
        x=tuple(float(at) for at, _ in samples),
        y=tuple(float(size - first_bytes) for _, size in samples),
        hue=hue,
        points=len(samples) <= 40,
    )


def _bands(compilations: Sequence[Compilation], clock_ns: int, end: float) -> Iterator[Band]:
    """Yield a band for each of the longest compilations, on the time axis of the timeline."""
    timed = [(each, each.began_ns, each.ended_ns) for each in compilations]
    known = [(each, began, ended) for each, began, ended in timed if began is not None and ended is not None]
    for each, began, ended in sorted(known, key=lambda item: item[1] - item[2])[:_MOST_BANDS]:
        low, high = max(0.0, float(began + clock_ns)), min(float(ended + clock_ns), end)
        if low < high:
            yield Band(low=low, high=high, tip=f"compiling {each.function}: {units.time(each.total_ns)}")
