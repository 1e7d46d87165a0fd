"""The chart of device time by source line has the times of the listing."""

from __future__ import annotations

import io

import pytest
from recordings import trace

import jaxmagic
from jaxmagic.charts.spec import Bars
from jaxmagic.profiling.analysis.operations import parts
from jaxmagic.profiling.analysis.source_lines import line_times
from jaxmagic.profiling.charts import lines
from jaxmagic.profiling.charts.lines import lines_chart


def chart(name: str) -> Bars:
    found = lines_chart(jaxmagic.read_profile(trace(name)))
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["tpu_v6e_4dev_inference", "gpu_h200_without_graphs"])
def test_bars_are_the_times_by_line_and_what_has_no_line(name: str) -> None:
    profile = jaxmagic.read_profile(trace(name))
    times = {
        "without a line" if each.frame is None else each.frame.location.rpartition("/")[2]: each.time_ns
        for each in line_times(profile)
        if each.time_ns
    }
    sizes = {each.name.partition("  ")[0]: sum(size for _, size in each.parts) for each in chart(name).bars}
    assert sizes == {name: pytest.approx(time_ns / parts(profile)) for name, time_ns in times.items()}
    assert sum(sizes.values()) == pytest.approx(profile.device_ns / parts(profile))
    assert [*sizes][-1] == "without a line"


def test_lines_beyond_the_most_are_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = chart("tpu_v6e_4dev_inference")
    monkeypatch.setattr(lines, "_MOST_LINES", 1)
    first, others, nowhere = chart("tpu_v6e_4dev_inference").bars
    assert (first, nowhere) == (whole.bars[0], whole.bars[-1])
    assert others.name == f"{len(whole.bars) - 2} other lines"
    assert others.parts[0][1] == pytest.approx(sum(each.parts[0][1] for each in whole.bars[1:-1]))


def test_the_figure_names_the_lines() -> None:
    figure = jaxmagic.read_profile(trace("gpu_h200_without_graphs")).figure("lines")
    figure.savefig(io.BytesIO(), format="svg")
    (axes,) = figure.axes
    assert [each.get_text().partition("  ")[0] for each in axes.get_yticklabels()] == [
        "profile_checks.py:28",
        "without a line",
    ]
