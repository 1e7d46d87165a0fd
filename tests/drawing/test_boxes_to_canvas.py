"""Packed maps are complete and small, and names are data."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from typing import Any

import pytest
from benchmarks.large_map import program

from jaxmagic.charts.areas import Box, Boxes
from jaxmagic.charts.curves import Mark, Series
from jaxmagic.charts.scale import Scale
from jaxmagic.drawing import boxes_to_canvas
from jaxmagic.memory_use.charts.buffer_map import MOST_IN_VIEW, map_chart
from jaxmagic.report.pictures import chart_to_html

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\u2028\ud800"


def unpacked(packed: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def boxes(*lines: str, unit: str | None = None) -> Boxes:
    return Boxes(
        title="map",
        x=Scale(label="step", quantity="number", low=0.0, high=9.0),
        y=Scale(label="memory", quantity="size", low=0.0, high=4096.0, unit=unit),
        kinds=("a", "b"),
        boxes=(Box(x=(0.0, 4.0), y=(0.0, 1024.0), kind=1, lines=lines),),
        curve=Series(name="live", x=(0.0, 9.0), y=(1024.0, 0.0), hue=7),
        mark=Mark(label="peak", at=1.0),
        note="of much more",
    )


def test_all_that_is_drawn_is_there() -> None:
    later = Box(x=(3.0, 9.0), y=(2048.0, 4096.0), kind=0, lines=("dot.2", "jit(f)/dot"))
    chart = boxes("dot.1", "jit(f)/dot")
    found = unpacked(boxes_to_canvas.pack(replace(chart, boxes=(later, *chart.boxes, later))))
    assert [name for name, _ in found["kinds"]] == ["a", "b"]
    columns = {name: found[name] for name in ("count", "left", "width", "low", "height", "kind")}
    assert columns == {
        "count": 3,
        "left": [0, 3, 0],
        "width": [4, 6, 6],
        "low": [0, 2048, 0],
        "height": [1024, 2048, 2048],
        "kind": [1, 0, 0],
    }
    assert found["lines"] == [
        {"texts": ["dot.1", "dot.2"], "at": [0, 1, 0]},
        {"texts": ["jit(f)/dot"], "at": [0, 0, 0]},
    ]
    assert (found["curve"]["x"], found["curve"]["y"]) == ([0, 9], [1024, -1024])
    assert (found["title"], found["mark"], found["note"]) == ("map", 1, "of much more")
    assert found["y"]["units"][0] == [" TiB", 2**40]


def test_a_unit_that_was_chosen_is_the_only_one() -> None:
    assert unpacked(boxes_to_canvas.pack(boxes("x", unit="KiB")))["y"]["units"] == [[" KiB", 1024]]


def test_whatever_a_name_holds_is_data() -> None:
    html = chart_to_html(boxes(HOSTILE))
    assert html.count("<script>") == html.count("</script>") == 1
    assert html.count("<img") == 1
    (packed,) = re.findall(r'data-map="([^"]*)"', html)
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", packed)
    assert unpacked(packed)["lines"] == [{"texts": [HOSTILE], "at": [0]}]


def test_the_same_map_has_the_same_key_and_another_one_another() -> None:
    one, other = chart_to_html(boxes("x")), chart_to_html(boxes("y"))
    assert one == chart_to_html(boxes("x"))
    (key,) = re.findall(r'<div data-jaxmagic="(\w+)"', one)
    assert f'[data-jaxmagic="{key}"]' in one or f"upgradeAll('{key}'" in one
    assert key not in other


@pytest.mark.parametrize(("most", "limit"), [(2_000, 110_000), (MOST_IN_VIEW, 350_000)])
def test_a_large_map_is_saved_in_a_small_notebook(most: int, limit: int) -> None:
    drawn = map_chart(program(12_000), most=most)
    assert drawn is not None
    assert len(drawn.boxes) == most
    html = chart_to_html(drawn)
    assert len(html) < limit
    (packed,) = re.findall(r'data-map="([^"]*)"', html)
    assert len(unpacked(packed)["kind"]) == most


def test_the_still_picture_of_a_large_map_says_what_it_leaves_out() -> None:
    drawn = map_chart(program(1000), most=1000)
    assert drawn is not None
    html = chart_to_html(drawn)
    (picture,) = re.findall(r"base64,([^\"]*)\"", html)
    svg = base64.b64decode(picture).decode()
    assert "small buffers are not drawn" in svg
    assert 300 < svg.count("M") < 450
    assert len(svg) < 40_000
