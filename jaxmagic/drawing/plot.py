"""A drawing with axes: converts values to positions, and stores the values so that a script can rescale an axis."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from math import ceil, log10
from typing import NamedTuple

from .. import units
from ..charts.areas import Cell
from ..charts.scale import Scale
from ..records.names import shortened, truncated
from .axis import Axis, ticks, title, unit_of
from .colours import hue
from .labels import Place
from .svg import FAINT, Drawing, Kind, width_of

WIDTH = 560

#: The approximate number of ticks on each axis.
_MOST_TICKS = {"x": 6, "y": 4}

#: The baseline of the first legend row, the distance to the next, and the width of a line sample.
FONT_TOP = 11
_ROW = 16
_SAMPLE = 25

#: The height of the horizontal axis with its label, and of a note below it.
_AXIS = 36
_NOTE = 14

#: The maximum length of a vertical axis's title, which shares a row with the legend.
MOST_IN_TITLE = 30

#: The maximum length of a name in a legend.
_MOST_IN_LEGEND = 24


class Plot:
    """A drawing in the coordinates of its axes.

    Args:
        height: the height of the drawing, in pixels.
        heading: its text alternative.
        x: the horizontal axis, with its start and end in pixels.
        y: the vertical axis, with its start and end in pixels. If left out, heights are given in pixels.
    """

    def __init__(
        self, height: int, heading: str, x: tuple[Scale, float, float], y: tuple[Scale, float, float] | None = None
    ) -> None:
        self.scales = {"x": x[0]} | ({"y": y[0]} if y else {})
        self.x = _axis(*x)
        self.y = _axis(*y) if y else None
        placed = [("x", x)] + ([("y", y)] if y else [])
        self.drawing = Drawing(WIDTH, height, heading, {"axes": json.dumps(dict(map(_described, placed)))})

    def path(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        *,
        colour: str,
        kind: Kind = "line",
        width: float = 1.5,
        fill: str = "none",
        dashed: bool = False,
        data: dict[str, object] | None = None,
    ) -> None:
        """Draw a line through values, an area, or dots."""
        heights = map(self.y.at, ys) if self.y else ys
        attributes: dict[str, object] = {"x": self.numbers("x", xs)}
        if self.y:
            attributes["y"] = self.numbers("y", ys)
        if kind != "line":
            attributes["kind"] = kind
        self.drawing.path(
            list(zip(map(self.x.at, xs), heights, strict=True)),
            kind=kind,
            colour=colour,
            width=width,
            fill=fill,
            dashed=dashed,
            data=attributes | (data or {}),
        )

    def words(self, x: float, height: float, text: str) -> None:
        """Write text centred at a value, or as near to it as the picture allows."""
        half = min(width_of(text), WIDTH) / 2
        at = min(max(self.x.at(x), half), WIDTH - half)
        self.drawing.words(at, height, text, anchor="middle", data={"x": self.numbers("x", [x])})

    def label(self, x: float, y: float, forms: Sequence[str], place: Place | None, colour: str) -> None:
        """Write the text of a point at its place, with its leader line; ``labels.js`` places it anew."""
        data = {"x": self.numbers("x", [x]), "y": self.numbers("y", [y])}
        if len(forms) > 1:
            data |= {"whole": forms[0], "brief": forms[-1]}
        from_x, from_y, to_x, to_y = place.leader if place and place.leader else (0.0, 0.0, 0.0, 0.0)
        self.drawing.path([(from_x, from_y), (to_x, to_y)], colour=colour, data={"leader": 1})
        middle, line, text = (place.middle, place.line, forms[place.form]) if place else (0.0, 0.0, forms[-1])
        self.drawing.words(middle, line, text, anchor="middle", data=data)

    def note(self, bottom: float, text: str) -> None:
        """Write a note below the label of the horizontal axis, where it covers nothing; ``live.js`` wraps it."""
        if text:
            self.drawing.words(WIDTH - 4, bottom + _AXIS + 9, text, anchor="end", data={"note": 1})

    def grid(self, top: float, bottom: float) -> None:
        """Draw the ticks of both axes, with grid lines; the ticks of a switchable axis's other scale are hidden."""
        for name, scale in self.scales.items():
            for log in {scale.log, scale.log ^ scale.switchable}:
                with self.drawing.group({"ticks": name, "log": int(log)}, hidden=log != scale.log):
                    labelled = ticks(scale, log=log, most=_MOST_TICKS[name])
                    texts = shortened([text for _, text in labelled], 14)
                    for (value, _), text in zip(labelled, texts, strict=True):
                        self._tick(name, value, text, log, top, bottom)
                    self._title(name, title(scale, log=log), bottom)

    def _tick(self, name: str, value: float, text: str, log: bool, top: float, bottom: float) -> None:
        draw = self.drawing
        if name == "x":
            at = self.x._replace(log=log).at(value)
            draw.path([(at, top), (at, bottom + 4)], colour=FAINT)
            draw.words(at, bottom + 16, text, anchor="middle")
        elif self.y:
            at = self.y._replace(log=log).at(value)
            draw.path([(self.x.start, at), (self.x.end, at)], colour=FAINT)
            draw.words(self.x.start - 6, at + 4, text, anchor="end")

    def _title(self, name: str, text: str, bottom: float) -> None:
        if name == "x":
            self.drawing.words(WIDTH - 4, bottom + 31, truncated(text, 70), anchor="end")
        else:
            self.drawing.words(0, FONT_TOP, truncated(text, MOST_IN_TITLE))

    def numbers(self, name: str, values: Iterable[float | None]) -> str:
        """Write values in the axis's unit, with enough digits for a fraction of a pixel; ``-`` for a gap."""
        scale = self.scales[name]
        size = unit_of(scale)[1]
        digits = 4 + max(0, ceil(log10(max(abs(scale.low), abs(scale.high)) / (scale.high - scale.low))))
        return " ".join("-" if value is None else f"{value / size:.{digits}g}" for value in values)


def below(note: str) -> int:
    """Return the height of what is below a plot: the horizontal axis, and a note if there is one."""
    return _AXIS + (_NOTE if note else 0)


class Entry(NamedTuple):
    """An entry of a legend.

    Attributes:
        number: the number of its series or kind.
        name: its name.
        colour: its colour.
        dashed: whether its line is dashed.
    """

    number: int
    name: str
    colour: str
    dashed: bool = False


def entries_of(kinds: Sequence[str], drawn: Collection[int]) -> list[Entry]:
    """Return a legend of those kinds of areas that are drawn; each has the colour with its number."""
    return [Entry(number, name, hue(number)) for number, name in enumerate(kinds) if number in drawn]


def legend(drawing: Drawing, entries: Sequence[Entry], left: float) -> None:
    """Draw a legend in rows at the top.

    Args:
        drawing: the drawing.
        entries: its entries.
        left: where the rows begin.
    """
    names = [each.name for each in entries]
    places, texts = lay_out(names, left), shortened(names, _MOST_IN_LEGEND)
    for entry, (at, row), text in zip(entries, places, texts, strict=True):
        line = FONT_TOP + _ROW * row
        right = at + _SAMPLE + width_of(text)
        with drawing.group({"s": entry.number, "button": entry.name, "legend": 1}):
            corners = [(at - 4, line - 12), (right, line - 12), (right, line + 4), (at - 4, line + 4)]
            drawing.path(corners, colour="none", fill="#0000")
            drawing.path([(at, line - 4), (at + 18, line - 4)], colour=entry.colour, width=3, dashed=entry.dashed)
            drawing.words(at + 23, line, text, data={"whole": entry.name} if text != entry.name else None)


def legend_rows(entries: Sequence[Entry], left: float) -> int:
    """Return the number of rows of a legend that begins there."""
    return 1 + max((row for _, row in lay_out([each.name for each in entries], left)), default=-1)


def lay_out(names: Sequence[str], left: float) -> list[tuple[float, int]]:
    """Return the left end and the row of each entry of a legend."""
    places: list[tuple[float, int]] = []
    at, row = left, 0
    for text in shortened(names, _MOST_IN_LEGEND):
        width = _SAMPLE + width_of(text) + 12
        if at + width > WIDTH and at > left:
            at, row = left, row + 1
        places.append((at, row))
        at += width
    return places


def names_of(cell: Cell, scale: Scale) -> tuple[str, ...]:
    """Return the possible labels of a call in a flame graph, the longest first: the first that fits is drawn."""
    size = formatted(scale, cell.x[1] - cell.x[0])
    longest = (f"{cell.name} ({cell.place}) {size}",) if cell.place else ()
    return (*longest, f"{cell.name} {size}", cell.name, cell.brief or cell.name)


def formatted(scale: Scale, value: float) -> str:
    """Format a value of an axis with its unit.

    >>> formatted(Scale(label="", quantity="time", low=1, high=2), 4210.0)
    '4.21 µs'
    """
    if scale.quantity == "time":
        return units.time(value) if scale.unit is None else units.time_in(value, scale.unit)
    if scale.quantity == "size":
        return units.size(value) if scale.unit is None else units.size_in(value, scale.unit)
    if scale.quantity == "share":
        return units.percent(value)
    if scale.quantity == "flops":
        return units.rate(value, "flops")
    if scale.quantity == "name":
        return scale.names[round(value)]
    return units.factor(value) if scale.quantity == "ratio" else units.number_about(value)


def _axis(scale: Scale, start: float, end: float) -> Axis:
    return Axis(scale.low, scale.high, start, end, scale.log)


def _described(placed: tuple[str, tuple[Scale, float, float]]) -> tuple[str, dict[str, object]]:
    """Describe an axis for the script. Values are in the axis's unit, so that they are short."""
    name, (scale, start, end) = placed
    size = unit_of(scale)[1]
    return name, {
        "label": scale.label,
        "low": scale.low / size,
        "high": scale.high / size,
        "start": start,
        "end": end,
        "log": int(scale.log),
        "can": int(scale.switchable),
        "units": units_of(scale, size),
        "names": list(scale.names),
    }


def units_of(scale: Scale, size: float = 1.0) -> list[tuple[str, float]]:
    """List the units of a value, largest first, each as a multiple of the axis's unit, which is `size`."""
    unit_sizes: dict[str, dict[str, int]] = {"time": units.TIME_UNITS, "size": units.SIZE_UNITS}
    if sizes := unit_sizes.get(scale.quantity):
        return [(f" {unit}", each / size) for unit, each in sizes.items() if scale.unit in (None, unit)]
    if scale.quantity == "flops":
        return [(f" {prefix}FLOP/s", each / size) for prefix, each in (*units.PREFIXES.items(), ("", 1.0))]
    suffixes: dict[str, str] = {"share": units.percent(1).removeprefix("100"), "ratio": units.factor_tick(1)[1:]}
    return [(suffixes.get(scale.quantity, ""), 1.0)]
