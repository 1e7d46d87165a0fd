"""Draws charts with a name beside each row as still pictures: intervals and bars."""

from __future__ import annotations

from collections.abc import Sequence

from .. import units
from ..charts.scale import Scale
from ..charts.spec import Bar, Bars, Forest, Row
from ..records.names import shortened
from .colours import GREY, hue, hue_of_part
from .plot import WIDTH, Entry, Plot, formatted, legend, legend_rows
from .svg import FAINT, Drawing, width_of

#: The height of a row, in pixels.
_ROW = 26

#: The maximum length of a name beside its row.
_MOST_IN_NAME = 26


def draw_forest(chart: Forest) -> Drawing:
    """Draw a row with an interval for each candidate."""
    bottom = 8 + _ROW * len(chart.rows)
    names = shortened([row.name for row in chart.rows], _MOST_IN_NAME)
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


def draw_bars(chart: Bars) -> Drawing:
    """Draw a bar of several parts for each row."""
    entries = [Entry(number, name, hue_of_part(name, number)) for number, name in enumerate(chart.names)]
    top = 8 + 16 * legend_rows(entries, 8)
    bottom = top + _ROW * len(chart.bars)
    names = shortened([bar.name for bar in chart.bars], _MOST_IN_NAME)
    plot = Plot(bottom + 38, chart.title, (chart.x, _beside(names), WIDTH - 24))
    plot.grid(top, bottom)
    legend(plot.drawing, entries, 8)
    for line, (bar, name) in enumerate(zip(chart.bars, names, strict=True)):
        _bar(plot, chart, bar, name, top + _ROW * line + 4)
    return plot.drawing


def _bar(plot: Plot, chart: Bars, bar: Bar, name: str, top: float) -> None:
    plot.drawing.words(plot.x.start - 10, top + 13, name, anchor="end", data=_whole(bar.name, name))
    whole, before = sum(size for _, size in bar.parts), 0.0
    for part, size in bar.parts:
        number = chart.names.index(part)
        share = f", {units.share(size, whole)}" if len(bar.parts) > 1 else ""  # of its bar
        tip = f"{part}: {formatted(chart.x, size)}{share}"
        with plot.drawing.group({"s": number, "tip": tip}):
            _box(plot, before, before + size, top, top + _ROW - 8, hue_of_part(part, number))
        before += size


def _beside(names: Sequence[str]) -> float:
    """Return the start of an axis that leaves room for names on its left, and some for the chart."""
    return min(max(60.0, 16 + max(map(width_of, names), default=0.0)), 0.7 * WIDTH)


def _whole(name: str, shown: str) -> dict[str, object]:
    """Keep a name that was shortened: a wide page has room for it."""
    return {"whole": "" if name == shown else name}


def _box(plot: Plot, low: float, high: float, top: float, bottom: float, fill: str) -> None:
    plot.path([low, high, high, low], [top, top, bottom, bottom], colour="none", fill=fill)
