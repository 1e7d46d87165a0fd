"""Treemap rectangles have the right areas, fill the whole, do not overlap, and are nearly square."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.charts.treemap_layout import Area, squarified

WHOLE = Area(0.0, 0.0, 2.6, 1.0)

sizes = st.lists(st.integers(1, 10**6), min_size=1, max_size=40).map(lambda found: sorted(found, reverse=True))


@given(sizes)
def test_areas_are_shares_of_the_whole(sizes: list[int]) -> None:
    areas = [each.width * each.height for each in squarified(sizes, WHOLE)]
    assert areas == pytest.approx([2.6 * each / sum(sizes) for each in sizes], rel=1e-6)


@given(sizes)
def test_they_lie_within_and_overlap_nowhere(sizes: list[int]) -> None:
    found = squarified(sizes, WHOLE)
    for each in found:
        assert min(each.x, each.y) >= 0
        assert each.x + each.width <= 2.6 + 1e-9
        assert each.y + each.height <= 1 + 1e-9
    for one, other in combinations(found, 2):
        across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        along = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert min(across, along) < 1e-9


def test_the_example_of_the_paper_has_no_sliver() -> None:
    found = squarified([6, 6, 4, 3, 2, 2, 1], Area(0, 0, 6, 4))
    assert max(max(each.width / each.height, each.height / each.width) for each in found) < 2.8


def test_of_nothing_there_is_nothing() -> None:
    assert squarified([], WHOLE) == []
