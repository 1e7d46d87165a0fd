"""Memory against time: each candidate where its median and its peak are, and nothing where that is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.comparison import grid_of

from jaxmagic.charts.spec import Multiples
from jaxmagic.comparison.charts.memory_time import is_worth_a_picture, tradeoff
from jaxmagic.statistics.medians import median


@pytest.fixture
def weighed(comparison: Any, executable: Any) -> Any:
    """A comparison in which numpy needs 1 MiB and jit 3 MiB."""
    numpy, jit = comparison.candidates
    small, large = (
        executable(argument_bytes=each, output_bytes=0, temporary_bytes=0, alias_bytes=0)
        for each in (2**20, 3 * 2**20)
    )
    return replace(comparison, candidates=(replace(numpy, memory=small), replace(jit, memory=large)))


def test_a_point_lies_where_its_median_and_its_peak_are(weighed: Any) -> None:
    found = tradeoff(weighed)
    assert found is not None
    assert [(each.name, each.y) for each in found.series] == [("numpy", (2**20,)), ("jit", (3 * 2**20,))]
    assert [each.x[0] for each in found.series] == [median(each.latency.calls_ns) for each in weighed.candidates]
    assert (found.x.low, found.y.low) == (0, 0)
    assert found.y.high > 3 * 2**20
    assert all(each.points for each in found.series)


def test_where_memory_is_not_known_there_is_no_point(comparison: Any, weighed: Any) -> None:
    assert tradeoff(comparison) is None
    numpy, jit = weighed.candidates
    assert tradeoff(replace(weighed, candidates=(numpy, replace(jit, memory=None)))) is None


def test_a_picture_is_worth_it_only_where_memory_differs(comparison: Any, weighed: Any) -> None:
    assert not is_worth_a_picture(comparison)
    assert not is_worth_a_picture(weighed)  # two numbers, which the table has
    numpy, jit = weighed.candidates
    third = replace(numpy, label="third")
    assert is_worth_a_picture(replace(weighed, candidates=(numpy, jit, third)))
    alike = replace(jit, memory=numpy.memory)
    assert not is_worth_a_picture(replace(weighed, candidates=(numpy, alike, third)))


def test_a_sweep_is_a_curve_for_each_candidate(sweep: Any, executable: Any) -> None:
    def weigh(point: Any) -> Any:
        size = 1024 * 4 ** point.at[0]
        memory = executable(argument_bytes=size, output_bytes=0, temporary_bytes=0, alias_bytes=0)
        candidates = tuple(replace(each, memory=memory) for each in point.comparison.candidates)
        return replace(point, comparison=replace(point.comparison, candidates=candidates))

    assert tradeoff(sweep) is None
    points = tuple(weigh(each) for each in sweep.points if each.comparison is not None)
    found = tradeoff(replace(sweep, points=tuple(reversed(points))))
    assert found is not None
    assert [each.name for each in found.series] == list(sweep)
    for each in found.series:
        assert (each.label, each.end) == ("n=8", "n=1024")
        assert list(each.y) == sorted(1024.0 * 4 ** point.at[0] for point in points if each.name in point.comparison)


def test_a_sweep_of_two_variables_is_a_panel_for_each_value_of_one_on_the_same_axes(
    sweep: Any, executable: Any
) -> None:
    found = tradeoff(grid_of(sweep, executable()))
    assert isinstance(found, Multiples)
    assert [each.title for each in found.panels] == ["dtype=float32", "dtype=bfloat16"]
    assert len({(each.x, each.y) for each in found.panels}) == 1
    for panel, size in zip(found.panels, (2, 1), strict=True):
        assert [each.name for each in panel.series] == list(sweep)
        for number, series in enumerate(panel.series, 1):
            assert list(series.y) == [1024 + size * number * 4096 * 2**power for power in range(8)]
