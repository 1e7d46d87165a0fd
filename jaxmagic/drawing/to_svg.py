"""Draws charts as SVG: still pictures whose ``data-`` attributes hold what ``live.js`` needs to make them live.

The attributes are:

- on the picture ``axes``, which describes the axes;
- on a path ``x`` and ``y``, the values of its points, and ``kind``, how they are joined;
- on a curve ``curve``, its name, with ``low`` and ``high``, the ends of its interval;
- on a group ``s``, the number of its series, ``button``, the name of a button that highlights it, and ``tip``, its
  tooltip;
- on a group ``fit``, whether it is a call of a flame graph or a tile, whose label is written anew when its width
  changes, from its ``tip``, ``name`` and ``place``; and ``legend``, if it is an entry of the legend;
- on ticks ``ticks``, the name of the axis, and ``log``, whether they are for its logarithmic form;
- on text ``whole``, if it is a name beside a row: the name, or nothing if it is shown whole;
- on text ``ink``, if it lies on a coloured area and keeps its colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from .. import units
from ..charts.areas import Box, Boxes, Cell, Flame, Treemap
from ..charts.curves import Band, Curves, Mark, Series
from ..charts.lanes import Lanes
from ..charts.scale import Scale
from ..charts.spec import Bar, Bars, Forest, Row
from ..records.names import shortened
from .axis import title
from .colours import EDGE, GREY, INK, hue, hue_of_part
from .lanes_to_svg import draw_lanes
from .plot import FONT_TOP, MOST_IN_TITLE, WIDTH, Plot, formatted, lay_out, legend, names_of
from .svg import FAINT, FONT_SIZE, Drawing, fitting, short, width_of

#: The height of curves, and of a row in other charts, in pixels.
_RISE = 130
_ROW = 26

#: The height of a map or treemap, in pixels.
_HEIGHT = 220

#: The height of a call in a flame graph, in pixels.
_CELL = 18

#: The maximum length of a name beside its row.
MOST_IN_NAME = 26


@singledispatch
def draw(chart: object) -> Drawing:
    """Draw a chart as a still picture."""
    raise TypeError(f"draw(): expected a chart, got {type(chart).__name__}")


@draw.register
def _(chart: Curves) -> Drawing:
    legend_left = 24 + width_of(short(title(chart.y, log=chart.y.log), MOST_IN_TITLE))
    entries = [(each.name, _colour(each), each.dashed) for each in chart.series]
    if chart.bands:
        entries.append((chart.bands_name, GREY, False))
    names = [name for name, _, _ in entries]
    rows = 1 + lay_out(names, legend_left)[-1][1] if len(names) > 1 else 1
    top = 16 * rows + 4 + 13 * len(chart.marks)
    bottom = top + _RISE
    left = 44 if chart.y.quantity == "share" else 56
    plot = Plot(bottom + 36, chart.title, (chart.x, left, WIDTH - 16), (chart.y, bottom, top))
    for band in chart.bands:
        _band(plot, band)
    plot.grid(top, bottom)
    for line, mark in enumerate(chart.marks, 1):
        _mark(plot, mark, top - 13 * line + 9)
    for number, series in enumerate(chart.series):
        _curve(plot, number, series)
    _labels(plot, chart.series)
    if len(names) > 1:
        legend(plot.drawing, entries, legend_left)
    if chart.note:
        plot.drawing.words(WIDTH - 20, bottom - 6, chart.note, anchor="end")
    return plot.drawing


@draw.register
def _(chart: Forest) -> Drawing:
    bottom = 8 + _ROW * len(chart.rows)
    names = shortened([row.name for row in chart.rows], MOST_IN_NAME)
    plot = Plot(bottom + 38, chart.title, (chart.x, _beside(names), WIDTH - 16))
    if chart.noise is not None:
        tip = f"{chart.noise_label}: {units.factor_range(*chart.noise)}"
        with plot.drawing.group({"tip": tip}):
            _box(plot, *chart.noise, 4, bottom, FAINT)
    plot.grid(4, bottom)
    if chart.x.low < 1 < chart.x.high:
        plot.path([1, 1], [4, bottom], colour=GREY, width=1)
    for number, (row, name) in enumerate(zip(chart.rows, names, strict=True)):
        _row(plot, number, row, name, 4 + _ROW * number + _ROW / 2)
    return plot.drawing


@draw.register
def _(chart: Bars) -> Drawing:
    top = 24 + 16 * lay_out(chart.names, 8)[-1][1] if chart.names else 8
    bottom = top + _ROW * len(chart.bars)
    names = shortened([bar.name for bar in chart.bars], MOST_IN_NAME)
    plot = Plot(bottom + 38, chart.title, (chart.x, _beside(names), WIDTH - 24))
    plot.grid(top, bottom)
    legend(plot.drawing, [(name, hue_of_part(name, number), False) for number, name in enumerate(chart.names)], 8)
    for line, (bar, name) in enumerate(zip(chart.bars, names, strict=True)):
        _bar(plot, chart, bar, name, top + _ROW * line + 4)
    return plot.drawing


@draw.register
def _(chart: Boxes) -> Drawing:
    legend_left = 24 + width_of(short(title(chart.y, log=False), MOST_IN_TITLE))
    top = 16 * (lay_out(chart.kinds, legend_left)[-1][1] + 1) + 17
    bottom = top + _HEIGHT
    plot = Plot(bottom + 36, chart.title, (chart.x, 56, WIDTH - 16), (chart.y, bottom, top))
    plot.grid(top, bottom)
    for number in range(len(chart.kinds)):
        places = [_place(plot, box) for box in chart.boxes if box.kind == number]
        plot.drawing.rectangles(places, fill=f"{hue(number)}cc", edge=EDGE)
    _curve(plot, len(chart.kinds), chart.curve)
    legend(plot.drawing, [(name, hue(number), False) for number, name in enumerate(chart.kinds)], legend_left)
    _mark(plot, chart.mark, top - 4)
    if chart.note:
        plot.drawing.words(WIDTH - 20, bottom - 6, chart.note, anchor="end")
    return plot.drawing


@draw.register
def _(chart: Treemap) -> Drawing:
    top = 8 + 16 * (lay_out(chart.kinds, width_of(chart.title) + 24)[-1][1] + 1)
    drawing = Drawing(WIDTH, top + _HEIGHT, chart.title, {"axes": "{}"})
    drawing.words(0, FONT_TOP, chart.title)
    if len(chart.kinds) > 1:
        entries = [(name, hue(number), False) for number, name in enumerate(chart.kinds)]
        legend(drawing, entries, width_of(chart.title) + 24)
    for tile in chart.tiles:
        left, right = (WIDTH * each for each in tile.x)
        upper, lower = (top + _HEIGHT * each for each in tile.y)
        with drawing.group({"s": tile.kind, "fit": "tile", "tip": "\n".join(tile.lines)}):
            corners = [(left, upper), (right, upper), (right, lower), (left, lower)]
            drawing.path(corners, colour=EDGE, width=1, fill=hue(tile.kind))
            _words_inside(drawing, tile.lines[:2], (left, right, upper, lower))
    return drawing


@draw.register
def _(chart: Lanes) -> Drawing:
    return draw_lanes(chart)


def _place(plot: Plot, box: Box) -> tuple[float, float, float, float]:
    """Return the left, right, top and bottom of a box in pixels."""
    assert plot.y is not None
    (left, right), (low, high) = box.x, box.y
    return plot.x.at(left), plot.x.at(right), plot.y.at(high), plot.y.at(low)


def _words_inside(drawing: Drawing, lines: Sequence[str], place: tuple[float, float, float, float]) -> None:
    """Write as many lines as fit into a rectangle, each cut to its width."""
    left, right, top, bottom = place
    letters = int((right - left - 8) / width_of("n"))
    for number, line in enumerate(lines):
        if letters >= 4 and bottom - top >= 16 * (number + 1):
            drawing.words(left + 4, top + 12 + 14 * number, short(line, letters), colour=INK)


@draw.register
def _(chart: Flame) -> Drawing:
    top = 16 * (lay_out(chart.kinds, 8)[-1][1] + 1) + 6 if chart.kinds else 4
    bottom = top + _CELL * chart.levels
    plot = Plot(bottom + 38, chart.title, (chart.x, 8, WIDTH - 8))
    plot.grid(top, bottom)
    legend(plot.drawing, [(name, hue(number), False) for number, name in enumerate(chart.kinds)], 8)
    for cell in chart.cells:
        _cell(plot, cell, top + _CELL * cell.level)
    if chart.note:
        plot.drawing.words(8, bottom + 31, chart.note)
    return plot.drawing


def _cell(plot: Plot, cell: Cell, top: float) -> None:
    """Draw a call as a rectangle, with the longest of its labels that fits."""
    left, right = cell.x
    start = plot.x.at(left)
    room = 0.9 * (plot.x.at(right) - start - 8)  # the width of text is an estimate
    *longer, name = names_of(cell, plot.scales["x"])
    text = next((each for each in longer if width_of(each) <= room), fitting(name, room))
    data = {"s": cell.kind, "fit": "cell", "name": cell.name} | ({"place": cell.place} if cell.place else {})
    with plot.drawing.group(data | {"tip": "\n".join(cell.lines)}):
        corners = [top, top, top + _CELL, top + _CELL, top]
        plot.path([left, right, right, left, left], corners, colour=EDGE, fill=hue(cell.kind))
        if text:
            plot.drawing.words(start + 4, top + 13, text, colour=INK)


def _beside(names: Sequence[str]) -> float:
    """Return the start of an axis that leaves room for names on its left, and some for the chart."""
    return min(max(60.0, 16 + max(map(width_of, names), default=0.0)), 0.7 * WIDTH)


def _curve(plot: Plot, number: int, series: Series) -> None:
    """Draw a line, its interval and its points, between gaps."""
    colour = _colour(series)
    with plot.drawing.group({"s": number}):
        for run in series.runs:
            xs, ys = _part(series.x, run), _part(series.y, run)
            data: dict[str, object] = {"curve": series.name}
            if series.low is not None and series.high is not None:
                low, high = _part(series.low, run, ys), _part(series.high, run, ys)
                plot.path([*xs, *reversed(xs)], [*low, *reversed(high)], colour="none", fill=f"{colour}44")
                data |= {"low": plot.numbers("y", low), "high": plot.numbers("y", high)}
            plot.path(
                xs,
                ys,
                colour=colour,
                kind="step" if series.step else "line",
                width=1.2 if series.muted else 1.8,
                dashed=series.dashed,
                data=data,
            )
            if series.points or len(run) == 1:
                plot.path(xs, ys, colour=colour, kind="dots", width=3 if series.muted else 6)


def _labels(plot: Plot, series: Sequence[Series]) -> None:
    """Write labels above their points, or below where another label is in the way."""
    taken: list[tuple[float, float, float]] = []
    for each in series:
        if not each.label or each.x[0] is None or each.y[0] is None or plot.y is None:
            continue
        x, y, half = plot.x.at(each.x[0]), plot.y.at(each.y[0]), width_of(each.label) / 2
        for lift in (7.0, -15.0):
            if all(abs(x - at) > half + other or abs(y - lift - line) > FONT_SIZE for at, line, other in taken):
                taken.append((x, y - lift, half))
                plot.label(each.x[0], each.y[0], each.label, lift)
                break


def _band(plot: Plot, band: Band) -> None:
    """Draw a band behind the curves, from top to bottom."""
    low, high = plot.scales["y"].low, plot.scales["y"].high
    with plot.drawing.group({"tip": band.tip}):
        plot.path(
            [band.low, band.high, band.high, band.low], [low, low, high, high], colour=GREY, width=0.5, fill=FAINT
        )


def _mark(plot: Plot, mark: Mark, height: float) -> None:
    """Draw a vertical line, its interval, and its label above both."""
    colour = GREY if mark.hue is None else hue(mark.hue)
    scale = plot.scales["x"]
    text = f"{mark.label} {formatted(scale, mark.at)}"
    low, high = plot.scales["y"].low, plot.scales["y"].high
    tip = text
    if mark.low is not None and mark.high is not None:
        tip += f" ({formatted(scale, mark.low)} to {formatted(scale, mark.high)})"
    with plot.drawing.group({"tip": tip}):
        if mark.low is not None and mark.high is not None:
            left, right = mark.low, mark.high
            plot.path([left, right, right, left], [low, low, high, high], colour="none", fill=f"{colour}44")
        plot.path([mark.at, mark.at], [low, high], colour=colour, width=1)
    plot.words(mark.at, height, text)


def _row(plot: Plot, number: int, row: Row, name: str, middle: float) -> None:
    colour = hue(row.hue)
    with plot.drawing.group({"s": number, "button": row.name, "tip": _row_tip(plot.scales["x"], row)}):
        top, bottom = middle - _ROW / 2, middle + _ROW / 2
        corners = [(0.0, top), (float(WIDTH), top), (float(WIDTH), bottom), (0.0, bottom)]
        plot.drawing.path(corners, colour="none", fill="#0000")
        plot.drawing.words(plot.x.start - 10, middle + 4, name, anchor="end", data=_whole(row.name, name))
        if row.hill:
            xs = [x for x, _ in row.hill]
            up, down = [middle - 11 * each for _, each in row.hill], [middle + 11 * each for _, each in row.hill]
            plot.path([*xs, *reversed(xs)], [*up, *reversed(down)], colour="none", fill=f"{colour}66")
        if row.low is not None and row.high is not None:
            plot.path([row.low, row.high], [middle, middle], colour=colour, width=3)
        plot.path([row.value], [middle], colour=colour, kind="dots", width=8)


def _row_tip(scale: Scale, row: Row) -> str:
    tip = f"{row.name}\n{formatted(scale, row.value)}"
    if row.low is not None and row.high is not None:
        tip += f" ({units.factor_range(row.low, row.high)})"
    return f"{tip}\n{row.verdict}" if row.verdict else tip


def _bar(plot: Plot, chart: Bars, bar: Bar, name: str, top: float) -> None:
    plot.drawing.words(plot.x.start - 10, top + 13, name, anchor="end", data=_whole(bar.name, name))
    whole, before = sum(size for _, size in bar.parts), 0.0
    for part, size in bar.parts:
        number = chart.names.index(part)
        tip = f"{part}: {formatted(chart.x, size)}, {units.share(size, whole)}"
        with plot.drawing.group({"s": number, "tip": tip}):
            _box(plot, before, before + size, top, top + _ROW - 8, hue_of_part(part, number))
        before += size


def _whole(name: str, shown: str) -> dict[str, object]:
    """Keep a name that was shortened: a wide page has room for it."""
    return {"whole": "" if name == shown else name}


def _box(plot: Plot, low: float, high: float, top: float, bottom: float, fill: str) -> None:
    plot.path([low, high, high, low], [top, top, bottom, bottom], colour="none", fill=fill)


def _colour(series: Series) -> str:
    return hue(series.hue)


def _part(values: tuple[float | None, ...], run: range, instead: list[float] | None = None) -> list[float]:
    """Return the values of a run; a missing value is replaced by the one in `instead`."""
    part = [values[index] for index in run]
    return [value if value is not None else (instead[at] if instead else 0.0) for at, value in enumerate(part)]
