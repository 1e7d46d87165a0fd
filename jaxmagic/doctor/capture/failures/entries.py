"""Reads the entries of a traceback, and tells the user's own from those of libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType
from typing import NamedTuple

from ....records.call_stack import Frame, is_ours, is_users
from ....records.cell_names import known_as
from ....tracebacks import calls_in
from ...analysis.failures.messages import is_jax_file
from .libraries.library_calls import innermost_library_call
from .recognize import Recognized
from .statement import Place, place_of


class Entry(NamedTuple):
    """One entry of a traceback."""

    frame: FrameType
    where: Frame
    offset: int

    @property
    def place(self) -> Place:
        """The statement and the expression at which it stopped."""
        return place_of(self.frame.f_code, self.offset)


def entries_of(recognized: Recognized) -> list[Entry]:
    """Return the entries of the traceback that leads to the user's code; it may be of the exception behind."""
    entries = [*_entries(recognized.error.__traceback__)]
    if recognized.behind is not None and not any(is_users(each.where) for each in entries):
        entries = [*_entries(recognized.behind.__traceback__)]
    return entries


def _entries(traceback: TracebackType | None) -> Iterator[Entry]:
    for each in calls_in(traceback):
        frame = each.tb_frame
        if not frame.f_code.co_qualname.startswith("__create_fn__.<locals>"):  # a method that dataclasses wrote
            yield Entry(frame, _where(frame, each.tb_lineno), each.tb_lasti)


def _where(frame: FrameType, line: int | None) -> Frame:
    code = frame.f_code
    name = known_as(code.co_filename)
    cell = None if name == code.co_filename else name
    return Frame(function=code.co_name, file=code.co_filename, line=line or 0, cell=cell)


def displaying(entries: Sequence[Entry]) -> Entry | None:
    """Return the entry of the cell whose statement displayed what failed, which IPython cuts from the traceback.

    IPython compiles each statement of a cell by itself, so the frame belongs to this one. A function that displays
    something has gone on since, so its line is unknown.
    """
    frame = entries[0].frame if entries else None
    while frame is not None:
        where = _where(frame, frame.f_lineno)
        if is_users(where):
            is_cell = where.cell is not None and where.function.startswith(("<module>", "<cell line"))
            return Entry(frame, where, frame.f_lasti) if is_cell else None
        frame = frame.f_back
    return None


def beyond(entries: Sequence[Entry], last: Entry) -> Sequence[Entry]:
    """Return the calls that a line of the user's led to."""
    return entries[[each is last for each in entries].index(True) + 1 :]


def library_in(entries: Sequence[Entry]) -> Entry | None:
    """Return the innermost call in a library among those that the failing line led to."""
    entries = [each for each in entries if not is_ours(each.where)]  # waits that a magic hears
    found = innermost_library_call([each.where.file for each in entries])
    return None if found is None else entries[found]


def first_of_jax(entries: Sequence[Entry]) -> FrameType | None:
    """Return the frame of JAX's function that the failing line called, directly or through a library."""
    return next((each.frame for each in entries if is_jax_file(each.where.file)), None)
