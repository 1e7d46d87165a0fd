"""Labels of points cover nothing, and all of them are seen where there is room."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxmagic
from jaxmagic.charts.chart_of import chart_of
from jaxmagic.charts.curves import Curves
from jaxmagic.drawing.axis import Axis
from jaxmagic.drawing.labels import Place, Room, Segment, Wanted, label_places
from jaxmagic.drawing.plot import WIDTH
from jaxmagic.drawing.svg import width_of
from jaxmagic.drawing.to_svg import draw

RECORDED = Path(__file__).parents[1] / "recorded"

X, Y = Axis(1, 100, 56, 544), Axis(1, 100, 256, 36)
ACROSS, DOWN = (X.start, float(WIDTH)), (Y.end + 9, Y.start - 3)


def inside(line: Segment, box: Segment) -> bool:
    """Whether a line has a point inside of a box."""
    x, y, end_x, end_y = line
    places = ((x + (end_x - x) * part / 500, y + (end_y - y) * part / 500) for part in range(501))
    return any(box[0] < at < box[2] and box[1] < row < box[3] for at, row in places)


def box_of(place: Place) -> Segment:
    return place.middle - place.half, place.line - 8, place.middle + place.half, place.line + 2


POINTS = st.lists(
    st.tuples(st.floats(1, 100), st.floats(1, 100), st.text("ab ", min_size=1, max_size=40)), max_size=9
)


@given(POINTS, st.lists(st.tuples(st.floats(1, 100), st.floats(1, 100)), max_size=3))
def test_labels_cover_neither_each_other_nor_a_point_nor_a_line(
    points: list[tuple[float, float, str]], curve: list[tuple[float, float]]
) -> None:
    dots = [(X.at(across), Y.at(up)) for across, up, _ in points]
    lines = [(*begin, *end) for begin, end in pairwise((X.at(across), Y.at(up)) for across, up in curve)]
    wanted = [
        Wanted(*dot, (width_of(text) / 2, width_of(text[:20]) / 2))
        for dot, (*_, text) in zip(dots, points, strict=True)
    ]
    places = label_places(wanted, Room(ACROSS, DOWN, dots, lines))
    seen = [place for place in places if place is not None]
    assert all(place is None or place.half in each.halves for place, each in zip(places, wanted, strict=True))
    for number, place in enumerate(seen):
        left, top, right, bottom = box = box_of(place)
        assert X.start <= left + 0.1
        assert right <= WIDTH + 0.1
        assert Y.end <= top
        assert bottom <= Y.start
        assert not any(left < at < right and top < row < bottom for at, row in dots)
        assert not any(inside(line, box) for line in lines)
        for other in map(box_of, seen[:number]):
            assert right <= other[0] + 0.1 or other[2] <= left + 0.1 or bottom <= other[3] - 10 or other[3] <= top
        assert not any(inside(each.leader, box) for each in seen if each.leader and each is not place)


def test_a_label_far_from_its_point_has_a_leader_line_to_its_edge() -> None:
    wanted = [Wanted(300.0, 150.0, (40.0,)) for _ in range(7)]
    places = label_places(wanted, Room(ACROSS, DOWN, [(300.0, 150.0)]))
    for place in places:
        assert place is not None
        assert place.leader is not None
        assert place.leader[:2] == (300.0, 150.0)
        left, top, right, bottom = box_of(place)
        assert min(abs(place.leader[2] - edge) for edge in (left, right)) == pytest.approx(2)
        assert top < place.leader[3] < bottom
    assert len({place.line for place in places if place}) == 7


def test_a_label_is_cut_where_there_is_no_room_for_it_and_hidden_where_there_is_none_at_all() -> None:
    (cut,) = label_places([Wanted(300.0, 150.0, (400.0, 40.0))], Room(ACROSS, DOWN, [(300.0, 150.0)]))
    assert cut is not None
    assert (cut.form, cut.half, cut.leader) == (1, 40.0, None)
    assert label_places([Wanted(300.0, 150.0, (400.0,))], Room(ACROSS, DOWN, [(300.0, 150.0)])) == [None]


@pytest.mark.parametrize("name", ["gpu_mi300_attention", "gpu_mi300_elementwise", "gpu_gfx950_te_attention"])
def test_each_operation_of_a_roofline_has_its_label(name: str) -> None:
    chart = chart_of(jaxmagic.read_profile(RECORDED / f"{name}.xplane.pb"), "roofline")
    assert isinstance(chart, Curves)
    assert len(chart.series) == 8
    groups = ET.fromstring(draw(chart).to_svg()).iter("{http://www.w3.org/2000/svg}g")
    hidden = [each.get("display") for each in groups if each.get("data-label")]
    assert hidden == [None] * 7
