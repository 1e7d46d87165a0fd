"""A sweep's live view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ipywidgets

from jaxmagic.comparison.live_view.comparison import ComparisonView
from jaxmagic.comparison.live_view.sweep import SweepView
from jaxmagic.comparison.record.sweep import Sweep


def test_a_point_is_opened_as_a_comparison_and_closed_again(sweep: Sweep) -> None:
    view = SweepView(sweep)
    assert [label for label, _ in view.point.options] == [
        "all",
        *(f"n = {n}" for n in (8, 16, 32, 64, 128, 256, 512, 1024)),
    ]
    assert "jit overtakes numpy" in view.answer.outputs[0]["data"]["text/html"]
    mine = ipywidgets.IntSlider()
    view.point.value = sweep.points[2]
    view.point.value = sweep.points[3]
    assert mine.comm is not None
    assert view.comm is not None
    (opened,) = view.place.children
    assert isinstance(opened, ComparisonView)
    assert opened.record == sweep.points[3].comparison
    view.point.value = None
    assert view.place.children == (view.screen,)
    assert opened.comm is None  # closed: no model is left in the kernel


def test_memory_is_drawn_against_time_where_it_is_known(sweep: Any, executable: Any) -> None:
    def weigh(point: Any) -> Any:
        if point.comparison is None:
            return point
        candidates = tuple(replace(each, memory=executable()) for each in point.comparison.candidates)
        return replace(point, comparison=replace(point.comparison, candidates=candidates))

    assert SweepView(sweep).drawn.options == ("times",)
    view = SweepView(replace(sweep, points=tuple(map(weigh, sweep.points))))
    view.drawn.value = "memory against time"
    (output,) = view.screen.outputs
    assert 'alt="memory against time"' in output["data"]["text/html"]
    view.point.value = view.point.options[1][1]
    assert view.drawn.disabled
