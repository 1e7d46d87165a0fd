"""Counts every byte of an allocation once, however many values share it.

XLA gives values that have to share memory the same offset: the state of a loop before it, in its condition, in its
body and after it; operands and results of a call; a result that is written over its operand. By the schedule alone
several of them are live at the same step, but they are one piece of memory, which holds the newest of them. This is
``HloLiveRange::NormalizeAliasedBuffers`` (https://github.com/openxla/xla), applied byte by byte.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from ..record.memory_profile import Buffer

_END, _OFFSET = attrgetter("end"), attrgetter("offset")


class _Stretch(NamedTuple):
    """Bytes from `offset` up to `end` that hold `buffer` from step `first` to step `last`, both included."""

    offset: int
    end: int
    first: int
    last: int
    buffer: Buffer


def disjoint(buffers: Iterable[Buffer]) -> tuple[Buffer, ...]:
    """Cut the buffers of one allocation so that no two of them hold the same byte at the same step.

    A newer value takes over bytes from an older one, and holds them as long as either is live. A buffer that shares
    no byte with another at any step is returned as the same object.

    Args:
        buffers: the buffers of one allocation.

    Returns:
        The same bytes and steps, in the order of their definition. A buffer that loses only some of its bytes becomes
        several; one that loses all of them at its first step is left out.

    >>> def made(first, last):
    ...     return Buffer(offset_bytes=0, size_bytes=8, first=first, last=last, instruction="a", shape="f32[2]",
    ...                   op_name="", source=None)
    >>> [(each.first, each.last) for each in disjoint([made(0, 9), made(3, 5)])]
    [(0, 2), (3, 9)]
    """
    present: list[_Stretch] = []  # by offset; they do not overlap
    done: list[_Stretch] = []
    for buffer in sorted(buffers, key=attrgetter("first", "last")):
        new = _Stretch(
            buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes, buffer.first, buffer.last, buffer
        )
        if new.offset == new.end:
            done.append(new)
            continue
        low = bisect_left(present, new.offset + 1, key=_END)
        high = bisect_left(present, new.end, key=_OFFSET)
        under = present[low:high]
        done += (ended for old in under for ended in _ended(old, new))
        present[low:high] = sorted((*_beside(under, new), *_taken(under, new)), key=_OFFSET)
    return tuple(sorted(map(_buffer, (*done, *present)), key=attrgetter("first", "offset_bytes")))


def _ended(old: _Stretch, new: _Stretch) -> Iterator[_Stretch]:
    """Yield the part of `old` that ends when `new` begins."""
    if old.last < new.first:
        yield old
    elif old.first < new.first:
        yield old._replace(offset=max(old.offset, new.offset), end=min(old.end, new.end), last=new.first - 1)


def _beside(under: Iterable[_Stretch], new: _Stretch) -> Iterator[_Stretch]:
    """Yield the bytes of older values on either side of `new`, which stay live."""
    for old in under:
        if old.last >= new.first:
            if old.offset < new.offset:
                yield old._replace(end=new.offset)
            if old.end > new.end:
                yield old._replace(offset=new.end)


def _taken(under: Iterable[_Stretch], new: _Stretch) -> Iterator[_Stretch]:
    """Yield `new`, split where an older value needs some of its bytes for longer."""
    piece = new._replace(end=new.offset)
    for old in under:
        if old.last <= new.last:
            continue
        begin, end = max(old.offset, new.offset), min(old.end, new.end)
        for until, last in ((begin, new.last), (end, old.last)):
            if until > piece.end:
                if last != piece.last:
                    if piece.end > piece.offset:
                        yield piece
                    piece = piece._replace(offset=piece.end, last=last)
                piece = piece._replace(end=until)
    if new.end > piece.end and piece.last != new.last:
        yield piece
        piece = new._replace(offset=piece.end)
    yield piece._replace(end=new.end)


def _buffer(stretch: _Stretch) -> Buffer:
    buffer = stretch.buffer
    size_bytes = stretch.end - stretch.offset
    if (buffer.offset_bytes, buffer.size_bytes, buffer.last) == (stretch.offset, size_bytes, stretch.last):
        return buffer
    return replace(buffer, offset_bytes=stretch.offset, size_bytes=size_bytes, last=stretch.last)
