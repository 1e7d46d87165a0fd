"""Which colour stands for what, in every medium."""

from __future__ import annotations

#: Okabe and Ito's palette, safe for the colour-blind, in the order in which series take it.
HUES = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#b39b00", "#999999")

#: The parts of a time, wherever they are shown; and in greys, for those who print.
PARTS = {
    "tracing": "#e69f00",
    "lowering": "#cc79a7",
    "compilation": "#d55e00",
    "cache retrieval": "#f0e442",
    "host": "#56b4e9",
    "dispatch": "#56b4e9",
    "wait": "#009e73",
}
GREY_PARTS = {
    "tracing": "#555",
    "lowering": "#777",
    "compilation": "#333",
    "cache retrieval": "#999",
    "host": "#aaa",
    "dispatch": "#aaa",
    "wait": "#ccc",
}

#: Of what is no series: as far from white as from black.
GREY = "#7a7a7a"

#: Between two surfaces of the same colour.
EDGE = "#ffffff99"


#: Of words on a surface in one of the hues.
INK = "#111"


def hue(number: int) -> str:
    """The colour with this number; they come round again."""
    return HUES[number % len(HUES)]


def hue_of_part(name: str, number: int) -> str:
    """The colour of a part: its own, if it is one of a time, or that with its number."""
    return PARTS.get(name, hue(number))
