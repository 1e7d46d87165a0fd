"""Reads the fields of many small protocol buffer messages at once, in columns.

A trace has millions of events of a few bytes each, and making an object of each takes longer than the whole analysis.
So numpy reads the first field of all events, then the second one, and so on.
https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

#: Wire types.
VARINT, LENGTH = 0, 2

#: Bytes that must follow the last message, because reading may go beyond its end.
PADDING = 32

#: Content length of each wire type of fixed length.
_SIZES = np.array([0, 8, 0, 0, 0, 4, 0, 0], np.int64)

#: Longest varint.
_MOST_BYTES = 10


class Fields(NamedTuple):
    """The next field of each message that has one.

    Attributes:
        message: indices of the messages.
        number: field numbers.
        wire: wire types.
        value: the values of varints, the lengths of length-delimited fields; undefined for others.
        at: offsets of the contents, after tag and length.
    """

    message: Ints
    number: Ints
    wire: Ints
    value: Ints
    at: Ints


def fields(data: Bytes, start: Ints, end: Ints) -> Iterator[Fields]:
    """Yield the first fields of all messages, then all second ones, and so on. A broken message ends where it breaks.

    Args:
        data: bytes, with :data:`PADDING` after the last message.
        start: offsets of the messages.
        end: offsets of their ends.

    >>> data = np.array([8, 150, 1, 18, 2, 104, 105, 8, 7, *[0] * PADDING], np.uint8)
    >>> for each in fields(data, np.array([0, 7]), np.array([7, 9])):
    ...     print(each.message, each.number, each.value)
    [0 1] [1 1] [150   7]
    [0] [2] [2]
    """
    live = np.flatnonzero(start < end)
    at, end = start[live], end[live]
    while len(live):
        tag, at = varints(data, at)
        wire = tag & 7
        value, after = varints(data, at)
        content = np.where((wire == VARINT) | (wire == LENGTH), after, at)
        size = np.where(wire == LENGTH, value, _SIZES[wire])
        whole = (wire != 3) & (wire != 4) & (wire < 6) & (size >= 0) & (size <= end - content)
        if not whole.all():
            live, tag, wire, value, content, size, end = (
                each[whole] for each in (live, tag, wire, value, content, size, end)
            )
        yield Fields(live, tag >> 3, wire, value, content)
        at = content + size
        more = at < end
        if not more.all():
            live, at, end = live[more], at[more], end[more]


def varints(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """Read varints at some offsets. Returns the values, and the offsets after them.

    >>> data = np.array([150, 1, 7, *[0] * PADDING], np.uint8)
    >>> [each.tolist() for each in varints(data, np.array([0, 2]))]
    [[150, 7], [2, 3]]
    """
    byte = data[at]
    value = (byte & 127).astype(np.int64)
    after = at + 1
    more = np.flatnonzero(byte > 127)
    for place in range(1, _MOST_BYTES):
        if not len(more):
            break
        byte = data[after[more]]
        value[more] |= (byte & 127).astype(np.int64) << (7 * place)
        after[more] += 1
        more = more[byte > 127]
    return value, after
