"""Draws charts of rectangles as still pictures: memory maps, treemaps and flame graphs."""

from __future__ import annotations

from collections.abc import Sequence

from ..charts.areas import Box, Boxes, Cell, Flame, Treemap
from ..records.names import truncated
from .axis import title
from .colours import EDGE, INK, hue
from .curves_to_svg import draw_curve, draw_mark
from .plot import FONT_TOP, MOST_IN_TITLE, WIDTH, Plot, below, entries_of, legend, legend_rows, names_of
from .svg import Drawing, fitting, width_of

#: The height of a map or treemap, in pixels.
_HEIGHT = 220

#: The height of a call in a flame graph, in pixels.
_CELL = 18


def draw_boxes(chart: Boxes) -> Drawing:
    """Draw a map of memory over time, with its total."""
    legend_left = 24 + width_of(truncated(title(chart.y, log=False), MOST_IN_TITLE))
    entries = entries_of(chart.kinds, {each.kind for each in chart.boxes})
    top = 16 * max(1, legend_rows(entries, legend_left)) + 17
    bottom = top + _HEIGHT
    plot = Plot(bottom + below(chart.note), chart.title, (chart.x, 56, WIDTH - 16), (chart.y, bottom, top))
    plot.grid(top, bottom)
    for number in range(len(chart.kinds)):
        places = [_place(plot, box) for box in chart.boxes if box.kind == number]
        plot.drawing.rectangles(places, fill=f"{hue(number)}cc", edge=EDGE)
    draw_curve(plot, len(chart.kinds), chart.curve)
    legend(plot.drawing, entries, legend_left)
    draw_mark(plot, chart.mark, top - 4)
    plot.note(bottom, chart.note)
    return plot.drawing


def _place(plot: Plot, box: Box) -> tuple[float, float, float, float]:
    """Return the left, right, top and bottom of a box in pixels."""
    assert plot.y is not None
    (left, right), (low, high) = box.x, box.y
    return plot.x.at(left), plot.x.at(right), plot.y.at(high), plot.y.at(low)


def draw_treemap(chart: Treemap) -> Drawing:
    """Draw tiles whose areas are sizes."""
    entries = entries_of(chart.kinds, {each.kind for each in chart.tiles})
    top = 8 + 16 * max(1, legend_rows(entries, width_of(chart.title) + 24))
    drawing = Drawing(WIDTH, top + _HEIGHT, chart.title, {"axes": "{}"})
    drawing.words(0, FONT_TOP, chart.title)
    if len(chart.kinds) > 1:
        legend(drawing, entries, width_of(chart.title) + 24)
    for tile in chart.tiles:
        left, right = (WIDTH * each for each in tile.x)
        upper, lower = (top + _HEIGHT * each for each in tile.y)
        with drawing.group({"s": tile.kind, "fit": "tile", "tip": "\n".join(tile.lines)}):
            corners = [(left, upper), (right, upper), (right, lower), (left, lower)]
            drawing.path(corners, colour=EDGE, width=1, fill=hue(tile.kind))
            _words_inside(drawing, tile.lines[:2], (left, right, upper, lower))
    return drawing


def _words_inside(drawing: Drawing, lines: Sequence[str], place: tuple[float, float, float, float]) -> None:
    """Write as many lines as fit into a rectangle, each cut to its width."""
    left, right, top, bottom = place
    letters = int((right - left - 8) / width_of("n"))
    for number, line in enumerate(lines):
        if letters >= 4 and bottom - top >= 16 * (number + 1):
            drawing.words(left + 4, top + 12 + 14 * number, truncated(line, letters), colour=INK)


def draw_flame(chart: Flame) -> Drawing:
    """Draw calls above each other, as wide as their times."""
    entries = entries_of(chart.kinds, {each.kind for each in chart.cells})
    top = 16 * legend_rows(entries, 8) + 6 if entries else 4
    bottom = top + _CELL * chart.levels
    plot = Plot(bottom + below(chart.told), chart.title, (chart.x, 8, WIDTH - 8))
    plot.grid(top, bottom)
    legend(plot.drawing, entries, 8)
    for cell in chart.cells:
        _cell(plot, cell, top + _CELL * cell.level)
    plot.note(bottom, chart.told)
    return plot.drawing


def _cell(plot: Plot, cell: Cell, top: float) -> None:
    """Draw a call as a rectangle, with the longest of its labels that fits."""
    left, right = cell.x
    start = plot.x.at(left)
    room = 0.9 * (plot.x.at(right) - start - 8)  # the width of text is an estimate
    *longer, briefest = names_of(cell, plot.scales["x"])
    text = next((each for each in longer if width_of(each) <= room), fitting(briefest, room))
    more = {"place": cell.place, "brief": cell.brief if cell.brief != cell.name else ""}
    data = {"s": cell.kind, "fit": "cell", "name": cell.name} | {name: each for name, each in more.items() if each}
    with plot.drawing.group(data | {"tip": "\n".join(cell.lines)}):
        corners = [top, top, top + _CELL, top + _CELL, top]
        plot.path([left, right, right, left, left], corners, colour=EDGE, fill=hue(cell.kind))
        if text:
            plot.drawing.words(start + 4, top + 13, text, colour=INK)
