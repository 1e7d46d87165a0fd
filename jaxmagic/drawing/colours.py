"""The colours of charts, in every medium."""

from __future__ import annotations

#: Okabe and Ito's colour-blind safe palette, in the order in which series use it. Their blue is lighter here, because
#: dark text lies on it; a light green stands for their yellow, which does not show on white; and their black is grey.
HUES = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#3380e0", "#8bd17c", "#b0b0b0")

#: The parts of a time; and in greys, for printing.
PARTS = {
    "trace": "#e69f00",
    "lower": "#cc79a7",
    "XLA": "#d55e00",
    "cache": "#f0e442",
    "host": "#56b4e9",
    "wait": "#009e73",
}
GREY_PARTS = {
    "trace": "#555",
    "lower": "#777",
    "XLA": "#333",
    "cache": "#999",
    "host": "#aaa",
    "wait": "#ccc",
}

#: Axes and text: legible on white and on black.
GREY = "#7a7a7a"

#: The edge between adjacent areas of the same colour.
EDGE = "#ffffff99"

#: Text on an area in one of the hues.
INK = "#111"


def hue(number: int) -> str:
    """Return the colour with this number; colours repeat."""
    return HUES[number % len(HUES)]


def hue_of_part(name: str, number: int) -> str:
    """Return the colour of a part by its name if it is a part of a time, otherwise by its number."""
    return PARTS.get(name, hue(number))
