"""The memory map as a picture: the schedule to the right, memory upwards, a rectangle for each buffer."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from .. import units
from ..model.chart import Box, Boxes, Mark, Scale, Series
from ..model.memory import Allocation, Buffer, Executable, MemoryProfile
from ..model.program import Kind
from .memory import held, live_bytes, planned

#: Kinds of allocations, from below to above. What the caller holds is the ground.
KINDS: tuple[Kind, ...] = ("argument", "output", "temporary")

#: Rectangles that are drawn, the largest ones: more are not seen, and a saved notebook has to hold them.
_MOST_BOXES = 400

#: Points of the curve.
_MOST_POINTS = 400


#: What tells rectangles apart by colour.
Colour = Literal["kind", "source line"]

#: Source lines that get a colour of their own; the others share one.
_MOST_SOURCES = 6
_OTHERS = "other lines"


def map_chart(program: Executable, colour: Colour = "kind", step: int | None = None) -> Boxes | None:
    """The memory map of a program; ``None`` where its allocations are not known, or it needs nothing.

    Args:
        program: whose.
        colour: what tells rectangles apart.
        step: the step that is marked, from 1 on; that of the peak if left out.
    """
    if not program.allocations or not program.steps:
        return None
    allocations = sorted(planned(program.allocations), key=lambda each: (KINDS.index(each.kind), -each.size_bytes))
    total = sum(each.size_bytes for each in allocations)
    if not total:
        return None
    kinds = KINDS if colour == "kind" else _sources(allocations)
    boxes = sorted(_boxes(allocations, kinds), key=lambda each: -(each.x[1] - each.x[0]) * (each.y[1] - each.y[0]))
    curve = live_bytes(program.allocations, program.steps)
    at, label = (curve.index(max(curve)) + 1, "peak ") if step is None else (step, "")
    left_out = len(boxes) - _MOST_BOXES
    return Boxes(
        title=f"memory map of {program.name}",
        x=Scale(label="step of the schedule", quantity="number", low=0.0, high=float(program.steps)),
        y=Scale(label="memory", quantity="size", low=0.0, high=float(total)),
        kinds=tuple(kinds),
        boxes=tuple(boxes[:_MOST_BOXES]),
        curve=_curve(curve),
        mark=Mark(label=f"{label}{units.size(curve[at - 1])} at step", at=float(at)),
        note=f"{units.count(left_out, 'smaller buffer')} not drawn" if left_out > 0 else "",
    )


def memory_map_of(profile: MemoryProfile) -> Boxes | None:
    """The map of the hungriest program that has one."""
    return next((found for each in profile.executables if (found := map_chart(each)) is not None), None)


def _sources(allocations: Sequence[Allocation]) -> list[str]:
    """The lines whose buffers take most, for longest, and a name for the rest."""
    taken: Counter[str] = Counter()
    for allocation in allocations:
        for each in allocation.buffers:
            taken[_source(each)] += each.size_bytes * (each.last - each.first + 1)
    return [*(name for name, _ in taken.most_common(_MOST_SOURCES) if name != _OTHERS), _OTHERS]


def _source(buffer: Buffer) -> str:
    return os.path.basename(buffer.source) if buffer.source else _OTHERS


def _boxes(allocations: list[Allocation], kinds: Sequence[str]) -> Iterator[Box]:
    ground = 0
    for allocation in allocations:
        for buffer, last in held(allocation):
            low = ground + buffer.offset_bytes
            yield Box(
                x=(float(buffer.first), float(last + 1)),
                y=(float(low), float(low + buffer.size_bytes)),
                kind=_number(kinds, allocation, buffer),
                lines=tuple(_lines(allocation, buffer)),
            )
        ground += allocation.size_bytes


def _number(kinds: Sequence[str], allocation: Allocation, buffer: Buffer) -> int:
    if kinds is KINDS:
        return KINDS.index(allocation.kind)
    source = _source(buffer)
    return kinds.index(source) if source in kinds else len(kinds) - 1


def _lines(allocation: Allocation, buffer: Buffer) -> Iterator[str]:
    yield f"{buffer.instruction}  {buffer.shape}  {units.size(buffer.size_bytes)}"
    if buffer.op_name:
        yield buffer.op_name
    if buffer.source:
        yield buffer.source
    kind = "donated argument" if allocation.aliased else allocation.kind
    yield f"{kind}, steps {buffer.first + 1} to {buffer.last + 1}"


def _curve(live: list[int]) -> Series:
    """The curve of live bytes; where it has more steps than are seen, the most of each stretch."""
    width = -(-len(live) // _MOST_POINTS)
    places = range(0, len(live), width)
    most = [max(live[at : at + width]) for at in places]
    return Series(
        name="live",
        x=(*(float(at) for at in places), float(len(live))),
        y=(*(float(each) for each in most), float(most[-1])),
        hue=7,
        step=True,
    )
