"""Finds arrays that grow from record to record under the same name: perhaps a leak."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ..record.live_arrays import LiveArrays
from ..record.memory_profile import Suspect

#: Number of records in a row in which a suspect has to have grown.
_LEAST_RECORDS = 3

#: IPython keeps the value of each cell, so ``Out`` always grows. Less than this is not worth a warning.
_LEAST_OF_OUT_BYTES = 256

#: Subscripts of a path, which may differ from record to record.
_SUBSCRIPT = re.compile(r"\[[^\[\]]*\]")

#: IPython's other names for the values in ``Out``.
_OUTPUT = re.compile(r"_(?:_{0,2}|\d+)(?![^.\[])")


def suspects(lives: Sequence[LiveArrays]) -> tuple[Suspect, ...]:
    """Return the paths whose arrays grew in each of the last records, largest growth first.

    Args:
        lives: the live arrays of each record, newest last.
    """
    last = [_by_path(live) for live in lives[-_LEAST_RECORDS:]]
    if len(last) < _LEAST_RECORDS:
        return ()
    growing = []
    for path, (_, arrays) in last[-1].items():
        seen = tuple(sizes[path][0] for sizes in last if path in sizes)
        if path.startswith("Out[") and seen[-1] - seen[0] < _LEAST_OF_OUT_BYTES:
            continue
        if len(seen) == len(last) and all(more > less for less, more in pairwise(seen)):
            growing.append(Suspect(path=path, bytes_seen=seen, arrays=arrays))
    return tuple(sorted(growing, key=lambda suspect: suspect.bytes_seen[0] - suspect.bytes_seen[-1]))


def _by_path(live: LiveArrays) -> dict[str, tuple[int, int]]:
    """Return bytes and number of the arrays at each path, whatever their subscripts."""
    totals: dict[str, tuple[int, int]] = {}
    for array in live.arrays:
        if array.names and not array.names[0].startswith("("):  # the value of the code, which is new in each run
            path = general(array.names[0])
            size_bytes, arrays = totals.get(path, (0, 0))
            totals[path] = size_bytes + array.own_bytes, arrays + 1
    return totals


def general(name: str) -> str:
    """Replace the subscripts of a path by ``[*]``, and IPython's names of values by ``Out``.

    >>> general("params['layer1'][0].w"), general("_3.w")
    ('params[*][*].w', 'Out[*].w')
    """
    return _SUBSCRIPT.sub("[*]", _OUTPUT.sub("Out[0]", name, count=1) if _OUTPUT.match(name) else name)
