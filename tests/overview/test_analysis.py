"""The timings of a session are filtered and sorted."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.overview.analysis import choose, functions, runs
from jaxmagic.overview.charts import runs_chart


def session(timing: Any, compilation: Any) -> list[Any]:
    return [
        timing(code="f(x)"),
        timing(compilation(function="step"), code="step(x)"),
        timing(compilation(function="init"), compilation(function="step"), code="init(); step(x)"),
    ]


def test_first_calls_of_what_was_repeated_are_runs_too(timing: Any, benchmark: Any, comparison: Any) -> None:
    found = runs([timing(code="a\nb"), benchmark, comparison])
    assert [each.number for each in found] == [0, 1, 2, 2]
    assert found[0].name == "a b"
    assert found[2].name == "numpy (first call)"
    assert found[1].timing is benchmark.first_call


def test_orders_and_filters(timing: Any, compilation: Any) -> None:
    found = runs(session(timing, compilation))
    assert functions(found) == ["init", "step"]
    assert [each.number for each in choose(found)] == [2, 1, 0]
    assert [each.number for each in choose(found, order="oldest first")] == [0, 1, 2]
    assert [each.number for each in choose(found, function="step", order="oldest first")] == [1, 2]
    assert [each.number for each in choose(found, text="INIT")] == [2]
    longest = choose(found, order="longest first")
    assert [each.timing.wall_ns for each in longest] == sorted((each.timing.wall_ns for each in found), reverse=True)


def test_bars_are_the_parts_of_each_wall_time(timing: Any, compilation: Any) -> None:
    found = runs(session(timing, compilation))
    for run, bar in zip(found, runs_chart(found).bars, strict=True):
        assert sum(size for _, size in bar.parts) == run.timing.wall_ns
    for bar in runs_chart(found, unit="share").bars:
        assert sum(size for _, size in bar.parts) == pytest.approx(1)
    assert {name for bar in runs_chart(found, stage="wait").bars for name, _ in bar.parts} <= {"wait"}


def test_one_function_is_told_by_its_stages(timing: Any, compilation: Any) -> None:
    found = choose(runs(session(timing, compilation)), function="step")
    (one, *_) = found[0].timing.compilations
    bars = runs_chart(found, function="step").bars
    assert dict(bars[0].parts)["XLA"] == one.compilation_ns
    assert "wait" not in dict(bars[0].parts)


def test_nothing_to_draw_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="time something with %jaxtime"):
        runs_chart([])
