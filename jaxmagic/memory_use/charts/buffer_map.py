"""Draws the memory map: steps of the schedule to the right, memory upwards, a rectangle for each buffer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from ... import units
from ...charts.areas import Box, Boxes
from ...charts.box_thinning import MOST_STILL, thinned
from ...charts.curves import Mark, Series
from ...charts.scale import Scale
from ...records.paths import short_source
from ...xla.buffer_assignment import Kind
from ..analysis.buffer_map import held, live_bytes, planned
from ..analysis.origin import has_backward, origin
from ..record.memory_profile import Allocation, Buffer, Executable, MemoryProfile

#: Kinds of allocations from bottom to top, beginning with the caller's memory.
KINDS: tuple[Kind, ...] = ("argument", "output", "temporary")

#: Largest number of rectangles of a map that can be zoomed: few enough in a report to keep notebooks small, and in a
#: view to draw without delay.
MOST_IN_REPORT = 2_000
MOST_IN_VIEW = 10_000

#: The property of buffers that colours show.
Colour = Literal["kind", "source line"]

#: Number of source lines with a colour of their own; the others share one.
_MOST_SOURCES = 6
_OTHERS = "other lines"


def map_chart(
    program: Executable, colour: Colour = "kind", *, unit: str | None = None, most: int = MOST_STILL
) -> Boxes | None:
    """Draw the memory map of a program; ``None`` if its allocations are unknown, or it needs no memory.

    Args:
        program: the program.
        colour: the property of buffers that colours show.
        unit: unit of memory, such as ``"MiB"``; chosen by size if left out.
        most: number of rectangles at most, the largest ones, and of points of the curve.
    """
    if not has_map(program) or program.allocations is None or program.steps is None:
        return None
    allocations = sorted(planned(program.allocations), key=lambda each: (KINDS.index(each.kind), -each.size_bytes))
    total = sum(each.size_bytes for each in allocations)
    kinds = KINDS if colour == "kind" else _sources(allocations)
    boxes = sorted(_boxes(allocations, kinds, has_backward(program)), key=_area, reverse=True)
    curve = live_bytes(program.allocations, program.steps)
    peak_bytes = max(curve)
    left_out = len(boxes) - most
    return Boxes(
        title=f"memory map of {program.name}",
        x=Scale(label="step of the schedule", quantity="number", low=0.0, high=float(program.steps)),
        y=Scale(label="memory", quantity="size", low=0.0, high=float(total), unit=unit),
        kinds=tuple(kinds),
        boxes=tuple(boxes[:most]),
        curve=_curve(curve, most),
        mark=Mark(label=f"peak {_size(peak_bytes, unit)} at step", at=float(curve.index(peak_bytes) + 1)),
        note=f"{units.count(left_out, 'smaller buffer')} not drawn" if left_out > 0 else "",
    )


def has_map(program: Executable) -> bool:
    """Return whether the allocations of a program are known, and take memory."""
    return bool(program.steps) and any(each.size_bytes for each in planned(program.allocations or ()))


def mapped(profile: MemoryProfile) -> Executable | None:
    """Return the program that needs most memory, of those that have a map."""
    return next(filter(has_map, profile.executables), None)


def _sources(allocations: Sequence[Allocation]) -> list[str]:
    """Return the source lines with the largest areas of the map, and a name for all others."""
    areas: Counter[str] = Counter()
    for allocation in allocations:
        for each in allocation.buffers:
            areas[_source(each)] += each.size_bytes * (each.last - each.first + 1)
    return [*(name for name, _ in areas.most_common(_MOST_SOURCES) if name != _OTHERS), _OTHERS]


def _source(buffer: Buffer) -> str:
    return short_source(buffer.source) if buffer.source else _OTHERS


def _boxes(allocations: list[Allocation], kinds: Sequence[str], has_backward: bool) -> Iterator[Box]:
    base = 0
    for allocation in allocations:
        for buffer in held(allocation):
            low = base + buffer.offset_bytes
            yield Box(
                x=(float(buffer.first), float(buffer.last + 1)),
                y=(float(low), float(low + buffer.size_bytes)),
                kind=_number(kinds, allocation, buffer),
                lines=tuple(_lines(allocation, buffer, has_backward)),
            )
        base += allocation.size_bytes


def _number(kinds: Sequence[str], allocation: Allocation, buffer: Buffer) -> int:
    if kinds is KINDS:
        return KINDS.index(allocation.kind)
    source = _source(buffer)
    return kinds.index(source) if source in kinds else len(kinds) - 1


def _lines(allocation: Allocation, buffer: Buffer, has_backward: bool) -> Iterator[str]:
    yield f"{buffer.instruction}  {buffer.shape}"
    yield origin(allocation, buffer, has_backward)
    yield " in ".join(filter(None, (short_source(buffer.source or ""), buffer.inside)))
    yield "donated argument" if allocation.aliased else allocation.kind


def _area(box: Box) -> float:
    return (box.x[1] - box.x[0]) * (box.y[1] - box.y[0])


def _size(size_bytes: int, unit: str | None) -> str:
    return units.size(size_bytes) if unit is None else units.size_in(size_bytes, unit)


def _curve(live: Sequence[int], most_points: int) -> Series:
    """Draw live bytes as a curve that is constant within each step."""
    x = (*(float(at) for at in range(len(live))), float(len(live)))
    whole = Series(name="live", x=x, y=(*map(float, live), float(live[-1])), hue=7, step=True)
    return thinned(whole, most_points)
