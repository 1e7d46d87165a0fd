"""Validation of chart descriptions."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.charts.areas import Cell, Flame
from jaxmagic.charts.curves import Series
from jaxmagic.charts.scale import Scale
from jaxmagic.charts.spec import Bar, Bars


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        (Scale, {"low": 2.0, "high": 2.0}, "axis: expected low below high, got 2.0 to 2.0"),
        (Scale, {"low": 0.0, "high": 2.0, "log": True}, "logarithmic axis: expected low above 0, got 0.0"),
        (Series, {"y": (1.0,)}, "expected equal lengths, got \\[1, 2\\]"),
        (Series, {"low": (1.0, 2.0)}, "expected both ends of the interval or neither, got one"),
    ],
)
def test_what_cannot_be_drawn_is_refused(kind: Any, changes: Any, message: str) -> None:
    fits: dict[Any, Any] = {
        Scale: {"label": "n", "quantity": "number", "low": 1.0, "high": 2.0},
        Series: {"name": "f", "x": (1.0, 2.0), "y": (1.0, 2.0)},
    }
    kind(**fits[kind])
    with pytest.raises(ValueError, match=message):
        kind(**fits[kind] | changes)


@pytest.mark.parametrize(
    ("quantity", "low", "high", "switchable"),
    [
        ("time", 1.0, 2.0, True),
        ("time", 1.0, 1.9, False),  # would look the same on both scales
        ("time", 0.0, 9.0, False),
        ("ratio", 0.5, 2.0, True),
        ("share", 0.1, 1.0, False),
        ("name", 1.0, 5.0, False),
    ],
)
def test_an_axis_is_switched_where_that_shows_something_else(
    quantity: Any, low: float, high: float, switchable: bool
) -> None:
    assert Scale(label="", quantity=quantity, low=low, high=high).switchable is switchable


def test_a_gap_in_either_direction_parts_a_curve() -> None:
    series = Series(name="f", x=(None, 1.0, 2.0, 3.0), y=(1.0, 2.0, None, 4.0))
    assert series.runs == (range(1, 2), range(3, 4))


def test_parts_are_named_once_in_the_order_in_which_they_are_met() -> None:
    bars = (Bar(name="", parts=(("host", 1.0), ("wait", 2.0))), Bar(name="", parts=(("trace", 1.0), ("host", 2.0))))
    scale = Scale(label="time", quantity="time", low=0.0, high=3.0)
    assert Bars(title="", x=scale, bars=bars).names == ("host", "wait", "trace")


def test_a_flame_graph_has_as_many_levels_as_its_deepest_call() -> None:
    scale = Scale(label="memory", quantity="size", low=0.0, high=3.0)
    whole, deep = Cell(x=(0.0, 3.0), level=0, name="all", lines=()), Cell(x=(0.0, 1.0), level=4, name="f", lines=())
    assert Flame(title="", x=scale, cells=(deep, whole)).levels == 5
    assert Flame(title="", x=scale, cells=()).levels == 1
