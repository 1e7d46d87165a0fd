"""The memory map as a picture: the schedule to the right, memory upwards, a rectangle for each buffer."""

from __future__ import annotations

from collections.abc import Iterator

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


def map_chart(program: Executable) -> Boxes | None:
    """The memory map of a program; ``None`` where its allocations are not known, or it needs nothing."""
    if not program.allocations or not program.steps:
        return None
    allocations = sorted(planned(program.allocations), key=lambda each: (KINDS.index(each.kind), -each.size_bytes))
    total = sum(each.size_bytes for each in allocations)
    if not total:
        return None
    boxes = sorted(_boxes(allocations), key=lambda each: -(each.x[1] - each.x[0]) * (each.y[1] - each.y[0]))
    curve = live_bytes(program.allocations, program.steps)
    peak = curve.index(max(curve))
    left_out = len(boxes) - _MOST_BOXES
    return Boxes(
        title=f"memory map of {program.name}",
        x=Scale(label="step of the schedule", quantity="number", low=0.0, high=float(program.steps)),
        y=Scale(label="memory", quantity="size", low=0.0, high=float(total)),
        kinds=tuple(kind for kind in KINDS),
        boxes=tuple(boxes[:_MOST_BOXES]),
        curve=_curve(curve),
        mark=Mark(label=f"peak {units.size(curve[peak])} at step", at=float(peak + 1)),
        note=f"{units.count(left_out, 'smaller buffer')} not drawn" if left_out > 0 else "",
    )


def memory_map_of(profile: MemoryProfile) -> Boxes | None:
    """The map of the hungriest program that has one."""
    return next((found for each in profile.executables if (found := map_chart(each)) is not None), None)


def _boxes(allocations: list[Allocation]) -> Iterator[Box]:
    ground = 0
    for allocation in allocations:
        for buffer, last in held(allocation):
            low = ground + buffer.offset_bytes
            yield Box(
                x=(float(buffer.first), float(last + 1)),
                y=(float(low), float(low + buffer.size_bytes)),
                kind=KINDS.index(allocation.kind),
                lines=tuple(_lines(allocation, buffer)),
            )
        ground += allocation.size_bytes


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
