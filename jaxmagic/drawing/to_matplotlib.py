"""Draws charts as matplotlib figures, for papers and where no HTML is shown.

Only this file and ``matplotlib_parts.py`` import matplotlib. pyplot, which keeps a list of open figures and chooses
a GUI backend, is never imported, and no setting of matplotlib is changed: everything is set on the figure's own
artists.
"""

from __future__ import annotations

import base64
from functools import singledispatch
from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from ..charts.areas import Boxes, Flame, Treemap
from ..charts.curves import Curves
from ..charts.lane_thinning import lane_runs
from ..charts.lanes import Lanes
from ..charts.scale import Scale
from ..charts.spec import Bars, Chart, Forest, Multiples
from ..records.names import truncated, type_in_words
from ..terminal import printable
from .colours import GREY, INK, hue, hue_of_part
from .lanes_to_svg import STRETCHES, first_lanes, name_of, note_of
from .matplotlib_parts import (
    LETTERS,
    draw_curve,
    draw_legend,
    draw_mark,
    label,
    labels,
    make_clear,
    make_plain,
    name_rows,
    patches,
    place_labels,
    set_scale,
    wrapped,
)
from .plot import names_of

#: The width in inches, the text width of most papers.
_WIDTH = 6.4

#: The resolution of a picture in a notebook, sharp on high-density screens.
_DPI = 144


class ChartFigure(Figure):
    """A figure that a notebook shows even if no matplotlib backend was chosen."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=_DPI)
        return buffer.getvalue()


def figure(chart: Chart) -> Figure:
    """Draw a chart as a figure for a paper, 6.4 inches wide."""
    drawn = ChartFigure(layout="constrained")
    FigureCanvasAgg(drawn)
    _draw(chart, drawn)
    make_plain(drawn)
    place_labels(drawn)
    return drawn


def to_png(chart: Chart) -> str:
    """Draw a chart as a PNG in base64, as notebooks store it: without a background, legible on white and on black."""
    drawn = figure(chart)
    make_clear(drawn)
    assert isinstance(drawn, ChartFigure)
    return base64.b64encode(drawn._repr_png_()).decode()


@singledispatch
def _draw(chart: object, into: Figure) -> None:
    raise TypeError(f"figure(): expected a chart, got {type_in_words(chart)}")


def _axes(into: Figure, height: float, x: Scale) -> Axes:
    """Return the axes of a figure of this height in inches."""
    into.set_size_inches(_WIDTH, height)
    axes = into.add_subplot()
    set_scale(axes.xaxis, x)
    return axes


@_draw.register
def _(chart: Boxes, into: Figure) -> None:
    axes = _axes(into, 3.6, chart.x)
    set_scale(axes.yaxis, chart.y)
    for box in chart.boxes:
        (left, right), (low, high) = box.x, box.y
        axes.add_patch(
            Rectangle(
                (left, low), right - left, high - low, facecolor=hue(box.kind), edgecolor="white", linewidth=0.4
            )
        )
    handles: list[Line2D | Patch] = [*patches(chart.kinds, {box.kind for box in chart.boxes})]
    handles += [draw_curve(axes, chart.curve, label(chart.curve.name)), draw_mark(axes, chart.x, chart.mark)]
    draw_legend(into, handles)


@_draw.register
def _(chart: Treemap, into: Figure) -> None:
    into.set_size_inches(_WIDTH, 3.2)
    axes = into.add_subplot()
    axes.set_axis_off()
    axes.set_ylim(1, 0)
    for tile in chart.tiles:
        (left, right), (upper, lower) = tile.x, tile.y
        axes.add_patch(
            Rectangle((left, upper), right - left, lower - upper, facecolor=hue(tile.kind), edgecolor="white")
        )
        letters = int((right - left) * 0.85 * LETTERS)
        for line, text in enumerate(tile.lines[:2]):
            if letters >= 4 and lower - upper >= 0.07 * (line + 1):
                words = axes.text(left + 0.008, upper + 0.055 * (line + 1), label(text, letters), clip_on=True)
                words.set_in_layout(False)  # labels do not affect the layout
    axes.set_title(label(chart.title, 70))  # below the legend, however many rows it has
    if len(chart.kinds) > 1:
        rows = draw_legend(into, patches(chart.kinds))
        into.set_size_inches(_WIDTH, 3.0 + 0.2 * rows)


@_draw.register
def _(chart: Curves, into: Figure) -> None:
    into.set_size_inches(_WIDTH, 3.2)
    handles = _curves(chart, into.add_subplot())
    if len(handles) > 1:
        rows = draw_legend(into, handles)
        into.set_size_inches(_WIDTH, 3.0 + 0.2 * rows)


@_draw.register
def _(chart: Multiples, into: Figure) -> None:
    lines = -(-len(chart.panels) // 2)
    into.set_size_inches(_WIDTH, 0.6 + 2.4 * lines)
    grid = into.subplots(lines, 2, sharex=True, sharey=True, squeeze=False)
    handles: dict[str, Line2D | Patch] = {}
    for axes, panel in zip(grid.flat, chart.panels, strict=False):
        handles |= {str(each.get_label()): each for each in _curves(panel, axes)}
        axes.set_title(label(panel.title, 40), fontsize="medium")
    for axes in list(grid.flat)[len(chart.panels) :]:
        axes.set_axis_off()
    draw_legend(into, list(handles.values()))


def _curves(chart: Curves, axes: Axes) -> list[Line2D | Patch]:
    """Draw curves on axes, and return what the legend explains."""
    set_scale(axes.xaxis, chart.x)
    set_scale(axes.yaxis, chart.y)
    names = labels([each.name for each in chart.series])
    handles: list[Line2D | Patch] = [
        draw_curve(axes, each, name) for each, name in zip(chart.series, names, strict=True) if each.runs
    ]
    points = [(each, *point) for each in chart.series for point in each.labels]
    texts = labels([text for *_, text in points])
    for (each, x, y, _), text in zip(points, texts, strict=True):
        leader = {"arrowstyle": "-", "color": hue(each.hue), "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0}
        named = axes.annotate(text, (x, y), (0, 4), textcoords="offset points", ha="center", arrowprops=leader)
        named.set_in_layout(False)
    handles += [draw_mark(axes, chart.x, each) for each in chart.marks]
    for band in chart.bands:
        axes.axvspan(band.low, band.high, color=GREY, alpha=0.3, linewidth=0.5)
    if chart.bands:
        handles.append(Patch(color=GREY, alpha=0.3, label=label(chart.bands_name)))
    if chart.caption:
        axes.set_xlabel(f"{axes.get_xlabel()}\n{wrapped(chart.caption)}")
    return handles


@_draw.register
def _(chart: Forest, into: Figure) -> None:
    axes = _axes(into, 0.9 + 0.32 * len(chart.rows), chart.x)
    if chart.noise is not None:
        noise = axes.axvspan(*chart.noise, color=GREY, alpha=0.3, linewidth=0, label=label(chart.noise_label, 60))
        draw_legend(into, [noise])
    if chart.x.low < 1 < chart.x.high:
        axes.axvline(1, color=GREY, linewidth=1)
    for line, row in enumerate(chart.rows):
        colour = hue(row.hue)
        if row.hill:
            xs = [x for x, _ in row.hill]
            up, down = [line - 0.42 * each for _, each in row.hill], [line + 0.42 * each for _, each in row.hill]
            axes.fill_between(xs, up, down, color=colour, alpha=0.4, linewidth=0)
        if row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [line, line], color=colour, linewidth=2.5)
        axes.plot([row.value], [line], "o", color=colour, markersize=5)
    name_rows(axes, [row.name for row in chart.rows])


@_draw.register
def _(chart: Bars, into: Figure) -> None:
    axes = _axes(into, 1.1 + 0.32 * len(chart.bars), chart.x)
    for line, bar in enumerate(chart.bars):
        before = 0.0
        for name, size in bar.parts:
            axes.barh(line, size, left=before, height=0.7, color=hue_of_part(name, chart.names.index(name)))
            before += size
    name_rows(axes, [bar.name for bar in chart.bars])
    colours = [hue_of_part(name, number) for number, name in enumerate(chart.names)]
    draw_legend(
        into, [Patch(color=each, label=name) for each, name in zip(colours, labels(chart.names), strict=True)]
    )


@_draw.register
def _(chart: Flame, into: Figure) -> None:
    axes = _axes(into, 1.2 + 0.22 * chart.levels, chart.x)
    for cell in chart.cells:
        left, size = cell.x[0], cell.x[1] - cell.x[0]
        colour = hue(cell.kind)
        axes.barh(cell.level, size, left=left, height=1, color=colour, edgecolor="white", linewidth=0.6)
        most = int(0.85 * LETTERS * size / (chart.x.high - chart.x.low))
        *longer, name = map(printable, names_of(cell, chart.x))
        text = next((each for each in longer if len(each) <= most), truncated(name, most) if most >= 4 else "")
        words = axes.text(
            left + 0.008 * chart.x.high, cell.level, text, color=INK, va="center_baseline", clip_on=True
        )
        words.set_in_layout(False)  # their width is an estimate, which should not shrink the axes
    axes.set_ylim(chart.levels - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if chart.note:
        axes.text(0, -0.5, wrapped(chart.note), va="bottom")
    if chart.kinds:
        draw_legend(into, patches(chart.kinds, {cell.kind for cell in chart.cells}))


@_draw.register
def _(chart: Lanes, into: Figure) -> None:
    lanes = first_lanes(chart)
    axes = _axes(into, 1.2 + 0.14 * sum(each.rows + 0.4 for each in lanes), chart.x)
    at, places = 0.0, []
    used = set()
    for lane in lanes:
        places.append(at + 0.5)
        for run in lane_runs(chart, lane, 2 * STRETCHES):
            used.add(run.kind)
            axes.barh(
                at + run.row + 0.5,
                run.high - run.low,
                left=run.low,
                height=0.4 if lane.faint else 0.9,
                color=hue(chart.kinds[run.kind][1]),
                alpha=1 if run.strong else 0.4,
                linewidth=0,
            )
        at += lane.rows + 0.4
    note = wrapped(note_of(chart, lanes))
    room = 1.2 * (note.count("\n") + 1) if note else 0.0
    axes.set_ylim(at + room, 0)
    axes.set_yticks(places, labels=labels([name_of(each) for each in lanes], 26))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    names = labels([name for name, _ in chart.kinds])
    draw_legend(into, [Patch(color=hue(chart.kinds[at][1]), label=names[at]) for at in sorted(used)])
    if note:
        axes.text(0, at + room / 2, note, va="center")
