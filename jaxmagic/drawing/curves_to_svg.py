"""Draws curves as a still picture, and single curves and marks for other charts."""

from __future__ import annotations

from collections.abc import Sequence

from ..charts.curves import Band, Curves, Mark, Series
from ..records.names import truncated
from .axis import title
from .colours import GREY, hue
from .plot import MOST_IN_TITLE, WIDTH, Entry, Plot, below, formatted, legend, legend_rows
from .svg import FAINT, FONT_SIZE, Drawing, width_of

#: The height of the plot, in pixels.
_RISE = 130


def draw_curves(chart: Curves) -> Drawing:
    """Draw curves on axes."""
    legend_left = 24 + width_of(truncated(title(chart.y, log=chart.y.log), MOST_IN_TITLE))
    entries = [
        Entry(number, each.name, hue(each.hue), each.dashed) for number, each in enumerate(chart.series) if each.runs
    ]
    if chart.bands:
        entries.append(Entry(len(chart.series), chart.bands_name, GREY))
    rows = legend_rows(entries, legend_left) if len(entries) > 1 else 1
    top = 16 * rows + 4 + 13 * len(chart.marks)
    bottom = top + _RISE
    left = 44 if chart.y.quantity == "share" else 56
    plot = Plot(bottom + below(chart.note), chart.title, (chart.x, left, WIDTH - 16), (chart.y, bottom, top))
    for band in chart.bands:
        _band(plot, band)
    plot.grid(top, bottom)
    for line, mark in enumerate(chart.marks, 1):
        draw_mark(plot, mark, top - 13 * line + 9)
    for number, series in enumerate(chart.series):
        draw_curve(plot, number, series)
    _labels(plot, chart.series)
    if len(entries) > 1:
        legend(plot.drawing, entries, legend_left)
    plot.note(bottom, chart.note)
    return plot.drawing


def draw_curve(plot: Plot, number: int, series: Series) -> None:
    """Draw a line, its interval and its points, between gaps."""
    colour = hue(series.hue)
    with plot.drawing.group({"s": number}):
        for run in series.runs:
            xs, ys = _part(series.x, run), _part(series.y, run)
            data: dict[str, object] = {"curve": series.name}
            if series.low is not None and series.high is not None:
                low, high = _part(series.low, run, ys), _part(series.high, run, ys)
                for known in series.bands_of(run):
                    across, down, up = (_part(each, known) for each in (series.x, series.low, series.high))
                    plot.path([*across, *reversed(across)], [*down, *reversed(up)], colour="none", fill=f"{colour}44")
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
    """Write each label beside its point, or hide it where it would lie on others; ``live.js`` does the same."""
    if plot.y is None:
        return
    labels = [label for each in series for label in each.labels]
    points = [point for each in series if each.points for point in zip(each.x, each.y, strict=True)]
    dots = [(plot.x.at(x), plot.y.at(y)) for x, y in points if x is not None and y is not None]
    wanted = [(plot.x.at(x), plot.y.at(y), width_of(text) / 2) for x, y, text in labels]
    down = plot.y.end + 9, plot.y.start - 3  # beside the ticks of the vertical axis, and perhaps beyond the other end
    places = label_places(wanted, dots, (plot.x.start, WIDTH), down)
    for (x, y, text), place in zip(labels, places, strict=True):
        plot.label(x, y, text, place)


def label_places(
    wanted: Sequence[tuple[float, float, float]],
    dots: Sequence[tuple[float, float]],
    across: tuple[float, float],
    down: tuple[float, float],
) -> list[tuple[float, float] | None]:
    """Place each label above, below, right or left of its point, where it covers no point and no other label.

    Args:
        wanted: the position of the point of each label in pixels, and half the width of the label.
        dots: the positions of all points.
        across: where labels begin and end.
        down: the highest and the lowest baseline.

    Returns:
        The middle and the baseline of each label; ``None`` where there is no room.
    """
    places: list[tuple[float, float] | None] = []
    taken = [(x, y + 4, 3.0) for x, y in dots]
    for x, y, half in wanted:
        beside = half + 7
        spots = ((0.0, -7.0), (0.0, 15.0), (beside, 4.0), (-beside, 4.0))
        ways = [(min(max(x + right, across[0] + half), across[1] - half), y + lower) for right, lower in spots]
        free = (
            (middle, line)
            for middle, line in ways
            if down[0] <= line <= down[1]
            and all(abs(middle - at) >= half + other or abs(line - row) >= FONT_SIZE for at, row, other in taken)
        )
        place = next(free, None)
        places.append(place)
        if place is not None:
            taken.append((*place, half))
    return places


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


def _part(values: tuple[float | None, ...], run: range, instead: list[float] | None = None) -> list[float]:
    """Return the values of a run; a missing value is replaced by the one in `instead`."""
    part = [values[index] for index in run]
    return [value if value is not None else (instead[at] if instead else 0.0) for at, value in enumerate(part)]
