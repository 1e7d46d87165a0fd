"""Gives lines the names under which people know them."""

from __future__ import annotations

import types
from dataclasses import replace

from ...records.call_stack import Frame
from ...records.cell_names import known_as


def known(frame: Frame | None) -> Frame | None:
    """Add the cell to a line if its file is the code of a cell."""
    if frame is None:
        return None
    name = known_as(frame.file)
    return frame if name == frame.file else replace(frame, cell=name)


def first_line(function: types.FunctionType) -> Frame:
    """Return the first line of a function, with its decorators."""
    code = function.__code__
    place = known(Frame(function=code.co_name, file=code.co_filename, line=code.co_firstlineno))
    assert place is not None
    return place
