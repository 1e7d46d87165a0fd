"""Figures for papers: their content, independence from pyplot, and names that are not formulas."""

from __future__ import annotations

import base64
import subprocess
import sys
import warnings
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.charts.areas import Cell, Flame, Tile, Treemap
from jaxmagic.charts.chart_of import chart_of
from jaxmagic.charts.curves import Band, Curves, Mark, Series
from jaxmagic.charts.scale import Scale
from jaxmagic.charts.spec import Bar, Bars, Forest, Multiples, Row
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.drawing.to_matplotlib import figure, to_png
from jaxmagic.session.history import History

HOSTILE = "</script>$x_1$ \\frac{} 50% #1 {\u2028\u0000\x1b\ud800\n" + "w" * 500
TIME = Scale(label="time of a call", quantity="time", low=1e3, high=1e9, log=True)


def texts(found: Figure) -> list[str]:
    return [each.get_text() for each in found.findobj(Text) if isinstance(each, Text) and each.get_text()]


def test_a_benchmark_has_its_curve_its_axes_with_units_and_the_median(benchmark: Benchmark) -> None:
    found = benchmark.figure()
    assert type(found).__mro__[1] is Figure
    (axes,) = found.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time of a call (ms)", "share of samples")
    latency = axes.lines[0]
    assert latency.get_drawstyle() == "steps-post"
    assert list(latency.get_ydata())[-1] == 1
    assert "latency" in texts(found)
    assert any(each.startswith("median ") for each in texts(found))


def test_a_comparison_has_its_rows_from_top_to_bottom_on_a_logarithmic_axis(comparison: Comparison) -> None:
    found = comparison.figure()
    (axes,) = found.axes
    assert axes.get_xscale() == "log"
    assert [each.get_text() for each in axes.get_yticklabels()] == ["numpy", "jit"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert "numpy compared with itself" in texts(found)


def test_a_timing_has_its_parts_and_the_history_a_bar_for_each(timing: Any, compilation: Any) -> None:
    record = timing(compilation())
    (axes,) = record.figure().axes
    assert sum(each.get_width() for each in axes.patches) == record.wall_ns
    assert axes.patches[0].get_x() == 0
    history = History()
    history.append(record)
    history.append(timing())
    assert len(history.figure().axes[0].get_yticklabels()) == 2


def test_arrays_are_tiles_whose_areas_are_their_shares(live_arrays: Any) -> None:
    (axes,) = live_arrays((3072, ("a",)), (1024, ("b",))).figure().axes
    assert [each.get_width() * each.get_height() for each in axes.patches] == pytest.approx([0.75, 0.25])
    assert {"a", "b"} <= {each.get_text() for each in axes.texts}


def test_bands_are_surfaces_with_one_name() -> None:
    series = Series(name="process", x=(1e3, 1e6), y=(1e4, 2e4))
    bands = (Band(low=2e3, high=4e3, tip="f"), Band(low=6e3, high=9e3, tip="g"))
    made = figure(Curves(title="", x=TIME, y=TIME, series=(series,), bands=bands, bands_name="compiling"))
    assert [each.get_x() for each in made.axes[0].patches] == [2e3, 6e3]
    assert texts(made).count("compiling") == 1


def test_gaps_stay_gaps_and_a_compiling_curve_is_dashed_in_the_same_hue() -> None:
    n = Scale(label="n", quantity="number", low=10.0, high=1000.0, log=True)
    run = Series(name="run", x=(10.0, 100.0, 1000.0), y=(1e4, None, 1e6), points=True)
    compiling = Series(name="compile", x=(10.0, 100.0, 1000.0), y=(1e8, 2e8, 3e8), dashed=True)
    made = figure(Curves(title="", x=n, y=TIME, series=(run, compiling), marks=(Mark(label="crossing", at=50.0),)))
    first, second, mark = made.axes[0].lines
    assert [each != each for each in first.get_ydata()] == [False, True, False]
    assert (first.get_linestyle(), second.get_linestyle()) == ("-", "--")
    assert first.get_color() == second.get_color()
    assert mark.get_label() == "crossing 50"


def test_a_flame_graph_has_the_whole_on_top_and_what_it_comes_from_below(heap_difference: Any) -> None:
    found = heap_difference().figure()
    (axes,) = found.axes
    assert axes.get_xlabel() == "memory held (KiB)"
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    boxes = [(each.get_y() + 0.5, each.get_x(), each.get_width()) for each in axes.patches]
    assert boxes == [(0, 0, 3072), (1, 0, 3072), (2, 0, 2048)]
    assert {"all 3.00 KiB", "<module> (cell.py:3) 3.00 KiB", "step (train.py:17) 2.00 KiB"} <= set(texts(found))
    assert "more than before" in texts(found)


def test_it_is_as_wide_as_a_paper_and_legible(comparison: Comparison) -> None:
    found = comparison.figure()
    assert found.get_size_inches()[0] == pytest.approx(6.4)
    assert {each.get_fontsize() for each in found.findobj(Text) if isinstance(each, Text) and each.get_text()} == {9}


def test_labels_of_points_are_shown_and_cover_nothing() -> None:
    x, y = Scale(label="x", quantity="number", low=0.0, high=10.0), Scale(label="y", quantity="number", low=0, high=9)
    at = [(1.0, 1.0), (8.9, 8.5), (9.0, 8.6), (9.1, 8.4), (9.9, 8.5), (9.9, 8.9), (0.1, 5.0)]
    series = tuple(
        Series(name=f"n{number}", x=(across,), y=(up,), points=True, label=f"a long name {number}")
        for number, (across, up) in enumerate(at)
    )
    drawn = figure(Curves(title="t", x=x, y=y, series=series))
    drawn.draw_without_rendering()
    (axes,) = drawn.axes
    shown = [Text.get_window_extent(each) for each in axes.texts if each.get_visible()]
    dots = axes.transData.transform(at)
    assert len(shown) == len(at)
    for number, box in enumerate(shown):
        assert not any(box.contains(*dot) for dot in dots)
        assert not any(box.padded(-1.5).overlaps(other.padded(-1.5)) for other in shown[:number])
        assert axes.get_window_extent().padded(2).containsx(box.x0)
        assert axes.get_window_extent().padded(2).containsx(box.x1)


def test_panels_without_labels_are_drawn_beside_those_that_have_some() -> None:
    scale = Scale(label="x", quantity="number", low=0.0, high=10.0)
    panels = [
        Curves(title="t", x=scale, y=scale, series=(Series(name="f", x=(1, 2), y=(5, 6), points=True, label=each),))
        for each in ("n=8", "", "n=9")
    ]
    drawn = figure(Multiples(title="t", panels=tuple(panels)))
    assert [[text.get_text() for text in axes.texts] for axes in drawn.axes] == [["n=8"], [], ["n=9"], []]


def hostile_charts() -> list[Any]:
    time = Scale(label=HOSTILE, quantity="time", low=0.0, high=2.0)
    ratio = Scale(label=HOSTILE, quantity="ratio", low=0.5, high=2.0, log=True)
    named = Scale(label=HOSTILE, quantity="name", low=-0.5, high=1.5, names=(HOSTILE, "b"))
    series = Series(name=HOSTILE, x=(0.0, 1.0), y=(1e4, 2e4))
    mark = Mark(label=HOSTILE, at=1.0)
    tile = Tile(name=HOSTILE, x=(0.0, 1.0), y=(0.0, 1.0), kind=0, lines=(HOSTILE, HOSTILE))
    return [
        Curves(
            title=HOSTILE,
            x=named,
            y=TIME,
            series=(series, series),
            marks=(mark,),
            bands=(Band(low=0.0, high=1.0, tip=HOSTILE),),
            bands_name=HOSTILE,
            note=HOSTILE,
        ),
        Treemap(title=HOSTILE, kinds=(HOSTILE, "b"), tiles=(tile,)),
        Forest(title=HOSTILE, x=ratio, rows=(Row(name=HOSTILE, value=1.0),), noise=(0.9, 1.1), noise_label=HOSTILE),
        Bars(title=HOSTILE, x=time, bars=(Bar(name=HOSTILE, parts=((HOSTILE, 2.0),)),)),
        Flame(
            title=HOSTILE,
            x=time,
            cells=(Cell(x=(0.0, 2.0), level=0, name=HOSTILE, lines=(HOSTILE,), place=HOSTILE),),
            kinds=(HOSTILE,),
            note=HOSTILE,
        ),
    ]


@pytest.mark.parametrize("names", [2, 9])
def test_the_heading_of_a_treemap_is_not_drawn_over_its_legend(names: int) -> None:
    tile = Tile(name="a", x=(0.0, 1.0), y=(0.0, 1.0), kind=0, lines=("a",))
    made = figure(
        Treemap(title="arrays, 1 MiB in all", kinds=tuple(f"name {i}" for i in range(names)), tiles=(tile,))
    )
    made.savefig(BytesIO(), format="png")
    (heading,) = (each for each in made.findobj(Text) if isinstance(each, Text) and "in all" in each.get_text())
    assert not heading.get_window_extent().overlaps(made.legends[0].get_window_extent())


LONG = "mean of 2 devices; 13 smaller or deeper calls not drawn; 5 programs that no line of yours has called"


@pytest.mark.parametrize("kind", [Curves, Flame])
def test_a_long_note_is_whole_and_as_wide_as_the_figure(kind: type) -> None:
    (chart,) = (each for each in hostile_charts() if isinstance(each, kind))
    made = figure(replace(chart, note=LONG))
    made.savefig(BytesIO(), format="png")
    assert any(LONG in each.replace("\n", " ") for each in texts(made))


@pytest.mark.parametrize("hostile", hostile_charts(), ids=lambda each: type(each).__name__)
def test_whatever_a_name_holds_is_only_text(hostile: Any) -> None:
    made = figure(hostile)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.savefig(BytesIO(), format="png")
        made.savefig(BytesIO(), format="svg")
    assert not any(
        each.get_parse_math() or each.get_usetex() for each in made.findobj(Text) if isinstance(each, Text)
    )
    assert any("$x_1$" in each for each in texts(made))
    assert max(len(line) for each in texts(made) for line in each.split("\n")) < 80


def test_a_png_is_what_a_notebook_keeps(benchmark: Benchmark) -> None:
    encoded = to_png(chart_of(benchmark))
    assert encoded.startswith("iVBORw0KGgo")
    assert len(encoded) < 100_000


def test_what_is_no_chart_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="expected a chart, got int"):
        figure(3)  # type: ignore[arg-type]


@pytest.mark.slow
def test_neither_pyplot_nor_a_setting_of_matplotlib_is_touched() -> None:
    code = """
import sys, jaxmagic
with jaxmagic.stopwatch() as t: pass
assert "matplotlib" not in sys.modules
str(t.timing); t.timing._repr_mimebundle_()
assert "matplotlib" not in sys.modules
import matplotlib
def settings():  # reading the backend makes matplotlib choose one, which imports pyplot
    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}
before = settings()
t.timing.figure()._repr_png_()
assert settings() == before
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_rows_with_long_names_can_be_told_apart(named: Any) -> None:
    labels = [f"a_candidate_with_a_label_that_is_much_too_long_{each}" for each in ("one", "two", "three")]
    axes = named(*labels, rounds=12).figure().axes[0]
    rows = [each.get_text() for each in axes.get_yticklabels()]
    assert len(rows) == len(set(rows)) == 3
    assert max(map(len, rows)) <= 32


def test_a_picture_for_a_notebook_has_no_background_and_text_for_light_and_dark_pages(comparison: Comparison) -> None:
    pixels = imread(BytesIO(base64.b64decode(to_png(chart_of(comparison)))))
    assert (pixels[[0, 0, -1, -1], [0, -1, 0, -1], 3] == 0).all()
    opaque = pixels[pixels[..., 3] == 1][:, :3]
    grey = opaque[(opaque.max(1) - opaque.min(1)) < 0.02]
    assert 0.4 < grey.min() < 0.55  # no black text


def test_small_multiples_share_their_axes_and_legend() -> None:
    panels = tuple(
        Curves(title=f"d={n}", x=TIME, y=TIME, series=(Series(name="f", x=(1.0, 2.0), y=(1.0, float(n))),))
        for n in range(1, 4)
    )
    drawn = figure(Multiples(title="sweep", panels=panels))
    assert [each.get_title() for each in drawn.axes] == ["d=1", "d=2", "d=3", ""]
    assert [each.get_text() for each in drawn.legends[0].get_texts()] == ["f"]
    assert len({each.get_xlim() for each in drawn.axes}) == 1


def test_a_figure_names_the_kinds_that_it_shows_and_gives_no_hints() -> None:
    (chart,) = (each for each in hostile_charts() if isinstance(each, Flame))
    made = figure(replace(chart, kinds=("operation", "scope"), note="1 part not drawn", hint="see figure()"))
    assert {"operation", "1 part not drawn"} <= set(texts(made))
    assert not {"scope", "see figure()"} & set(texts(made))


def test_a_band_ends_where_no_interval_is_known() -> None:
    series = Series(name="f", x=(1, 2, 3), y=(5, 6, 7), low=(4, 5, None), high=(6, 7, None), points=True)
    chart = Curves(title="t", x=TIME, y=TIME, series=(series,))
    made = figure(chart)
    (band,) = made.axes[0].collections
    assert {x for path in band.get_paths() for x, _ in path.vertices} == {1, 2}
    line, dashed, rings = made.axes[0].lines
    assert list(line.get_ydata())[:2] == [5, 6]
    assert (line.get_linestyle(), list(dashed.get_xdata()), dashed.get_linestyle()) == ("-", [2, 3], "--")
    assert (list(rings.get_xdata()), rings.get_markerfacecolor()) == ([3], "white")
    assert "○ interval unknown" in made.axes[0].get_xlabel()


def test_a_single_point_with_an_interval_shows_it() -> None:
    series = Series(name="f", x=(1, 2, 3), y=(5, 6, 7), low=(None, 5, None), high=(None, 7, None), points=True)
    _, lone = figure(Curves(title="t", x=TIME, y=TIME, series=(series,))).axes[0].collections
    assert [[tuple(each) for each in path.vertices] for path in lone.get_paths()] == [[(2, 5), (2, 7)]]
