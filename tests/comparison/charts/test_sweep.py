"""The picture of a sweep: an axis without empty places, and a panel for each value of a second variable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.comparison import grid_of, without_end

from jaxmagic.charts.curves import Curves
from jaxmagic.charts.spec import Multiples
from jaxmagic.comparison.charts.sweep import _along, _series, sweep_chart, times_chart
from jaxmagic.comparison.record.curve import Variable
from jaxmagic.drawing.axis import ticks


def test_what_was_not_measured_leaves_no_empty_axis_and_is_said(sweep: Any) -> None:
    found = sweep_chart(without_end(sweep))
    assert isinstance(found, Curves)
    assert 64 < found.x.high < 80  # the planned ones go to 2048
    assert found.note == "5 larger values not measured →"
    whole = sweep_chart(sweep)
    assert isinstance(whole, Curves)
    assert 1024 < whole.x.high < 1500
    assert whole.note == "2048 not measured →"


def test_the_times_alone_are_drawn_without_the_time_of_compiling(sweep: Any) -> None:
    both, times = sweep_chart(sweep), times_chart(sweep)
    assert isinstance(both, Curves)
    assert isinstance(times, Curves)
    assert [each.name for each in both.series] == ["numpy", "jit", "jit: compile"]
    assert [each.name for each in times.series] == ["numpy", "jit"]
    assert (both.title, times.title) == ("time of a call, and compile time", "time of a call")
    assert times.y.low > 0
    assert [each.get_label() for each in sweep.figure("times").axes[0].lines if "compile" in each.get_label()] == []


def test_a_second_variable_is_a_panel_for_each_of_its_values_on_the_same_axes(sweep: Any, executable: Any) -> None:
    record = grid_of(sweep, executable())
    found = sweep_chart(record)
    assert isinstance(found, Multiples)
    assert found.title == "time of a call"  # a small panel has no curves of compile times
    assert [each.title for each in found.panels] == ["dtype=float32", "dtype=bfloat16"]
    assert len({(each.x, each.y) for each in found.panels}) == 1
    for panel in found.panels:
        assert [each.name for each in panel.series] == ["numpy", "jit"]
        assert [each.label for each in panel.marks] == ["jit overtakes numpy near"]


def test_ticks_stand_at_the_values_of_the_sweep_and_doublings_are_equally_far_apart(sweep: Any) -> None:
    found = sweep_chart(sweep)
    assert isinstance(found, Curves)
    assert found.x.log
    measured = {x for each in found.series for x in each.x}
    marked = [value for value, _ in ticks(found.x, log=True)]
    assert {min(measured), max(measured)} <= set(marked) <= measured
    assert [label for _, label in ticks(found.x, log=True)] == [f"{value:g}" for value in marked]


@pytest.mark.parametrize(("numbers", "log"), [((64, 128, 256), True), ((10, 20, 30), False)])
def test_a_factor_of_four_makes_a_logarithmic_axis(numbers: tuple[int, ...], log: bool) -> None:
    variable = Variable(name="n", labels=tuple(map(str, numbers)), numbers=tuple(map(float, numbers)))
    axis = _along(variable, dict(enumerate(map(float, numbers))))
    assert axis.log is log
    assert [value for value, _ in ticks(axis, log=log)] == list(numbers)


def test_a_time_without_an_interval_is_drawn_without_one(sweep: Any) -> None:
    """Of fewer than six rounds, the interval is not known: a band of no width would look certain."""
    curve = sweep.curves[0]
    last = replace(curve.times[-1], confidence=0.0)
    (drawn,) = _series([replace(curve, times=(*curve.times[:-1], last))], dict.fromkeys(curve.positions, 1.0), False)
    assert drawn.low is not None
    assert drawn.high is not None
    assert (drawn.low[-1], drawn.high[-1]) == (None, None)
    assert drawn.y[-1] == last.value
    assert drawn.bands_of(range(len(drawn.x))) == (range(len(drawn.x) - 1),)
