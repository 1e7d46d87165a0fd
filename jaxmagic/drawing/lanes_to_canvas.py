"""Packs a timeline of very many events for the script that makes it live, in about one byte per event.

Names are JSON, followed by columns of bytes. Three things make them small. A start is stored as the gap to the end of
the previous event in its row, which is short. Durations are sorted by the events' labels, because executions of the
same operation take similar times. And in a long timeline, times are rounded to a millionth of the whole.
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

#: The maximum size of a timeline on a page, in base64 characters. A program with 100,000 operations needs fewer.
_MOST_LETTERS = 120_000

Ints = NDArray[np.int64]


class Precision(NamedTuple):
    """The precision of times in a picture.

    Attributes:
        parts: the number of parts that the axis is divided into. A start is rounded to one of them.
        digits: significant digits of a duration, or more if these are coarser than a part of the axis.
    """

    parts: int
    digits: int


#: The coarse precision still has a thousand parts per pixel.
_FINE, _COARSE = Precision(2**25, 3), Precision(2**20, 2)


def pack_small(chart: Lanes) -> str:
    """Pack as many events as fit on a page, the longest first, in the finest precision in which all of them fit."""
    packed = pack(chart)
    if len(packed) > _MOST_LETTERS:
        chart = replace(chart, note="; ".join(filter(None, [chart.note, f"durations to {_COARSE.digits} digits"])))
        packed = pack(chart, _COARSE)
    if len(packed) > _MOST_LETTERS:
        packed = pack(longest(chart, 0.9 * _MOST_LETTERS / len(packed)), _COARSE)
    return packed


def pack(chart: Lanes, precision: Precision = _FINE) -> str:
    """Pack a timeline for an attribute: deflated, in base64."""
    step = max(chart.x.high / precision.parts, 1.0)
    header = json.dumps(_header(chart, step), separators=(",", ":")).encode()
    columns = (_columns(lane, step, precision.digits) for lane in chart.lanes)
    data = len(header).to_bytes(4, "little") + header + b"".join(columns)
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _header(chart: Lanes, step: float) -> dict[str, object]:
    kinds = sorted(chart.drawn_kinds)
    at = {kind: number for number, kind in enumerate(kinds)}
    return {
        "title": chart.title,
        "x": {"label": chart.x.label, "high": chart.x.high, "units": units_of(chart.x)},
        "step": step,
        "kinds": [(name, hue(number)) for name, number in map(chart.kinds.__getitem__, kinds)],
        "called": [(each.name, at.get(each.kind, 0), *each.lines) for each in chart.called],
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
    """Round as the script does: halves upwards."""
    steps: Ints = np.floor(times / step + 0.5).astype(np.int64)
    return steps


def _expected(row: Ints, start: Ints, end: Ints) -> Ints:
    """Predict starts: the end of the previous event in the row, or for a first nested event the start of the outer.

    >>> _expected(np.array([0, 1, 1, 0]), np.array([0, 1, 4, 9]), np.array([8, 3, 7, 12])).tolist()
    [0, 0, 3, 8]
    """
    expected = np.zeros_like(start)
    by_row = np.argsort(row, kind="stable")
    same = row[by_row][1:] == row[by_row][:-1]
    expected[by_row[1:][same]] = end[by_row[:-1][same]]
    nested = np.flatnonzero(np.diff(row) > 0) + 1
    expected[nested] = start[nested - 1]
    return expected


def _rounded(lengths: Ints, step: float, most: int) -> tuple[Ints, Ints]:
    """Return the leading digits of each duration, and the power of ten to multiply them by.

    A duration of many steps has more digits, so that ends are as exact as starts.

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
    """Write the number of bytes per value, then the lowest bytes of all values, then the second lowest, and so on.

    Similar numbers have the same higher bytes, which deflate to almost nothing when they follow each other.

    >>> _planes(np.array([1, 300])).hex()
    '02012c0001'
    """
    width = max(1, -(-int(values.max(initial=0)).bit_length() // 8))
    return bytes([width]) + bytes((values[None, :] >> (8 * np.arange(width)[:, None]) & 255).astype(np.uint8))
