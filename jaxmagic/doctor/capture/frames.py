"""Gives lines the names under which people know them."""

from __future__ import annotations

from dataclasses import replace

from ...records.call_stack import Frame
from ...records.cell_names import known_as


def known(frame: Frame | None) -> Frame | None:
    """Add the cell to a line if its file is the code of a cell."""
    if frame is None:
        return None
    name = known_as(frame.file)
    return frame if name == frame.file else replace(frame, cell=name)
