"""Draws what matplotlib figures of several kinds share: curves, marks, axes and legends."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterable, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

from ..charts.curves import Mark, Series, Values
from ..charts.scale import Scale
from ..records.names import shortened, truncated
from ..terminal import printable
from .axis import ticks, title
from .colours import GREY, INK, hue
from .labels import Room, Wanted, label_places
from .plot import formatted

#: The font size in points, legible in a figure as wide as a page, and the number of characters in its line.
_POINTS = 9
LETTERS = 90

#: What fills a hollow point, so that no line shows through it.
_PAPER = "white"

#: The same number if all are as wide as a "w".
_WIDE_LETTERS = 64


def draw_curve(axes: Axes, series: Series, name: str) -> Line2D:
    """Draw a line with its points and its interval, dashed and hollow where that is unknown; gaps are ``nan``."""
    colour, xs, ys = hue(series.hue), np.array(_floats(series.x)), np.array(_floats(series.y))
    unknown = [part for run in series.runs for part in series.unknown_of(run)]
    hollow = [at for part in unknown for at in part]
    known = ys.copy()
    known[hollow] = np.nan
    shown: dict[str, Any] = {
        "color": colour,
        "linewidth": 1 if series.muted else 1.5,
        "drawstyle": "steps-post" if series.step else "default",
        "markersize": 3.5,
    }
    style = "--" if series.dashed else "-"
    marker = "o" if series.points or any(len(run) == 1 for run in series.runs) else ""
    (line,) = axes.plot(xs, known, linestyle=style, marker=marker, label=name, **shown)
    for part in unknown:
        around = slice(max(part.start - 1, 0), part.stop + 1)
        axes.plot(xs[around], ys[around], linestyle="--", **shown)
        (rings,) = axes.plot(xs[part], ys[part], linestyle="", marker="o", markerfacecolor=_PAPER, **shown)
        rings.set_zorder(line.get_zorder() + 0.1)
    if series.low is not None and series.high is not None:
        low, high = _floats(series.low), _floats(series.high)
        axes.fill_between(xs, low, high, color=colour, alpha=0.25, linewidth=0)
        lone = [band[0] for run in series.runs for band in series.bands_of(run) if len(band) == 1]
        if lone:
            down, up = ([values[at] for at in lone] for values in (low, high))
            axes.vlines(xs[lone], down, up, color=colour, alpha=0.25, linewidth=5)
    return line


def draw_mark(axes: Axes, scale: Scale, mark: Mark) -> Line2D:
    """Draw a vertical line with its interval, whose label has the values of both."""
    colour = GREY if mark.hue is None else hue(mark.hue)
    text = f"{label(mark.label)} {formatted(scale, mark.at)}"
    if mark.low is not None and mark.high is not None:
        axes.axvspan(mark.low, mark.high, color=colour, alpha=0.25, linewidth=0)
        text += f" ({formatted(scale, mark.low)} to {formatted(scale, mark.high)})"
    return axes.axvline(mark.at, color=colour, linewidth=1, linestyle=":", label=text)


def set_scale(axis: Axis, scale: Scale) -> None:
    """Set the limits, ticks and title of an axis as in the other media."""
    axes = axis.axes
    is_x = isinstance(axis, XAxis)
    (axes.set_xscale if is_x else axes.set_yscale)("log" if scale.log else "linear")
    (axes.set_xlim if is_x else axes.set_ylim)(scale.low, scale.high)
    labelled = ticks(scale, log=scale.log)
    axis.set_ticks([value for value, _ in labelled], labels=labels([text for _, text in labelled], 16))
    axis.set_ticks([], minor=True)
    axis.set_label_text(label(title(scale, log=scale.log), 70))
    axis.grid(True, color=GREY, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Write names to the left of the rows, from top to bottom."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), labels=labels(names))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)


def draw_legend(into: Figure, handles: Iterable[Line2D | Patch]) -> int:
    """Draw a legend above the axes, and return its number of rows."""
    handles = list(handles)
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    columns = max(1, LETTERS // (longest + 8))
    into.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False, fontsize=_POINTS)
    return ceil(len(handles) / columns)


def make_plain(drawn: Figure) -> None:
    """Set all text in one size and as plain text: names with dollar signs are not formulas."""
    for text in drawn.findobj(Text):
        assert isinstance(text, Text)
        text.set_parse_math(False)
        text.set_usetex(False)
        text.set_fontsize(_POINTS)


def place_labels(drawn: Figure) -> None:
    """Move the labels of points to where they cover nothing, and hide those for which there is no room."""
    named = {axes: [each for each in axes.texts if isinstance(each, Annotation)] for axes in drawn.axes}
    labelled = {axes: texts for axes, texts in named.items() if texts}
    if not labelled:
        return
    drawn.draw_without_rendering()  # for the sizes of axes and texts
    for axes, texts in labelled.items():
        _place(axes, texts, 72 / drawn.dpi)


def _place(axes: Axes, texts: Sequence[Annotation], to_points: float) -> None:
    def in_points(data: Any) -> list[tuple[float, float]]:
        """Return positions downwards, as in other media."""
        return [(x * to_points, -y * to_points) for x, y in axes.transData.transform(np.asarray(data))]

    curves = [line for line in axes.lines if line.get_transform() == axes.transData]  # and no marks
    dots = [place for line in curves if line.get_marker() == "o" for place in in_points(line.get_xydata())]
    lines = [
        (*begin, *end)
        for curve in curves
        for begin, end in pairwise(in_points(curve.get_xydata()))
        if not np.isnan([*begin, *end]).any()
    ]
    points = in_points([each.xy for each in texts])
    wanted = [
        Wanted(x, y, (Text.get_window_extent(each).width * to_points / 2,))
        for each, (x, y) in zip(texts, points, strict=True)
    ]
    box = axes.get_window_extent()
    across = box.x0 * to_points, box.x1 * to_points
    down = _POINTS - box.y1 * to_points, -box.y0 * to_points - 3
    places = label_places(wanted, Room(across, down, dots, lines))
    for each, (x, y), place in zip(texts, points, places, strict=True):
        each.set_visible(place is not None)
        assert each.arrow_patch is not None
        each.arrow_patch.set_visible(place is not None and place.leader is not None)
        if place is not None:
            each.xyann = place.middle - x, y - place.line


def make_clear(drawn: Figure) -> None:
    """Remove the background, and draw axes and text in the grey that is legible on white and on black."""
    for patch in (drawn.patch, *(axes.patch for axes in drawn.axes)):
        patch.set_alpha(0)
    for text in drawn.findobj(Text):
        assert isinstance(text, Text)
        if text.get_color() != INK:  # on a coloured area
            text.set_color(GREY)
    for line in drawn.findobj(Line2D):
        assert isinstance(line, Line2D)
        if line.get_markerfacecolor() == _PAPER:
            line.set_markerfacecolor("none")
    for axes in drawn.axes:
        axes.tick_params(color=GREY, labelcolor=GREY)
        for spine in axes.spines.values():
            spine.set_edgecolor(GREY)


def patches(names: Sequence[str], drawn: Container[int] | None = None) -> list[Patch]:
    """Return the legend handles of numbered kinds, or of those that are drawn."""
    numbered = enumerate(labels(names))
    return [Patch(color=hue(number), label=name) for number, name in numbered if drawn is None or number in drawn]


def labels(texts: Sequence[str], most: int = 32) -> tuple[str, ...]:
    """Shorten names that are shown together, so that they stay distinguishable."""
    return shortened([printable(text) for text in texts], most)


def label(text: str, most: int = 32) -> str:
    """Shorten a text to one line of printable characters."""
    return truncated(printable(text), most)


def wrapped(note: str) -> str:
    """Break a note into lines that fit the figure, also if they are all of wide letters."""
    return "\n".join(textwrap.wrap(label(note, 3 * _WIDE_LETTERS), _WIDE_LETTERS))


def _floats(values: Values) -> list[float]:
    return [float("nan") if value is None else float(value) for value in values]
