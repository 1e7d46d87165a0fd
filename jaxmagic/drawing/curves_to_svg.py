"""Draws curves as a still picture, and single curves and marks for other charts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..charts.curves import Band, Curves, Mark, Series, Values
from ..records.names import shortened, truncated
from .axis import title
from .colours import GREY, hue
from .labels import Room, Wanted, label_places
from .plot import MOST_IN_TITLE, WIDTH, Entry, Plot, below, formatted, legend, legend_rows
from .svg import FAINT, Drawing, Kind, width_of

#: The height of the plot in pixels, and of one whose slopes matter, which ``live.js`` draws higher on a wide page.
_RISE, _TALL = 130, 220

#: The width of the interval of a point beside which none is known.
_LONE = 6

#: How much higher than the legend's lines the labels of marks are, so that none is in the line of the highest tick.
_ABOVE_TICK = 6


def draw_curves(chart: Curves) -> Drawing:
    """Draw curves on axes."""
    legend_left = 24 + width_of(truncated(title(chart.y, log=chart.y.log), MOST_IN_TITLE))
    entries = [
        Entry(number, each.name, hue(each.hue), each.dashed) for number, each in enumerate(chart.series) if each.runs
    ]
    if chart.bands:
        entries.append(Entry(len(chart.series), chart.bands_name, GREY))
    rows = legend_rows(entries, legend_left) if len(entries) > 1 else 1
    top = 16 * rows + 4 + (13 * len(chart.marks) + _ABOVE_TICK if chart.marks else 0)
    bottom = top + (_TALL if chart.tall else _RISE)
    left = 44 if chart.y.quantity == "share" else 56
    plot = Plot(bottom + below(chart.caption), chart.title, (chart.x, left, WIDTH - 16), (chart.y, bottom, top))
    if chart.tall:
        plot.drawing.data["tall"] = 1
    for band in chart.bands:
        _band(plot, band)
    plot.grid(top, bottom)
    for line, mark in enumerate(chart.marks, 1):
        draw_mark(plot, mark, top - 13 * line + 9 - _ABOVE_TICK)
    for number, series in enumerate(chart.series):
        draw_curve(plot, number, series)
    _labels(plot, chart.series)
    if len(entries) > 1:
        legend(plot.drawing, entries, legend_left)
    plot.note(bottom, chart.caption)
    return plot.drawing


def draw_curve(plot: Plot, number: int, series: Series) -> None:
    """Draw a line, its interval and its points, between gaps."""
    colour = hue(series.hue)
    with plot.drawing.group({"s": number}):
        for run in series.runs:
            for known in series.bands_of(run):
                across, down, up = (_part(each, known) for each in (series.x, series.low or (), series.high or ()))
                if len(known) == 1:
                    plot.path([*across, *across], [*down, *up], colour=f"{colour}44", width=_LONE)
                    continue
                plot.path([*across, *reversed(across)], [*down, *reversed(up)], colour="none", fill=f"{colour}44")
            for known in series.bands_of(run) if series.low else (run,):
                _line(plot, series, known, dashed=series.dashed)
                if series.points or len(run) == 1:
                    _points(plot, series, known, "dots")
            for part in series.unknown_of(run):
                _line(plot, series, range(max(part[0] - 1, run[0]), min(part[-1] + 1, run[-1]) + 1), dashed=True)
                _points(plot, series, part, "rings")


def _line(plot: Plot, series: Series, run: range, dashed: bool) -> None:
    """Draw the line through points, with what a script tells at each of them."""
    data: dict[str, object] = {"curve": series.name}
    if series.low is not None and series.high is not None:
        ends = {"low": series.low, "high": series.high}
        data |= {end: plot.numbers("y", values[run.start : run.stop]) for end, values in ends.items()}
    plot.path(
        _part(series.x, run),
        _part(series.y, run),
        colour=hue(series.hue),
        kind="step" if series.step else "line",
        width=1.2 if series.muted else 1.8,
        dashed=dashed,
        data=data,
    )


def _points(plot: Plot, series: Series, run: range, kind: Kind) -> None:
    """Mark points: by dots, or by rings where the interval is unknown."""
    width = 1.4 if kind == "rings" else 3 if series.muted else 6
    plot.path(_part(series.x, run), _part(series.y, run), colour=hue(series.hue), kind=kind, width=width)


def _labels(plot: Plot, series: Sequence[Series]) -> None:
    """Write each label beside its point, or hide it where it would lie on others; ``labels.js`` does the same."""
    if plot.y is None:
        return
    labels = [(number, each.hue, *label) for number, each in enumerate(series) for label in each.labels]
    texts = [text for *_, text in labels]
    forms = [(whole, short)[: 1 + (whole != short)] for whole, short in zip(texts, shortened(texts, 20), strict=True)]
    wanted = [
        Wanted(plot.x.at(x), plot.y.at(y), tuple(width_of(form) / 2 for form in own))
        for (_, _, x, y, _), own in zip(labels, forms, strict=True)
    ]
    dots = [place for each in series if each.points for place in _places(plot, each, range(len(each.x)))]
    runs = [_places(plot, each, run) for each in series for run in each.runs]
    lines = [(*begin, *end) for run in runs for begin, end in pairwise(run)]
    down = plot.y.end + 9, plot.y.start - 3  # beside the ticks of the vertical axis, and perhaps beyond the other end
    places = label_places(wanted, Room((plot.x.start, WIDTH), down, dots, lines))
    for (number, colour, x, y, _), own, place in zip(labels, forms, places, strict=True):
        with plot.drawing.group({"s": number, "label": 1}, hidden=place is None):
            plot.label(x, y, own, place, hue(colour))


def _places(plot: Plot, series: Series, run: range) -> list[tuple[float, float]]:
    """Return where the known points of a run are, in pixels."""
    assert plot.y is not None
    points = ((series.x[at], series.y[at]) for at in run)
    return [(plot.x.at(x), plot.y.at(y)) for x, y in points if x is not None and y is not None]


def _band(plot: Plot, band: Band) -> None:
    """Draw a band behind the curves, from top to bottom."""
    low, high = plot.scales["y"].low, plot.scales["y"].high
    with plot.drawing.group({"tip": band.tip}):
        plot.path(
            [band.low, band.high, band.high, band.low], [low, low, high, high], colour=GREY, width=0.5, fill=FAINT
        )


def draw_mark(plot: Plot, mark: Mark, height: float) -> None:
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


def _part(values: Values, run: range) -> list[float]:
    """Return the values of a range without a gap."""
    return [value for value in values[run.start : run.stop] if value is not None]
