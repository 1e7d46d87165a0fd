"""Keeps the memory of arrays after each cell."""

from __future__ import annotations

from contextlib import suppress

from ...session.verbs import keep_cell
from ..record.cells import CellMemory


def note_cell(cell: int) -> None:
    """Keep the memory of arrays after a cell of the session, if a backend has started."""
    from .usage_readings import array_bytes, started_devices

    with suppress(Exception):  # no cell of the user may fail or print for this
        devices = started_devices()
        if devices and (size_bytes := array_bytes(devices)) is not None:
            keep_cell(CellMemory(cell=cell, array_bytes=size_bytes))
