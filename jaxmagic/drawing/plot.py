"""A drawing with axes: values in, places out, and each place with its value beside it, for when an axis changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from math import ceil, log10

from .. import units
from ..charts.areas import Cell
from ..charts.scale import Scale
from ..records.names import shortened
from .axis import Axis, ticks, title, unit_of
from .svg import FAINT, Drawing, Kind, short, width_of

WIDTH = 560

#: Two axes at most, so many ticks on each.
_MOST_TICKS = {"x": 6, "y": 4}


#: The first line of text, the distance to the next, and where it begins beside the sample of a line.
FONT_TOP = 11
_ROW = 16
_SAMPLE = 25

#: Letters of the title of a vertical axis, which stands in the same line as the names.
MOST_IN_TITLE = 30

#: Letters of a name in a legend.
_MOST_IN_LEGEND = 24


class Plot:
    """A drawing whose places are values.

    Args:
        height: of the drawing, in pixels.
        heading: what it shows, for those who do not see it.
        x: what is to the right, and from where to where.
        y: what is up, and from where to where in pixels; where it is left out, heights are pixels.
    """

    def __init__(
        self, height: int, heading: str, x: tuple[Scale, float, float], y: tuple[Scale, float, float] | None = None
    ) -> None:
        self.scales = {"x": x[0]} | ({"y": y[0]} if y else {})
        self.x = _axis(*x)
        self.y = _axis(*y) if y else None
        placed = [("x", x)] + ([("y", y)] if y else [])
        self.drawing = Drawing(WIDTH, height, heading, {"axes": json.dumps(dict(map(_told, placed)))})

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
        """A line through values, a surface, or dots."""
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
        """A line of text with its middle at a value, or as near to it as the picture allows."""
        half = min(width_of(text), WIDTH) / 2
        at = min(max(self.x.at(x), half), WIDTH - half)
        self.drawing.words(at, height, text, anchor="middle", data={"x": self.numbers("x", [x]), "half": round(half)})

    def grid(self, top: float, bottom: float) -> None:
        """The ticks of both axes, with lines; those of the other kind of axis are there as well, and hidden."""
        for name, scale in self.scales.items():
            for log in {scale.log, scale.log ^ scale.switchable}:
                with self.drawing.group({"ticks": name, "log": int(log)}, hidden=log != scale.log):
                    found = ticks(scale, log=log, most=_MOST_TICKS[name])
                    texts = shortened([text for _, text in found], 14)
                    for (value, _), text in zip(found, texts, strict=True):
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
            self.drawing.words(WIDTH - 4, bottom + 31, short(text, 70), anchor="end")
        else:
            self.drawing.words(0, FONT_TOP, short(text, MOST_IN_TITLE))

    def numbers(self, name: str, values: Iterable[float | None]) -> str:
        """Values of an axis in its unit, with digits that place them to a fraction of a pixel; ``-`` for a gap."""
        scale = self.scales[name]
        size = unit_of(scale)[1]
        digits = 4 + max(0, ceil(log10(max(abs(scale.low), abs(scale.high)) / (scale.high - scale.low))))
        return " ".join("-" if each is None else f"{each / size:.{digits}g}" for each in values)


def legend(drawing: Drawing, entries: Iterable[tuple[str, str, bool]], left: float) -> None:
    """Names beside samples of their lines, in rows, above everything else.

    Args:
        drawing: where.
        entries: for each series its name, its colour and whether its line is dashed.
        left: where the rows begin.
    """
    found = list(entries)
    names = [name for name, _, _ in found]
    places, texts = lay_out(names, left), shortened(names, _MOST_IN_LEGEND)
    for number, ((name, colour, dashed), (at, row), text) in enumerate(zip(found, places, texts, strict=True)):
        line = FONT_TOP + _ROW * row
        right = at + _SAMPLE + width_of(text)
        with drawing.group({"s": number, "button": name}):
            corners = [(at - 4, line - 12), (right, line - 12), (right, line + 4), (at - 4, line + 4)]
            drawing.path(corners, colour="none", fill="#0000")
            drawing.path([(at, line - 4), (at + 18, line - 4)], colour=colour, width=3, dashed=dashed)
            drawing.words(at + 23, line, text)


def lay_out(names: Sequence[str], left: float) -> list[tuple[float, int]]:
    """Find where each entry of a legend begins, and in which row."""
    found: list[tuple[float, int]] = []
    at, row = left, 0
    for text in shortened(names, _MOST_IN_LEGEND):
        width = _SAMPLE + width_of(text) + 12
        if at + width > WIDTH and at > left:
            at, row = left, row + 1
        found.append((at, row))
        at += width
    return found


def names_of(cell: Cell, scale: Scale) -> tuple[str, ...]:
    """Return what may stand on a call of a flame graph, the longest first: for the first one that has room."""
    size = said(scale, cell.x[1] - cell.x[0])
    longest = (f"{cell.name} ({cell.place}) {size}",) if cell.place else ()
    return (*longest, f"{cell.name} {size}", cell.name)


def said(scale: Scale, value: float) -> str:
    """A value of an axis, for people.

    >>> said(Scale(label="", quantity="time", low=1, high=2), 4210.0)
    '4.21 µs'
    """
    if scale.quantity == "time":
        return units.time(value) if scale.unit is None else units.time_in(value, scale.unit)
    if scale.quantity == "size":
        return units.size(value) if scale.unit is None else units.size_in(value, scale.unit)
    if scale.quantity == "share":
        return units.percent(value)
    if scale.quantity == "name":
        return scale.names[round(value)]
    return units.factor(value) if scale.quantity == "ratio" else units.number_about(value)


def _axis(scale: Scale, start: float, end: float) -> Axis:
    return Axis(scale.low, scale.high, start, end, scale.log)


def _told(placed: tuple[str, tuple[Scale, float, float]]) -> tuple[str, dict[str, object]]:
    """An axis as the script needs it. Values are in the axis's unit, so that they are short."""
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
    """List the units of a value, largest first, and how much of the axis's unit, if it has a `size`, each is."""
    written_in: dict[str, dict[str, int]] = {"time": units.TIME_UNITS, "size": units.SIZE_UNITS}
    if found := written_in.get(scale.quantity):
        return [(f" {unit}", each / size) for unit, each in found.items() if scale.unit in (None, unit)]
    written: dict[str, str] = {"share": units.percent(1).removeprefix("100"), "ratio": units.factor_tick(1)[1:]}
    return [(written.get(scale.quantity, ""), 1.0)]
