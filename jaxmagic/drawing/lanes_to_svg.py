"""Draws a timeline as a still picture."""

from __future__ import annotations

from .. import units
from ..charts.lane_thinning import lane_runs
from ..charts.lanes import Lane, Lanes
from ..records.names import shortened, truncated
from .colours import hue
from .plot import WIDTH, Entry, Plot, legend, legend_rows
from .svg import Drawing, width_of

#: The room for the names of lanes, at least and at most, in pixels.
_LEFT = 150, 210
_ROW = 12
_BETWEEN = 4

#: The maximum number of rows of a still picture, and the number of stretches that its axis is divided into.
MOST_ROWS = 24
STRETCHES = 200

#: The opacity of events that fill little of a stretch.
WEAK = "66"

Rectangle = tuple[float, float, float, float]


def draw_lanes(chart: Lanes) -> Drawing:
    """Draw the first lanes of a timeline."""
    lanes = first_lanes(chart)
    drawn = [list(lane_runs(chart, lane, STRETCHES)) for lane in lanes]
    used = {run.kind for runs in drawn for run in runs}
    entries = [Entry(at, name, hue(number)) for at, (name, number) in enumerate(chart.kinds) if at in used]
    top = 16 * max(1, legend_rows(entries, 8)) + 6
    bottom = top + sum(_ROW * lane.rows + _BETWEEN for lane in lanes)
    names = [name_of(lane) for lane in lanes]
    longest = max(map(width_of, names), default=0.0) / 0.9  # the width of text is an estimate
    left = min(max(_LEFT[0], 10 + longest), _LEFT[1])
    plot = Plot(bottom + 38, chart.title, (chart.x, left, WIDTH - 16))
    plot.grid(top, bottom)
    legend(plot.drawing, entries, 8)
    areas: dict[str, list[Rectangle]] = {}
    beside = shortened(names, int(0.9 * (left - 8) / width_of("n")))
    for lane, runs, name in zip(lanes, drawn, beside, strict=True):
        plot.drawing.words(0, top + 9, name)
        over, under = (3.0, 4.0) if lane.faint else (0.5, 0.5)
        for run in runs:
            fill = hue(chart.kinds[run.kind][1]) + ("" if run.strong else WEAK)
            at = top + _ROW * run.row
            place = (plot.x.at(run.low), plot.x.at(run.high), at + over, at + _ROW - under)
            areas.setdefault(fill, []).append(place)
        top += _ROW * lane.rows + _BETWEEN
    for fill, rectangles in areas.items():
        plot.drawing.rectangles(rectangles, fill=fill, edge="none")
    if note := note_of(chart, lanes):
        plot.drawing.words(0, bottom + 31, truncated(note, 70))
    return plot.drawing


def first_lanes(chart: Lanes) -> list[Lane]:
    """Return the lanes that fit in a still picture."""
    fitting: list[Lane] = []
    for lane in chart.lanes:
        if fitting and sum(each.rows for each in fitting) + lane.rows > MOST_ROWS:
            break
        fitting.append(lane)
    return fitting


def name_of(lane: Lane) -> str:
    """Return the label of a lane."""
    return f"{lane.owner} {lane.name}".strip()


def note_of(chart: Lanes, drawn: list[Lane]) -> str:
    """Return a note about what a still picture leaves out."""
    left_out = len(chart.lanes) - len(drawn)
    return "; ".join(filter(None, [units.count(left_out, "more lane") if left_out else "", chart.note]))
