"""Draws the memory of arrays after each cell of a session."""

from __future__ import annotations

from collections.abc import Sequence

from ... import units
from ...charts.curves import Curves, Series
from ...charts.scale import Scale
from ..record.cells import CellMemory


def cells_chart(cells: Sequence[CellMemory]) -> Curves | None:
    """Draw the bytes of live arrays after each cell, in the order of the runs; ``None`` for fewer than two.

    >>> cells_chart([CellMemory(cell=4, array_bytes=100), CellMemory(cell=4, array_bytes=300)]).series[0].y
    (100.0, 300.0)
    """
    if len(cells) < 2:
        return None
    sizes = [float(each.array_bytes) for each in cells]
    places = tuple(map(float, range(len(cells))))
    names = tuple("" if each.cell is None else f"[{each.cell}]" for each in cells)
    return Curves(
        title=f"arrays after each cell, {units.size(sizes[-1])} now",
        x=Scale(label="cell", quantity="name", low=-0.5, high=len(cells) - 0.5, names=names),
        y=Scale(label="arrays", quantity="size", low=0.0, high=max(*sizes, 1024.0) * 1.06),
        series=(Series(name="arrays", x=places, y=tuple(sizes), points=len(cells) <= 60),),
    )
