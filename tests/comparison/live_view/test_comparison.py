"""A comparison's live view, its controls moved as a reader moves them."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from typing import Any

import pytest
from pages import breakable
from settings import live_widgets

import jaxmagic
from jaxmagic import units
from jaxmagic.comparison.live_view.comparison import ComparisonView
from jaxmagic.comparison.record.comparison import Comparison


def shown(view: Any) -> str:
    return "".join(str(each["data"]["text/html"]) for each in (*view.answer.outputs, *view.screen.outputs))


def picture(view: Any) -> str:
    """The text of the picture, out of its image."""
    found = re.search(r"base64,([^\"]+)", shown(view))
    assert found
    return base64.b64decode(found[1]).decode()


def test_it_shows_the_ratios_and_the_report_without_a_second_picture(comparison: Comparison) -> None:
    view = ComparisonView(comparison)
    assert shown(view).count("<img") == 1
    assert "jit is 2.00x faster" in shown(view)
    assert "time relative to numpy" in picture(view)


def test_another_baseline_turns_the_ratios_round(comparison: Comparison) -> None:
    view = ComparisonView(comparison)
    view.baseline.value = "jit"
    assert "jit is 2.00x faster" in shown(view)
    assert "time relative to jit" in picture(view)


@pytest.mark.parametrize("drawn", ["ratios", "times", "distributions"])
@pytest.mark.parametrize("metric", ["latency", "pipelined", "first call", "compile"])
def test_every_choice_shows_something(comparison: Comparison, drawn: str, metric: str) -> None:
    view = ComparisonView(comparison)
    view.drawn.value, view.metric.value = drawn, metric
    log = shown(view)
    view.scale.value = "linear"
    assert "Traceback" not in log + shown(view)
    if drawn != "distributions" and metric == "pipelined":
        assert "pipelined" in shown(view)  # was not measured, and is said not to be
    elif (drawn, metric) == ("ratios", "compile"):
        assert "numpy has no compile to compare with" in shown(view)
    else:
        assert "<img" in shown(view)


def test_a_statistic_is_that_of_the_samples(comparison: Comparison) -> None:
    view = ComparisonView(comparison)
    view.drawn.value = "times"
    calls = comparison.candidate("jit").latency.calls_ns
    for statistic, time_ns in (("minimum", min(calls)), ("mean", sum(calls) / len(calls))):
        view.statistic.value = statistic
        assert f"{statistic} latency: {units.time(time_ns)}" in picture(view)


def test_a_candidate_that_is_left_out_is_not_drawn(comparison: Comparison) -> None:
    view = ComparisonView(comparison)
    view.shown["numpy"].value = False
    for drawn in ("ratios", "times", "distributions"):
        view.drawn.value = drawn
        assert 'data-button="numpy"' not in picture(view)
        assert ">numpy<" not in picture(view)
    view.shown["jit"].value = False
    assert "every candidate is hidden. Tick one" in shown(view)


def test_measuring_again_shows_the_new_record_and_how_far_it_is(comparison: Comparison) -> None:
    asked: list[float] = []
    told: list[float] = []

    def measure(budget_s: float, tell: Any = None) -> Comparison:
        asked.append(budget_s)
        tell(0.5)
        told.append(view.progress.value)
        assert view.again.disabled
        return replace(comparison, rtol=0.5, measure_again=measure)

    view = ComparisonView(replace(comparison, measure_again=measure))
    assert view.budget.value == 2
    view.budget.value = 3
    view.again.click()
    assert (asked, told) == ([3], [0.5])
    assert view.record.rtol == 0.5
    assert "until every ratio was known to 50 %" in breakable(shown(view))
    assert not view.again.disabled
    assert view.progress.layout.visibility == "hidden"


def test_an_error_is_shown_where_the_reader_looks(comparison: Comparison) -> None:
    def measure(budget_s: float, tell: Any = None) -> Comparison:
        raise RuntimeError("<no room>")

    view = ComparisonView(replace(comparison, measure_again=measure))
    view.again.click()
    assert "RuntimeError: &lt;no room&gt;" in shown(view)
    assert not view.again.disabled
    view.drawn.value = "times"
    assert "RuntimeError" not in shown(view)


def test_a_record_that_was_loaded_says_that_it_cannot_be_measured_again(comparison: Comparison) -> None:
    view = ComparisonView(comparison)
    assert view.again.disabled
    assert "loaded" in view.again.tooltip


def test_every_control_has_a_label(comparison: Comparison) -> None:
    view = ComparisonView(comparison)
    controls = [view.baseline, view.drawn, view.metric, view.statistic, view.scale, view.budget, view.again]
    assert all(each.description for each in [*controls, *view.shown.values()])


def test_the_real_thing_measures_again() -> None:
    record = jaxmagic.compare({"one": lambda: 1, "two": lambda: sum(range(500))}, budget_s=0.1)
    view = jaxmagic.explore(record)
    before = view.record.started_at
    view.budget.value = 0.2
    view.again.click()
    assert view.record.budget_ns == 200_000_000
    assert view.record.started_at >= before
    assert view.record is not record


def test_a_view_that_is_closed_leaves_nothing_in_the_kernel(comparison: Comparison) -> None:
    before = set(live_widgets())
    view = ComparisonView(comparison)
    assert set(live_widgets()) > before
    view.close()
    assert set(live_widgets()) == before


def test_memory_is_drawn_against_time_where_it_is_known(comparison: Comparison, executable: Any) -> None:
    assert "memory against time" not in ComparisonView(comparison).drawn.options
    candidates = tuple(replace(each, memory=executable()) for each in comparison.candidates)
    view = ComparisonView(replace(comparison, candidates=candidates))
    view.drawn.value = "memory against time"
    assert "peak memory" in picture(view)
    assert view.metric.disabled
    assert view.statistic.disabled
    view.shown["jit"].value = False
    assert 'data-curve="jit"' not in picture(view)


def test_where_it_is_not_known_any_more_that_is_said(comparison: Comparison, executable: Any) -> None:
    candidates = tuple(replace(each, memory=executable()) for each in comparison.candidates)
    view = ComparisonView(replace(comparison, candidates=candidates))
    view.record = comparison
    view.drawn.value = "memory against time"
    assert "the memory of fewer than two candidates is known" in shown(view)
