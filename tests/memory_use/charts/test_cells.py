"""The chart of the memory of arrays after each cell."""

from __future__ import annotations

from jaxmagic.memory_use.charts.cells import cells_chart
from jaxmagic.memory_use.record.cells import CellMemory


def test_cells_stand_in_the_order_in_which_they_ran() -> None:
    found = cells_chart(
        [CellMemory(cell=number, array_bytes=size) for number, size in ((3, 10), (4, 2**20), (None, 20))]
    )
    assert found is not None
    assert found.x.names == ("[3]", "[4]", "")
    assert found.series[0].y == (10, 2**20, 20)
    assert found.y.low == 0
    assert found.y.high > 2**20
    assert found.title == "arrays after each cell, 20 B now"


def test_of_one_cell_there_is_no_course() -> None:
    assert cells_chart([]) is None
    assert cells_chart([CellMemory(cell=1, array_bytes=5)]) is None


def test_cells_without_arrays_have_an_axis() -> None:
    found = cells_chart([CellMemory(cell=1, array_bytes=0), CellMemory(cell=2, array_bytes=0)])
    assert found is not None
    assert found.y.high > 0
