"""What was used of the memory while code ran, as a picture: how much more than at the start, and what compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ... import units
from ...charts.curves import Band, Curves, Series
from ...charts.scale import Scale
from ...compilation.record.compilation import Compilation
from ..record.memory_profile import MemoryProfile
from ..record.usage import MemoryTimeline

#: Of a long column the lowest and the highest sample of each of so many stretches are drawn.
_STRETCHES = 150

#: Compilations that are drawn, the longest ones.
_MOST_BANDS = 60

#: Less than this between the lowest and the highest point is drawn as next to nothing.
_LEAST_BYTES = 1024


def timeline_chart(profile: MemoryProfile) -> Curves | None:
    """Chart the memory of process, arrays and devices while the code ran; ``None`` if nothing changed.

    Each curve counts from its first sample, because the process is a hundred times as large as what a cell adds to
    it. Where compiling went on, there is a band.
    """
    timeline = profile.timeline
    if timeline is None or timeline.times_ns[-1] <= 0:
        return None
    columns = {"process": timeline.rss_bytes, "arrays": timeline.array_bytes, **timeline.device_bytes}
    drawn = [(name, found) for name, column in columns.items() if len(found := _seen(timeline, column)) > 2]
    if not drawn:
        return None
    if all(size == found[0][1] for _, found in drawn for _, size in found):
        return None
    series = tuple(_series(name, hue, found) for hue, (name, found) in enumerate(drawn))
    label = "more than at the start" if len(series) > 1 else f"{drawn[0][0]}, more than at first"  # without a legend
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
    )


def _seen(timeline: MemoryTimeline, column: Sequence[int | None]) -> list[tuple[int, int]]:
    """The samples of a column in which it was looked at; of many, those that stand out."""
    found = [(at, size) for at, size in zip(timeline.times_ns, column, strict=True) if size is not None]
    if len(found) <= 2 * _STRETCHES:
        return found
    edges = [len(found) * number // _STRETCHES for number in range(_STRETCHES + 1)]
    kept = {0, len(found) - 1}
    for first, end in pairwise(edges):
        stretch = range(first, end)
        kept |= {min(stretch, key=lambda at: found[at][1]), max(stretch, key=lambda at: found[at][1])}
    return [found[at] for at in sorted(kept)]


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
    """Find when each program was compiled, on the axis of the timeline."""
    timed = [(each, each.began_ns, each.ended_ns) for each in compilations]
    known = [(each, began, ended) for each, began, ended in timed if began is not None and ended is not None]
    for each, began, ended in sorted(known, key=lambda item: item[1] - item[2])[:_MOST_BANDS]:
        low, high = max(0.0, float(began + clock_ns)), min(float(ended + clock_ns), end)
        if low < high:
            yield Band(low=low, high=high, tip=f"compiling {each.function}: {units.time(each.total_ns)}")
