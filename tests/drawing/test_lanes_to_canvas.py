"""Packed timelines are complete and small, and names are data."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.charts.lanes import Called, Lane, Lanes
from jaxmagic.charts.scale import Scale
from jaxmagic.drawing.colours import hue
from jaxmagic.drawing.lanes_to_canvas import _COARSE, _FINE, Precision, pack
from jaxmagic.drawing.svg import width_of
from jaxmagic.drawing.to_matplotlib import figure
from jaxmagic.drawing.to_svg import draw
from jaxmagic.report.pictures import chart_to_html

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\u2028\ud800"


def lanes(*events: tuple[int, int, int], rows: int = 1, names: tuple[str, ...] = ("f",), end: int = 10**9) -> Lanes:
    """Make a lane of events, each with row, start and duration."""
    row, start, length = zip(*events, strict=True) if events else ((), (), ())
    lane = Lane(name="thread", owner="host", rows=rows, row=row, start=start, length=length, called=(0,) * len(row))
    return Lanes(
        title="what ran when",
        x=Scale(label="time", quantity="time", low=0.0, high=float(end)),
        kinds=(("host", 7),),
        called=tuple(Called(name=each, kind=0, lines=("cell 3:2",)) for each in names),
        lanes=(lane,),
        note="of much more",
    )


def unpacked(packed: str) -> tuple[dict[str, Any], list[list[int]]]:
    """Unpack as the script does: the header, and the columns of each lane."""
    data = zlib.decompress(base64.b64decode(packed))
    end = 4 + int.from_bytes(data[:4], "little")
    told, rest = json.loads(data[4:end]), io.BytesIO(data[end:])
    columns = []
    for count in (lane[3] for lane in told["lanes"] for _ in range(5)):
        planes = [rest.read(count) for _ in range(rest.read(1)[0])]
        columns.append([int.from_bytes(each, "little") for each in zip(*planes, strict=True)])
    assert not rest.read()
    return told, columns


def decoded(packed: str) -> tuple[dict[str, Any], list[int], list[float], list[int], list[int]]:
    """Unpack a single lane as the script does: the header, and each event's row, start, duration and label."""
    told, (row, called, gaps, digits, powers) = unpacked(packed)
    lengths, starts = [0] * len(row), []
    for place, n in enumerate(sorted(range(len(row)), key=lambda i: (called[i], i))):
        lengths[n] = digits[place] * 10 ** powers[place]
    ends, at = [0] * told["lanes"][0][2], 0
    for i, mine in enumerate(row):
        at = (at if i and mine > row[i - 1] else ends[mine]) + (-(gaps[i] + 1) // 2 if gaps[i] % 2 else gaps[i] // 2)
        starts.append(at * told["step"])
        ends[mine] = at + int(lengths[i] / told["step"] + 0.5)
    return told, row, starts, lengths, called


EVENTS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 2)))


@given(EVENTS, st.sampled_from([_FINE, _COARSE]))
def test_all_that_is_drawn_is_there_as_exactly_as_it_is_read(
    events: list[tuple[int, int, int, int]], precision: Precision
) -> None:
    events.sort(key=lambda each: each[1])
    chart = lanes(*(each[:3] for each in events), rows=12, names=("f", "g", "h"))
    chart = replace(chart, lanes=(replace(chart.lanes[0], called=tuple(each[3] for each in events)),))
    told, row, starts, lengths, called = decoded(pack(chart, precision))
    assert (told["title"], told["note"], told["lanes"]) == (
        "what ran when", "of much more", [["host", "thread", 12, len(events), 0]],
    )  # fmt: skip
    assert told["called"] == [[each, 0, "cell 3:2"] for each in "fgh"]
    assert row == list(chart.lanes[0].row)
    assert called == list(chart.lanes[0].called)
    assert starts == pytest.approx([each[1] for each in events], abs=0.5001 * told["step"])
    assert lengths == pytest.approx([each[2] for each in events], rel=0.5 * 10 ** (1 - precision.digits))


def test_whatever_a_name_holds_is_data() -> None:
    html = chart_to_html(lanes((0, 0, 10), names=(HOSTILE,)))
    assert html.count("<script>") == html.count("</script>") == 1
    assert html.count("<img") == 1
    (packed,) = re.findall(r'data-lanes="([^"]*)"', html)
    assert unpacked(packed)[0]["called"][0][0] == HOSTILE


def test_kinds_without_an_event_are_not_in_the_legend() -> None:
    called = tuple(Called(name=name, kind=kind) for kind, name in enumerate(("copy", "host", "run")))
    chart = replace(lanes((0, 0, 10)), kinds=(("copy", 1), ("host", 7), ("run", 2)), called=called)
    told, _ = unpacked(pack(replace(chart, lanes=(replace(chart.lanes[0], called=(2,)),))))
    assert told["kinds"] == [["run", hue(2)]]
    assert told["called"][2] == ["run", 0]


def many(count: int, *, names: int) -> Lanes:
    """Make random events, the worst case for packing."""
    random = np.random.default_rng(0)
    start = np.sort(random.integers(0, 10**9, count))
    length = np.minimum(random.exponential(10**9 / count, count).astype(int), np.diff(start, append=10**9))
    chart = lanes(names=tuple(f"fusion.{n}" for n in range(names)))
    columns = (tuple(each.tolist()) for each in (start, length, random.integers(0, names, count)))
    named = dict(zip(("start", "length", "called"), columns, strict=True))
    lane = Lane(name="thread", owner="host", rows=1, row=(0,) * count, **named)
    return replace(chart, lanes=(lane,), note="")


def steps(count: int) -> Lanes:
    """Make the operations of a loop, each with a typical duration that varies by a tenth."""
    random = np.random.default_rng(0)
    called = np.arange(count) % 20
    length = (random.exponential(2000, 20)[called] * random.normal(1, 0.1, count)).astype(int) + 300
    start = np.cumsum(length + random.integers(100, 300, count)) - length
    end = int(start[-1] + length[-1])
    columns = (tuple(each.tolist()) for each in (start, length, called))
    named = dict(zip(("start", "length", "called"), columns, strict=True))
    lane = Lane(name="thread", owner="host", rows=1, row=(0,) * count, **named)
    return replace(lanes(names=tuple(f"fusion.{n}" for n in range(20)), end=end), lanes=(lane,), note="")


def test_a_hundred_thousand_operations_of_a_loop_are_saved_in_less_than_150_kb() -> None:
    html = chart_to_html(steps(100_000))
    assert len(html) < 150_000
    (packed,) = re.findall(r'data-lanes="([^"]*)"', html)
    told, *_, called = decoded(packed)
    assert len(called) == 100_000
    assert told["note"] == "durations to 2 digits"


def test_short_timelines_keep_three_digits() -> None:
    (packed,) = re.findall(r'data-lanes="([^"]*)"', chart_to_html(steps(10_000)))
    assert unpacked(packed)[0]["note"] == ""


def test_what_would_make_a_page_too_large_is_left_out_the_shortest_first_and_that_is_said() -> None:
    chart = many(150_000, names=1000)
    html = chart_to_html(chart)
    assert len(html) < 150_000
    (packed,) = re.findall(r'data-lanes="([^"]*)"', html)
    told, _, _, lengths, _ = decoded(packed)
    found = re.fullmatch(
        r"durations to 2 digits; (\d+) events of ([\d.]+) µs or less left out to keep the page small", told["note"]
    )
    assert found is not None
    assert len(lengths) + int(found[1]) == 150_000
    assert min(lengths) >= float(found[2]) * 950
    assert sorted(chart.lanes[0].length)[-len(lengths)] > float(found[2]) * 995


def test_the_still_picture_shows_what_the_live_one_leaves_out() -> None:
    chart = many(150_000, names=3)
    assert draw(chart).to_uri() in chart_to_html(chart)


def widths(svg: str) -> dict[str, float]:
    """Sum the filled width of each colour, in pixels along a row."""
    found: dict[str, float] = {}
    for trail, fill in re.findall(r'<path d="(M[^"]*Z)" fill="([^"]*)"', svg):
        for left, right in re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", trail):
            found[fill] = found.get(fill, 0.0) + float(right) - float(left)
    return found


def test_the_still_picture_is_as_strong_as_what_fills_it() -> None:
    half, little = lanes((0, 0, 5 * 10**8)), lanes(*((0, n * 10**6, 10**5) for n in range(1000)))
    whole = 560 - 16 - 150
    assert widths(draw(half).to_svg()) == {"#b0b0b0": pytest.approx(whole / 2, abs=3)}
    assert widths(draw(little).to_svg()) == {"#b0b0b066": pytest.approx(whole, abs=3)}
    assert widths(draw(lanes()).to_svg()) == {}


def test_names_of_lanes_end_before_the_axis_and_differ() -> None:
    names = ("Stream #8(MemcpyD2H,MemcpyH2D,Compute)", "Stream #9(MemcpyD2H,MemcpyH2D,Compute)", "python #2")
    one = lanes((0, 0, 10))
    chart = replace(one, lanes=tuple(replace(one.lanes[0], owner="GPU:0", name=name) for name in names))
    svg = draw(chart).to_svg()
    start = float(next(iter(re.findall(r"<path d=\"M([\d.]+) ", svg.partition("data-ticks")[2]))))
    beside = re.findall(r"<text x=\"0.0\"[^>]*>(GPU:0[^<]*)", svg)
    assert len(set(beside)) == 3
    assert beside[2] == "GPU:0 python #2"
    assert max(map(width_of, beside)) <= 0.9 * (start - 8)
    assert min(map(len, beside[:2])) > 23


def test_a_still_picture_has_as_many_lanes_as_have_room() -> None:
    one = lanes((0, 0, 10), rows=10)
    chart = Lanes(title="t", x=one.x, kinds=one.kinds, called=one.called, lanes=one.lanes * 5)
    assert "3 more lanes" in draw(chart).to_svg()
    figure(chart).savefig(io.BytesIO(), format="svg")


def test_a_figure_for_a_paper_has_a_lane_for_each_thread() -> None:
    (axes,) = figure(lanes((0, 0, 5 * 10**8), (0, 6 * 10**8, 10**7))).axes
    assert [each.get_text() for each in axes.get_yticklabels()] == ["host thread"]
    assert [(each.get_x(), each.get_width()) for each in axes.patches] == [
        (0.0, pytest.approx(5e8)), (6e8, pytest.approx(1e7)),
    ]  # fmt: skip
