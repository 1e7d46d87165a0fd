"""Draws charts as matplotlib figures, for papers and where no HTML is shown. No other file imports matplotlib.

pyplot, which keeps a list of open figures and chooses a GUI backend, is never imported, and no setting of matplotlib
is changed: everything is set on the figure's own artists.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from functools import singledispatch
from io import BytesIO
from math import ceil

from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text

from ..charts.areas import Boxes, Flame, Treemap
from ..charts.curves import Curves, Mark, Series, Values
from ..charts.lane_thinning import lane_runs
from ..charts.lanes import Lanes
from ..charts.scale import Scale
from ..charts.spec import Bars, Chart, Forest
from ..records.names import shortened
from ..terminal import printable
from .axis import ticks, title
from .colours import GREY, INK, hue, hue_of_part
from .lanes_to_svg import STRETCHES, first_lanes, name_of, note_of
from .plot import formatted, names_of
from .svg import short

#: The width in inches, the text width of most papers; the font size in points, legible at that width; and the number
#: of characters in a line.
_WIDTH = 6.4
_POINTS = 9
_LETTERS = 90

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
    _make_plain(drawn)
    return drawn


def to_png(chart: Chart) -> str:
    """Draw a chart as a PNG in base64, as notebooks store it."""
    drawn = figure(chart)
    assert isinstance(drawn, ChartFigure)
    return base64.b64encode(drawn._repr_png_()).decode()


@singledispatch
def _draw(chart: object, into: Figure) -> None:
    raise TypeError(f"figure(): expected a chart, got {type(chart).__name__}")


@_draw.register
def _(chart: Boxes, into: Figure) -> None:
    into.set_size_inches(_WIDTH, 3.6)
    axes = into.add_subplot()
    _set_scale(axes.xaxis, chart.x)
    _set_scale(axes.yaxis, chart.y)
    for box in chart.boxes:
        (left, right), (low, high) = box.x, box.y
        axes.add_patch(
            Rectangle(
                (left, low), right - left, high - low, facecolor=hue(box.kind), edgecolor="white", linewidth=0.4
            )
        )
    handles: list[Line2D | Patch] = [*_patches(chart.kinds)]
    handles += [_curve(axes, chart.curve, _name(chart.curve.name)), _mark(axes, chart.x, chart.mark)]
    _legend(into, handles)


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
        letters = int((right - left) * 0.85 * _LETTERS)
        for line, text in enumerate(tile.lines[:2]):
            if letters >= 4 and lower - upper >= 0.07 * (line + 1):
                words = axes.text(left + 0.008, upper + 0.055 * (line + 1), _name(text, letters), clip_on=True)
                words.set_in_layout(False)  # labels do not affect the layout
    into.suptitle(_name(chart.title, 70))
    if len(chart.kinds) > 1:
        _legend(into, _patches(chart.kinds))


@_draw.register
def _(chart: Curves, into: Figure) -> None:
    into.set_size_inches(_WIDTH, 3.2)
    axes = into.add_subplot()
    _set_scale(axes.xaxis, chart.x)
    _set_scale(axes.yaxis, chart.y)
    names = _names([each.name for each in chart.series])
    handles: list[Line2D | Patch] = [_curve(axes, each, name) for each, name in zip(chart.series, names, strict=True)]
    handles += [_mark(axes, chart.x, each) for each in chart.marks]
    for band in chart.bands:
        axes.axvspan(band.low, band.high, color=GREY, alpha=0.3, linewidth=0.5)
    if chart.bands:
        handles.append(Patch(color=GREY, alpha=0.3, label=_name(chart.bands_name)))
    if chart.note:
        axes.text(0.99, 0.03, f"{_name(chart.note)} →", transform=axes.transAxes, ha="right")
    if len(handles) > 1:
        rows = _legend(into, handles)
        into.set_size_inches(_WIDTH, 3.0 + 0.2 * rows)


@_draw.register
def _(chart: Forest, into: Figure) -> None:
    into.set_size_inches(_WIDTH, 0.9 + 0.32 * len(chart.rows))
    axes = into.add_subplot()
    _set_scale(axes.xaxis, chart.x)
    if chart.noise is not None:
        noise = axes.axvspan(*chart.noise, color=GREY, alpha=0.3, linewidth=0, label=_name(chart.noise_label, 60))
        _legend(into, [noise])
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
    _name_rows(axes, [row.name for row in chart.rows])


@_draw.register
def _(chart: Bars, into: Figure) -> None:
    into.set_size_inches(_WIDTH, 1.1 + 0.32 * len(chart.bars))
    axes = into.add_subplot()
    _set_scale(axes.xaxis, chart.x)
    for line, bar in enumerate(chart.bars):
        before = 0.0
        for name, size in bar.parts:
            axes.barh(line, size, left=before, height=0.7, color=hue_of_part(name, chart.names.index(name)))
            before += size
    _name_rows(axes, [bar.name for bar in chart.bars])
    colours = [hue_of_part(name, number) for number, name in enumerate(chart.names)]
    _legend(into, [Patch(color=each, label=name) for each, name in zip(colours, _names(chart.names), strict=True)])


@_draw.register
def _(chart: Flame, into: Figure) -> None:
    into.set_size_inches(_WIDTH, 1.2 + 0.22 * chart.levels)
    axes = into.add_subplot()
    _set_scale(axes.xaxis, chart.x)
    for cell in chart.cells:
        left, size = cell.x[0], cell.x[1] - cell.x[0]
        colour = hue(cell.kind)
        axes.barh(cell.level, size, left=left, height=1, color=colour, edgecolor="white", linewidth=0.6)
        most = int(0.85 * _LETTERS * size / (chart.x.high - chart.x.low))
        *longer, name = map(printable, names_of(cell, chart.x))
        text = next((each for each in longer if len(each) <= most), short(name, most) if most >= 4 else "")
        words = axes.text(
            left + 0.008 * chart.x.high, cell.level, text, color=INK, va="center_baseline", clip_on=True
        )
        words.set_in_layout(False)  # their width is an estimate, which should not shrink the axes
    axes.set_ylim(chart.levels - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if chart.note:
        axes.text(0, -0.5, _name(chart.note, 60), va="bottom")
    if chart.kinds:
        _legend(into, _patches(chart.kinds))


@_draw.register
def _(chart: Lanes, into: Figure) -> None:
    lanes = first_lanes(chart)
    into.set_size_inches(_WIDTH, 1.2 + 0.14 * sum(each.rows + 0.4 for each in lanes))
    axes = into.add_subplot()
    _set_scale(axes.xaxis, chart.x)
    at, places = 0.0, []
    for lane in lanes:
        places.append(at + 0.5)
        for run in lane_runs(chart, lane, 2 * STRETCHES):
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
    note = note_of(chart, lanes)
    axes.set_ylim(at + (1.2 if note else 0), 0)
    axes.set_yticks(places, labels=_names([name_of(each) for each in lanes], 26))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    names = _names([name for name, _ in chart.kinds])
    _legend(into, [Patch(color=hue(kind), label=name) for name, (_, kind) in zip(names, chart.kinds, strict=True)])
    if note:
        axes.text(0, at + 0.6, _name(note, 60), va="center")


def _curve(axes: Axes, series: Series, name: str) -> Line2D:
    """Draw a line with its points and its interval; gaps are ``nan``."""
    colour, ys = hue(series.hue), _floats(series.y)
    (line,) = axes.plot(
        _floats(series.x),
        ys,
        color=colour,
        linewidth=1 if series.muted else 1.5,
        linestyle="--" if series.dashed else "-",
        drawstyle="steps-post" if series.step else "default",
        marker="o" if series.points or any(len(run) == 1 for run in series.runs) else "",
        markersize=3.5,
        label=name,
    )
    if series.low is not None and series.high is not None:
        low, high = _floats(series.low), _floats(series.high)
        axes.fill_between(_floats(series.x), low, high, color=colour, alpha=0.25, linewidth=0)
    return line


def _mark(axes: Axes, scale: Scale, mark: Mark) -> Line2D:
    colour = GREY if mark.hue is None else hue(mark.hue)
    label = f"{_name(mark.label)} {formatted(scale, mark.at)}"
    if mark.low is not None and mark.high is not None:
        axes.axvspan(mark.low, mark.high, color=colour, alpha=0.25, linewidth=0)
        label += f" ({formatted(scale, mark.low)} to {formatted(scale, mark.high)})"
    return axes.axvline(mark.at, color=colour, linewidth=1, linestyle=":", label=label)


def _set_scale(axis: Axis, scale: Scale) -> None:
    """Set the limits, ticks and title of an axis as in the other media."""
    axes = axis.axes
    is_x = isinstance(axis, XAxis)
    (axes.set_xscale if is_x else axes.set_yscale)("log" if scale.log else "linear")
    (axes.set_xlim if is_x else axes.set_ylim)(scale.low, scale.high)
    labelled = ticks(scale, log=scale.log)
    axis.set_ticks([value for value, _ in labelled], labels=_names([text for _, text in labelled], 16))
    axis.set_ticks([], minor=True)
    axis.set_label_text(_name(title(scale, log=scale.log), 70))
    axis.grid(True, color=GREY, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Write names to the left of the rows, from top to bottom."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), labels=_names(names))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)


def _legend(into: Figure, handles: Iterable[Line2D | Patch]) -> int:
    """Draw a legend above the axes, and return its number of rows."""
    handles = list(handles)
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    columns = max(1, _LETTERS // (longest + 8))
    into.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False, fontsize=_POINTS)
    return ceil(len(handles) / columns)


def _make_plain(drawn: Figure) -> None:
    """Set all text in one size and as plain text: names with dollar signs are not formulas."""
    for text in drawn.findobj(Text):
        assert isinstance(text, Text)
        text.set_parse_math(False)
        text.set_usetex(False)
        text.set_fontsize(_POINTS)


def _patches(names: Sequence[str]) -> list[Patch]:
    """Return the legend handles of numbered kinds."""
    return [Patch(color=hue(number), label=name) for number, name in enumerate(_names(names))]


def _names(texts: Sequence[str], most: int = 32) -> tuple[str, ...]:
    """Shorten names that are shown together, so that they stay distinguishable."""
    return shortened([printable(text) for text in texts], most)


def _name(text: str, most: int = 32) -> str:
    return short(printable(text), most)


def _floats(values: Values) -> list[float]:
    return [float("nan") if value is None else float(value) for value in values]
