"""What a script needs to make a timeline live: very many events, in few bytes each.

What they are called is JSON; their rows, starts, lengths and names are columns of bytes behind it. A start is told to
the 33-millionth part of the whole, a length to three digits, which is as people read it.
"""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
from numpy.typing import NDArray

from ..analysis.lane_runs import longest
from ..model.lanes import Lane, Lanes
from .colours import hue
from .plot import units_of

#: What a timeline may take of a page. That of 100,000 operations of a program takes less.
_MOST_LETTERS = 450_000

#: Into how many parts the axis is divided.
_PARTS = 2**25

#: Digits of a length.
_DIGITS = 3

Ints = NDArray[np.int64]


def pack_small(chart: Lanes) -> tuple[Lanes, str]:
    """A timeline as text that is not too long for a page, and what of it that is: its longest events."""
    packed = pack(chart)
    if len(packed) > _MOST_LETTERS:
        chart = longest(chart, 0.9 * _MOST_LETTERS / len(packed))
        packed = pack(chart)
    return chart, packed


def pack(chart: Lanes) -> str:
    """A timeline as text for an attribute: deflated, in base64."""
    step = max(chart.x.high / _PARTS, 1.0)
    told = json.dumps(_told(chart, step), separators=(",", ":")).encode()
    data = len(told).to_bytes(4, "little") + told + b"".join(_columns(each, step) for each in chart.lanes)
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _told(chart: Lanes, step: float) -> dict[str, object]:
    return {
        "title": chart.title,
        "x": {"label": chart.x.label, "high": chart.x.high, "units": units_of(chart.x)},
        "step": step,
        "kinds": [(name, hue(number)) for name, number in chart.kinds],
        "called": [(each.name, each.kind, *each.lines) for each in chart.called],
        "lanes": [(each.owner, each.name, each.rows, len(each.start), int(each.faint)) for each in chart.lanes],
        "note": chart.note,
    }


def _columns(lane: Lane, step: float) -> bytes:
    start = np.round(np.array(lane.start, np.int64) / step).astype(np.int64)
    digits, power = _rounded(np.array(lane.length, np.int64), step)
    columns = (
        np.array(lane.row, np.int64),
        np.diff(start, prepend=0),
        digits,
        power,
        np.array(lane.called, np.int64),
    )
    return b"".join(map(_planes, columns))


def _rounded(lengths: Ints, step: float) -> tuple[Ints, Ints]:
    """The first digits of each, as many as are read, and the power of ten that they are to be multiplied with.

    What is longer than many steps has more digits: an end is told as exactly as a start.

    >>> [each.tolist() for each in _rounded(np.array([0, 7, 1234, 98765]), 200.0)]
    [[0, 7, 123, 988], [0, 0, 1, 2]]
    >>> [each.tolist() for each in _rounded(np.array([1234, 98765]), 10.0)]
    [[123, 9876], [1, 1]]
    """
    power: Ints = np.maximum(np.floor(np.log10(np.maximum(lengths, 1))).astype(np.int64) - (_DIGITS - 1), 0)
    power = np.minimum(power, max(0, int(np.log10(step))))
    digits: Ints = np.round(lengths / 10**power).astype(np.int64)
    return digits, power


def _planes(values: Ints) -> bytes:
    """How many bytes a number has, and the first bytes of all numbers, then the second ones, and so on.

    What numbers have in common is in their higher bytes: one behind the other, these deflate to next to nothing.

    >>> _planes(np.array([1, 300])).hex()
    '02012c0001'
    """
    width = max(1, -(-int(values.max(initial=0)).bit_length() // 8))
    return bytes([width]) + bytes((values[None, :] >> (8 * np.arange(width)[:, None]) & 255).astype(np.uint8))
