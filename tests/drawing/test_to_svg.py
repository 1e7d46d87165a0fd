"""SVG pictures are well-formed, small and escaped, and show everything at its value."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic import units
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.charts.areas import Box, Boxes, Cell, Flame, Tile, Treemap
from jaxmagic.charts.chart_of import chart_of
from jaxmagic.charts.curves import Band, Curves, Mark, Series
from jaxmagic.charts.lanes import Called, Lane, Lanes
from jaxmagic.charts.scale import Scale
from jaxmagic.charts.spec import Bar, Bars, Forest, Row
from jaxmagic.comparison.charts.choices import latencies
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.drawing.axis import Axis, ticks, title
from jaxmagic.drawing.colours import hue
from jaxmagic.drawing.plot import WIDTH, lay_out
from jaxmagic.drawing.svg import Drawing, width_of
from jaxmagic.drawing.to_matplotlib import figure
from jaxmagic.drawing.to_svg import draw

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&$x_1$\u2028\u0000\x1b\ud800" + "w" * 500

N = Scale(label="n", quantity="number", low=10.0, high=1000.0, log=True)
TIME = Scale(label="time of a call", quantity="time", low=1e3, high=1e9, log=True)
NAMES = Scale(label="dtype", quantity="name", low=-0.5, high=1.5, names=("f32", "f64"))


def sweep(**changes: Any) -> Curves:
    run = Series(
        name="run",
        x=(10.0, 100.0, 1000.0),
        y=(1e4, None, 1e6),
        low=(9e3, None, None),
        high=(1.1e4, None, None),
        points=True,
    )
    compiling = Series(name="compile", x=(10.0, 100.0, 1000.0), y=(1e8, 2e8, 3e8), dashed=True)
    values: dict[str, Any] = {"title": "sweep", "x": N, "y": TIME, "series": (run, compiling)}
    return Curves(**values | changes)


def parsed(drawing: Drawing) -> ET.Element:
    return ET.fromstring(drawing.to_svg())


def words(drawing: Drawing) -> list[str]:
    return [each.text or "" for each in parsed(drawing).iter(f"{SVG}text")]


def shown(drawing: Drawing) -> list[str]:
    """Return the visible text, without hidden ticks."""
    root = parsed(drawing)
    hidden = [each for group in root.iter(f"{SVG}g") if group.get("display") == "none" for each in group.iter()]
    return [each.text or "" for each in root.iter(f"{SVG}text") if each not in hidden]


def paths(drawing: Drawing, attribute: str) -> list[ET.Element]:
    return [each for each in parsed(drawing).iter(f"{SVG}path") if f"data-{attribute}" in each.attrib]


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?[\d.]+(?:e[+-]\d+)?", text)]


@given(st.floats(1e-3, 1e6), st.floats(1.001, 1e4), st.booleans())
def test_ticks_are_round_few_and_on_the_axis(low: float, factor: float, log: bool) -> None:
    axis = Axis(low, low * factor, 0, 100, log)
    ticks = axis.ticks()
    assert len(ticks) <= 10
    assert all(low * (1 - 1e-6) <= each <= low * factor * (1 + 1e-6) for each in ticks)
    assert ticks == sorted(set(ticks))


def test_an_axis_puts_values_where_they_belong() -> None:
    assert [Axis(10, 20, 0, 100).at(each) for each in (10, 15, 20, 99)] == [0, 50, 100, 100]
    assert Axis(1, 100, 0, 100, log=True).at(10) == pytest.approx(50)
    assert Axis(1, 100, 0, 100, log=True).at(0) == 0
    assert Axis(5, 5, 0, 100).at(5) == 50


@pytest.mark.parametrize(
    ("scale", "log", "label", "written"),
    [
        (Scale(label="t", quantity="time", low=1e6, high=3e6), False, "t (ms)", ["1", "1.5", "2"]),
        (Scale(label="t", quantity="time", low=1e3, high=1e9), True, "t", ["1 µs", "100 µs", "10 ms", "1 s"]),
        (Scale(label="r", quantity="ratio", low=0.4, high=1.1), True, "r", ["0.5x", "0.7x", "1x"]),
        (Scale(label="n", quantity="number", low=1e3, high=1e6), True, "n", ["1000", "10k", "100k", "1M"]),
        (Scale(label="s", quantity="share", low=0.0, high=1.0), False, "s", ["0 %", "25 %", "50 %", "75 %"]),
        (NAMES, False, "dtype", ["f32", "f64"]),
    ],
)
def test_an_axis_is_written_in_one_unit_or_with_one_at_each_value(
    scale: Scale, log: bool, label: str, written: list[str]
) -> None:
    assert title(scale, log=log) == label
    assert [text for _, text in ticks(scale, log=log, most=4)][: len(written)] == written


def test_a_distribution_rises_from_nothing_to_all_with_the_median_in_its_interval(benchmark: Benchmark) -> None:
    drawing = draw(chart_of(replace(benchmark, pipelined=None)))
    assert {
        "0 %",
        "50 %",
        "100 %",
        "share of samples",
        "time of a call (ms)",
        f"median {units.time(benchmark.median_ns)}",
    } <= set(words(drawing))
    (curve,) = paths(drawing, "curve")
    steps = numbers(curve.attrib["d"])
    xs, ys = steps[0::2], steps[1::2]
    assert xs == sorted(xs)
    assert ys == sorted(ys, reverse=True)
    band = next(each for each in paths(drawing, "x") if each.get("fill", "").endswith("44"))
    left, right = min(numbers(band.attrib["d"])[0::2]), max(numbers(band.attrib["d"])[0::2])
    half = (max(ys) + min(ys)) / 2
    assert left - 2 <= next(x for x, y in zip(xs, ys, strict=True) if y <= half) <= right + 2


@pytest.mark.parametrize("name", ["benchmark", "comparison", "sweep"])
def test_every_place_is_where_the_value_beside_it_is(request: Any, name: str) -> None:
    drawing = draw(sweep() if name == "sweep" else chart_of(request.getfixturevalue(name)))
    axes = json.loads(str(drawing.data["axes"]))
    found = paths(drawing, "x")
    assert found
    for path in found:
        places = numbers(re.sub("h0|m-3[^M]*", "", path.attrib["d"]))
        for key, pixels in (("x", places[0::2]), ("y", places[1::2])):
            if f"data-{key}" not in path.attrib:
                continue
            told = axes[key]
            axis = Axis(told["low"], told["high"], told["start"], told["end"], bool(told["log"]))
            values = [float(each) for each in path.attrib[f"data-{key}"].split()]
            assert pixels == pytest.approx([axis.at(value) for value in values], abs=0.25)


def test_a_forest_has_a_row_for_each_candidate_left_of_one_if_it_is_faster(comparison: Comparison) -> None:
    drawing = draw(chart_of(comparison))
    assert {"numpy", "jit", "0.5x", "1x", "time relative to numpy; lower is faster"} <= set(words(drawing))
    numpy, jit = (each for each in paths(drawing, "kind") if each.get("data-kind") == "dots")
    assert numbers(jit.attrib["d"])[0] < numbers(numpy.attrib["d"])[0]
    tips = [each.get("data-tip") for each in parsed(drawing).iter(f"{SVG}g") if each.get("data-button")]
    assert tips == ["numpy\n1.00x\nbaseline", "jit\n0.500x (0.498x to 0.506x)\nfaster"]


def test_gaps_part_a_curve_and_its_interval() -> None:
    drawing = draw(sweep())
    curves = [(each.get("data-curve"), each.get("data-x"), each.get("data-low")) for each in paths(drawing, "curve")]
    assert curves == [
        ("run", "10", "9e-06"),
        ("run", "1000", "-"),  # its interval is unknown
        ("compile", "10 100 1000", None),
    ]
    assert [(each.get("data-kind"), each.get("data-x")) for each in paths(drawing, "kind")] == [
        ("dots", "10"),
        ("rings", "1000"),
    ]
    assert 'stroke-dasharray="5 3"' in drawing.to_svg()


def test_the_ticks_of_the_other_kind_of_axis_are_there_and_hidden() -> None:
    drawing = draw(sweep())
    groups = [each for each in parsed(drawing).iter(f"{SVG}g") if each.get("data-ticks")]
    found = {(each.get("data-ticks"), each.get("data-log"), each.get("display")) for each in groups}
    assert found == {("x", "0", "none"), ("x", "1", None), ("y", "0", "none"), ("y", "1", None)}
    assert "100 µs" in shown(drawing)
    assert "time of a call (s)" in set(words(drawing)) - set(shown(drawing))


def test_a_mark_has_its_name_above_the_curves_wherever_it_is() -> None:
    marks = tuple(Mark(label="faster from", at=at, low=0.9 * at, high=1.1 * at) for at in (12.0, 100.0, 900.0))
    drawing = draw(sweep(marks=marks))
    texts = [each for each in parsed(drawing).iter(f"{SVG}text") if each.get("data-x")]
    assert [each.text for each in texts] == ["faster from 12", "faster from 100", "faster from 900"]
    assert len({each.get("y") for each in texts}) == 3
    for each in texts:
        half = width_of(each.text or "") / 2
        assert half - 1 <= float(each.attrib["x"]) <= WIDTH - half + 1


@pytest.mark.parametrize("at", [10.0, 12.0, 1000.0])
def test_the_name_of_a_mark_covers_no_tick_even_at_the_left_end(at: float) -> None:
    share = Scale(label="share", quantity="share", low=0.0, high=1.0)
    run = Series(name="run", x=(10.0, 1000.0), y=(0.0, 1.0))
    drawing = draw(sweep(y=share, series=(run,), marks=(Mark(label="median", at=at),)))
    heights = {each.text: float(each.get("y", "0")) for each in parsed(drawing).iter(f"{SVG}text")}
    (mark,) = (height for text, height in heights.items() if text and text.startswith("median"))
    assert heights["100 %"] - mark >= 11  # as high as its letters


def test_names_stand_under_an_axis_of_names() -> None:
    series = Series(name="f", x=(0.0, 1.0), y=(1e4, 2e4))
    drawing = draw(sweep(x=NAMES, series=(series,)))
    assert {"f32", "f64", "dtype"} <= set(shown(drawing))


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=12))
def test_entries_of_a_legend_lie_beside_and_below_each_other(names: list[str]) -> None:
    places = lay_out(names, 100)
    assert len(set(places)) == len(names)
    assert [row for _, row in places] == sorted(row for _, row in places)
    assert all(100 <= at < WIDTH for at, _ in places)


def test_a_part_tells_its_share_of_its_bar_where_there_are_several() -> None:
    bars = (Bar(name="a", parts=(("run", 3e6), ("wait", 1e6))), Bar(name="b", parts=(("run", 2e6),)))
    drawing = draw(Bars(title="", x=Scale(label="time", quantity="time", low=0.0, high=4e6), bars=bars))
    tips = [each.get("data-tip") for each in parsed(drawing).iter(f"{SVG}g") if each.get("data-tip")]
    assert tips == ["run: 3.00 ms, 75 %", "wait: 1.00 ms, 25 %", "run: 2.00 ms"]


def test_a_timing_is_a_bar_whose_parts_touch(timing: Any, compilation: Any) -> None:
    drawing = draw(chart_of(timing(compilation())))
    assert {"trace", "XLA", "wait", "f(x)", "time (ms)"} <= set(words(drawing))
    ends = [numbers(each.attrib["data-x"]) for each in paths(drawing, "x")]
    assert [each[0] for each in ends[1:]] == [each[1] for each in ends[:-1]]
    tips = [each.get("data-tip") for each in parsed(drawing).iter(f"{SVG}g") if each.get("data-tip")]
    assert tips[2] == "XLA: 159 ms, 87 %"


def flame_graph(**changes: Any) -> Flame:
    cells = (
        Cell(x=(0.0, 4096.0), level=0, name="all", lines=("all", "4.00 KiB")),
        Cell(x=(0.0, 3000.0), level=1, name="train", place="train.py:30", lines=("train",), kind=1),
        Cell(x=(3000.0, 3700.0), level=1, name="train_step", place="train.py:17", lines=("train_step",)),
        Cell(x=(3700.0, 3750.0), level=1, name="log", lines=("log",)),
    )
    size = Scale(label="memory held", quantity="size", low=0.0, high=4096.0)
    values: dict[str, Any] = {"title": "held", "x": size, "cells": cells, "kinds": ("unchanged", "more")}
    return Flame(**values | changes)


def test_a_call_of_a_flame_graph_has_its_name_its_place_and_its_size_as_far_as_there_is_room() -> None:
    found = shown(draw(flame_graph()))
    assert {"all 4.00 KiB", "train (train.py:30) 2.93 KiB", "train_step", "unchanged", "more"} <= set(found)
    assert "memory held (KiB)" in found
    assert not [each for each in found if "log" in each]


def test_calls_lie_at_their_sizes_below_each_other_with_words_that_keep_their_colour() -> None:
    drawing = draw(flame_graph(note="2 smaller calls not drawn"))
    boxes = [(numbers(each.attrib["d"]), each.attrib["data-x"]) for each in paths(drawing, "x")]
    (all_, _), (train, told), (step, _), _ = boxes
    assert told == "0 2.93 2.93 0 0"
    assert (train[0], train[2]) == (all_[0], step[0])
    assert all_[5] == train[1] == step[1]
    inside = [each for each in parsed(drawing).iter(f"{SVG}text") if each.get("data-ink")]
    assert [each.get("fill") for each in inside] == ["#111"] * 3
    tips = [each.get("data-tip") for each in parsed(drawing).iter(f"{SVG}g") if each.get("data-tip")]
    assert tips == ["all\n4.00 KiB", "train", "train_step", "log"]
    assert "2 smaller calls not drawn" in shown(drawing)


def test_without_kinds_there_is_no_legend() -> None:
    drawing = draw(flame_graph(kinds=()))
    assert not [each for each in parsed(drawing).iter(f"{SVG}g") if each.get("data-button")]
    assert drawing.height < draw(flame_graph()).height


def legend_of(drawing: Drawing) -> dict[str, str | None]:
    """Return the colours in a legend by their names."""
    groups = [each for each in parsed(drawing).iter(f"{SVG}g") if each.get("data-legend")]
    return {each.attrib["data-button"]: list(each)[1].get("stroke") for each in groups}


def partly_drawn() -> list[tuple[Any, dict[str, str]]]:
    """Return charts that do not draw all that they could, with the names and colours of what they draw."""
    size = Scale(label="memory", quantity="size", low=0.0, high=2e3)
    box = Box(x=(10.0, 20.0), y=(0.0, 1e3), kind=2, lines=())
    used, mark = Series(name="live", x=(10.0, 1000.0), y=(1e3, 2e3)), Mark(label="peak", at=100.0)
    kinds = ("argument", "output", "temporary")
    cells = (
        Cell(x=(0.0, 2e3), level=0, name="all", lines=("all",), kind=7),
        Cell(x=(0.0, 2e3), level=1, name="f", lines=("f",), kind=1),
    )
    one, other = sweep().series
    event = Lane(name="", owner="", rows=1, row=(0,), start=(0,), length=(10**9,), called=(1,))
    called = tuple(Called(name=name, kind=kind) for kind, name in enumerate(kinds))
    lanes = Lanes(title="", x=TIME, kinds=(("copy", 1), ("host", 7), ("run", 2)), called=called, lanes=(event,))
    return [
        (Boxes(title="", x=N, y=size, kinds=kinds, boxes=(box,), curve=used, mark=mark), {"temporary": hue(2)}),
        (Flame(title="", x=size, cells=cells, kinds=kinds), {"output": hue(1)}),
        (Flame(title="", x=size, cells=cells[:1], kinds=kinds), {}),
        (sweep(series=(one, replace(one, y=(None, None, None)), other)), {"run": hue(0), "compile": hue(0)}),
        (lanes, {"host": hue(7)}),
    ]


@pytest.mark.parametrize(("chart", "named"), partly_drawn(), ids=lambda each: type(each).__name__)
def test_a_legend_names_only_what_is_drawn(chart: Any, named: dict[str, str]) -> None:
    assert legend_of(draw(chart)) == named
    legends = [each.get_texts() for each in figure(chart).legends]
    assert {text.get_text() for each in legends for text in each} - {"live", "peak 100"} == set(named)


def noted_charts() -> list[Any]:
    size = Scale(label="memory", quantity="size", low=0.0, high=2e3)
    used = Series(name="live", x=(10.0, 1000.0), y=(1e3, 2e3))
    mark = Mark(label="peak", at=100.0)
    memory = Boxes(title="map", x=N, y=size, kinds=("temporary",), boxes=(), curve=used, mark=mark, note="a note")
    return [flame_graph(note="a note"), sweep(note="a note"), memory]


@pytest.mark.parametrize("chart", noted_charts(), ids=lambda each: type(each).__name__)
def test_a_note_stands_below_the_label_of_its_axis_where_it_covers_nothing(chart: Any) -> None:
    drawing = draw(chart)
    heights = {
        found[2]: float(found[1]) for found in re.finditer(r'<text[^>]* y="([\d.]+)"[^>]*>([^<]*)<', drawing.to_svg())
    }
    (label,) = [heights[each] for each in heights if each.startswith(chart.x.label)]
    (note,) = [heights[each] for each in heights if each.endswith("a note")]
    assert label + 11 <= note <= drawing.height - 3
    assert max(heights.values()) == note


def test_a_deep_flame_graph_of_many_calls_stays_small() -> None:
    places = [(level, at) for level in range(20) for at in range(15)]
    lines = ("f  /home/me/experiments/train.py:117", "4.00 KiB, 10 % of all", "+2.00 KiB")
    cells = tuple(Cell(x=(15.0 * at, 15.0 * at + 15), level=n, name="f" * 30, lines=lines) for n, at in places)
    assert len(draw(flame_graph(cells=cells)).to_uri()) < 150_000


def hostile_charts() -> list[Any]:
    ratio = Scale(label=HOSTILE, quantity="ratio", low=0.5, high=2.0, log=True)
    series = Series(name=HOSTILE, x=(0.0, 1.0), y=(1e4, 2e4))
    named = Scale(label=HOSTILE, quantity="name", low=-0.5, high=1.5, names=(HOSTILE, "b"))
    row = Row(name=HOSTILE, value=1.0, verdict=HOSTILE)
    time = Scale(label=HOSTILE, quantity="time", low=0.0, high=2.0)
    return [
        Curves(
            title=HOSTILE,
            x=named,
            y=TIME,
            series=(series, series),
            marks=(Mark(label=HOSTILE, at=1.0),),
            bands=(Band(low=0.0, high=1.0, tip=HOSTILE),),
            bands_name=HOSTILE,
            note=HOSTILE,
        ),
        Forest(title=HOSTILE, x=ratio, rows=(row, row), noise=(0.9, 1.1), noise_label=HOSTILE),
        Bars(title=HOSTILE, x=time, bars=()),
        Treemap(title=HOSTILE, kinds=(HOSTILE, "b"), tiles=(tile(0.0, 1.0, name=HOSTILE, lines=(HOSTILE,) * 3),)),
        Flame(
            title=HOSTILE,
            x=time,
            cells=(Cell(x=(0.0, 2.0), level=0, name=HOSTILE, lines=(HOSTILE,), place=HOSTILE),),
            kinds=(HOSTILE,),
            note=HOSTILE,
        ),
    ]


def tile(left: float, right: float, **changes: Any) -> Tile:
    values: dict[str, Any] = {"name": "w", "x": (left, right), "y": (0.0, 1.0), "kind": 0, "lines": ("w", "1 KiB")}
    return Tile(**(values | changes))


def test_tiles_are_as_wide_as_their_share_and_say_what_they_are_where_there_is_room() -> None:
    narrow = tile(0.96, 1.0, kind=1, lines=("params['w']", "f32[3]", "more"))
    drawing = draw(Treemap(title="arrays", kinds=("p", "q"), tiles=(tile(0.0, 0.96), narrow)))
    tiles = [each for each in parsed(drawing).iter(f"{SVG}g") if each.get("data-tip")]
    assert [each.get("data-tip") for each in tiles] == ["w\n1 KiB", "params['w']\nf32[3]\nmore"]
    assert [[word.text for word in each.iter(f"{SVG}text")] for each in tiles] == [["w", "1 KiB"], []]
    widths = [max(xs) - min(xs) for each in tiles for xs in [numbers(next(iter(each)).attrib["d"])[0::2]]]
    assert widths == pytest.approx([0.96 * WIDTH, 0.04 * WIDTH], abs=0.2)
    assert {"arrays", "p", "q"} <= set(words(drawing))


def test_bands_lie_behind_the_curves_and_are_named_once() -> None:
    bands = (Band(low=20.0, high=40.0, tip="compiling f"), Band(low=50.0, high=60.0, tip="compiling g"))
    drawing = draw(sweep(bands=bands, bands_name="compiling"))
    assert words(drawing).count("compiling") == 1
    tips = [each.get("data-tip") for each in parsed(drawing).iter(f"{SVG}g")]
    curves = [each.get("data-s") for each in parsed(drawing).iter(f"{SVG}g")]
    assert tips.index("compiling f") < tips.index("compiling g") < curves.index("0")
    first, second = (numbers(each.attrib["data-x"]) for each in paths(drawing, "x")[:2])
    assert (first, second) == ([20, 40, 40, 20], [50, 60, 60, 50])


@pytest.mark.parametrize("hostile", hostile_charts(), ids=lambda each: type(each).__name__)
def test_whatever_a_name_holds_is_only_text(hostile: Any) -> None:
    drawing = draw(hostile)
    root = parsed(drawing)
    assert {each.tag for each in root.iter()} <= {f"{SVG}{tag}" for tag in ("svg", "g", "path", "text")}
    assert not re.search(r"<(script|img)|[\x00-\x08\x1b\u2028\ud800]", drawing.to_svg())
    assert not any(len(each) > 85 for each in words(drawing))
    drawing.to_uri()


def test_eight_candidates_of_a_thousand_samples_are_thinned(comparison: Comparison) -> None:
    one = comparison.candidates[1]
    many = Trial(samples_ns=tuple(range(10**6, 10**6 + 1000)), evaluations=1)
    candidates = tuple(replace(one, label=f"candidate {n}", latency=many) for n in range(8))
    record = replace(comparison, baseline="candidate 0", twice="candidate 0", again=many, candidates=candidates)
    assert len(draw(chart_of(record)).to_uri()) < 30_000
    assert len(draw(latencies(record)).to_uri()) < 33_000


def test_rows_and_entries_of_a_legend_with_long_names_can_be_told_apart(named: Any) -> None:
    labels = [f"a_candidate_with_a_label_that_is_much_too_long_{each}" for each in ("one", "two", "three")]
    rows = re.findall(r">(a_cand[^<]*)</text>", draw(chart_of(named(*labels, rounds=12))).to_svg())
    assert len(rows) == len(set(rows)) == 3
    series = tuple(Series(name=label, x=(0, 1), y=(0, 1), hue=hue) for hue, label in enumerate(labels))
    scale = Scale(label="time", quantity="number", low=0, high=1)
    entries = re.findall(r">(a_cand[^<]*)</text>", draw(Curves(title="t", x=scale, y=scale, series=series)).to_svg())
    assert len(entries) == len(set(entries)) == 3
    assert max(map(len, [*rows, *entries])) <= 26


def test_a_band_ends_where_no_interval_is_known() -> None:
    series = Series(name="f", x=(10.0, 100.0, 1000.0), y=(1e4, 1e5, 1e6), low=(9e3, 9e4, None), high=(2e4, 2e5, None))
    drawing = draw(sweep(series=(series,)))
    (band,) = [each for each in parsed(drawing).iter(f"{SVG}path") if each.get("fill", "").endswith("44")]
    across = numbers(band.get("d", ""))[::2]
    line, dashed = paths(drawing, "curve")
    assert sorted(set(across)) == numbers(line.get("d", ""))[::2]
    assert line.get("stroke-dasharray") is None
    assert dashed.get("stroke-dasharray")
    assert (dashed.get("data-x"), dashed.get("data-low")) == ("100 1000", "9e-05 -")


def test_a_point_whose_interval_is_unknown_is_hollow_and_the_caption_says_so() -> None:
    known = Series(name="f", x=(10.0, 100.0), y=(1e4, 1e5), low=(9e3, 9e4), high=(2e4, 2e5), points=True)
    without = Series(name="g", x=(10.0, 100.0), y=(1e4, 1e5), points=True)
    unknown = replace(known, low=(None, 9e4), high=(None, 2e5))
    assert not any("interval unknown" in each for each in words(draw(sweep(series=(known, without)))))
    drawing = draw(sweep(series=(unknown, without), note="1 part not drawn"))
    assert [each.get("data-x") for each in paths(drawing, "kind") if each.get("data-kind") == "rings"] == ["10"]
    assert "○ interval unknown; 1 part not drawn" in words(drawing)


def test_a_single_point_with_an_interval_shows_it() -> None:
    lone = Series(name="f", x=(10.0, 100.0), y=(1e4, 1e5), low=(None, 9e4), high=(None, 2e5), points=True)
    drawn = [each.get("data-y") for each in paths(draw(sweep(series=(lone,))), "y")]
    assert "9e-05 0.0002" in drawn
