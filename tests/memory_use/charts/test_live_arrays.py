"""The treemap of arrays by own bytes, with their names; a tile counts those that are left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.charts.chart_of import chart_of
from jaxmagic.memory_use.charts.live_arrays import arrays_chart
from jaxmagic.memory_use.record.live_arrays import HeldArray


def one(live_arrays: Any, size_bytes: int, name: str) -> HeldArray:
    (found,) = live_arrays((size_bytes, (name,))).arrays
    assert isinstance(found, HeldArray)
    return found


def area(tile: Any) -> float:
    return float((tile.x[1] - tile.x[0]) * (tile.y[1] - tile.y[0]))


def test_tiles_are_as_large_as_what_arrays_take(live_arrays: Any) -> None:
    found = arrays_chart(live_arrays((1024, ("b",)), (3072, ("a['w']", "c"))))
    assert found is not None
    assert [(each.name, pytest.approx(area(each))) for each in found.tiles] == [("a['w']", 0.75), ("b", 0.25)]
    assert found.tiles[0].lines[:2] == ("a['w'], c", "f32[768]  3.00 KiB")
    assert found.title == "arrays, 4.00 KiB in all"


def test_arrays_are_told_apart_by_the_variable_that_leads_to_them(live_arrays: Any) -> None:
    found = arrays_chart(live_arrays((4, ("p.x",)), (3, ("q[0]",)), (2, ("p['y']",)), (1, ())))
    assert found is not None
    assert found.kinds == ("p", "q", "no name")
    assert [each.kind for each in found.tiles] == [0, 1, 0, 2]


def test_only_so_many_variables_have_a_colour(live_arrays: Any) -> None:
    found = arrays_chart(live_arrays(*((9 - number, (f"v{number}",)) for number in range(9))))
    assert found is not None
    assert found.kinds == ("v0", "v1", "v2", "v3", "v4", "v5", "others")
    assert [each.kind for each in found.tiles] == [0, 1, 2, 3, 4, 5, 6, 6, 6]


def test_where_there_was_a_look_before_what_was_made_is_told_apart(live_arrays: Any) -> None:
    found = arrays_chart(live_arrays(replace(one(live_arrays, 2048, "y"), made=True), (1024, ("x",))))
    assert found is not None
    assert found.kinds == ("new", "existing")
    assert [each.kind for each in found.tiles] == [0, 1]


def test_many_small_arrays_share_a_tile(live_arrays: Any) -> None:
    found = arrays_chart(live_arrays(*((1000, (f"many[{number}]",)) for number in range(100))))
    assert found is not None
    assert len(found.tiles) == 81
    assert found.tiles[0].lines == ("20 more arrays", "19.5 KiB")
    assert found.kinds[found.tiles[0].kind] == "others"
    assert sum(map(area, found.tiles)) == pytest.approx(1)


def test_memory_that_is_shared_has_one_tile(live_arrays: Any) -> None:
    piece = replace(one(live_arrays, 1024, "piece"), shared_bytes=(("cpu:0", 1024),))
    found = arrays_chart(live_arrays((4096, ("whole",)), piece))
    assert found is not None
    assert [each.name for each in found.tiles] == ["whole"]


def test_where_there_is_nothing_that_is_said(live_arrays: Any) -> None:
    assert arrays_chart(live_arrays()) is None
    with pytest.raises(ValueError, match="no array takes any memory"):
        chart_of(live_arrays())
    assert chart_of(live_arrays((1, ("x",)))) == arrays_chart(live_arrays((1, ("x",))))
