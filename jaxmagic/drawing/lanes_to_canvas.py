"""Packs a timeline of very many events for the script that makes it live, in about one byte per event.

Names are JSON; behind it stand columns of bytes. Three things make them small. A start is given as the gap to the end
of the event before it in its row, which is short. Lengths are ordered by what the events are called, because runs of
one operation take similar times. And of a long recording, times are rounded to the millionth part of the whole.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..charts.lane_thinning import longest
from ..charts.lanes import Lane, Lanes
from .colours import hue
from .plot import units_of

#: Base64 letters that a timeline may take of a page. That of 100,000 operations of a program takes fewer.
_MOST_LETTERS = 120_000

Ints = NDArray[np.int64]


class Precision(NamedTuple):
    """The precision of times in a picture.

    Attributes:
        parts: number of parts that the axis is divided into. A start is rounded to one of them.
        digits: significant digits of a length, more where that many are coarser than a part of the axis.
    """

    parts: int
    digits: int


#: From fine to coarse. The coarser one still has a thousand parts for each pixel.
_FINE, _COARSE = Precision(2**25, 3), Precision(2**20, 2)


def pack_small(chart: Lanes) -> str:
    """Pack as many events as fit a page, the longest first, in the finest precision in which all of them fit."""
    packed = pack(chart)
    if len(packed) > _MOST_LETTERS:
        chart = replace(chart, note="; ".join(filter(None, [chart.note, f"lengths to {_COARSE.digits} digits"])))
        packed = pack(chart, _COARSE)
    if len(packed) > _MOST_LETTERS:
        packed = pack(longest(chart, 0.9 * _MOST_LETTERS / len(packed)), _COARSE)
    return packed


def pack(chart: Lanes, precision: Precision = _FINE) -> str:
    """Pack a timeline for an attribute: deflated, in base64."""
    step = max(chart.x.high / precision.parts, 1.0)
    told = json.dumps(_told(chart, step), separators=(",", ":")).encode()
    columns = (_columns(each, step, precision.digits) for each in chart.lanes)
    data = len(told).to_bytes(4, "little") + told + b"".join(columns)
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


def _columns(lane: Lane, step: float, digits: int) -> bytes:
    row, called = np.array(lane.row, np.int64), np.array(lane.called, np.int64)
    leading, power = _rounded(np.array(lane.length, np.int64), step, digits)
    start = _in_steps(np.array(lane.start, np.int64), step)
    gaps = start - _expected(row, start, start + _in_steps(leading * 10**power, step))
    order = np.argsort(called, kind="stable")
    signed = np.where(gaps >= 0, 2 * gaps, -2 * gaps - 1)
    return b"".join(map(_planes, (row, called, signed, leading[order], power[order])))


def _in_steps(times: Ints, step: float) -> Ints:
    """Round as scripts do: halves upwards."""
    found: Ints = np.floor(times / step + 0.5).astype(np.int64)
    return found


def _expected(row: Ints, start: Ints, end: Ints) -> Ints:
    """Predict starts: at the end of the event before in its row; of the first event within another, at its start.

    >>> _expected(np.array([0, 1, 1, 0]), np.array([0, 1, 4, 9]), np.array([8, 3, 7, 12])).tolist()
    [0, 0, 3, 8]
    """
    found = np.zeros_like(start)
    by_row = np.argsort(row, kind="stable")
    same = row[by_row][1:] == row[by_row][:-1]
    found[by_row[1:][same]] = end[by_row[:-1][same]]
    within = np.flatnonzero(np.diff(row) > 0) + 1
    found[within] = start[within - 1]
    return found


def _rounded(lengths: Ints, step: float, most: int) -> tuple[Ints, Ints]:
    """Return the leading digits of each length, and the power of ten to multiply them by.

    A length that is longer than many steps has more digits, so that an end is as exact as a start.

    >>> [each.tolist() for each in _rounded(np.array([0, 7, 1234, 98765]), 200.0, 3)]
    [[0, 7, 123, 988], [0, 0, 1, 2]]
    >>> [each.tolist() for each in _rounded(np.array([1234, 98765]), 10.0, 3)]
    [[123, 9876], [1, 1]]
    """
    power: Ints = np.maximum(np.floor(np.log10(np.maximum(lengths, 1))).astype(np.int64) - (most - 1), 0)
    power = np.minimum(power, max(0, int(np.log10(step))))
    digits: Ints = np.round(lengths / 10**power).astype(np.int64)
    return digits, power


def _planes(values: Ints) -> bytes:
    """Write the number of bytes per value, then the first bytes of all values, then the second ones, and so on.

    What numbers have in common is in their higher bytes: one behind the other, these deflate to next to nothing.

    >>> _planes(np.array([1, 300])).hex()
    '02012c0001'
    """
    width = max(1, -(-int(values.max(initial=0)).bit_length() // 8))
    return bytes([width]) + bytes((values[None, :] >> (8 * np.arange(width)[:, None]) & 255).astype(np.uint8))
