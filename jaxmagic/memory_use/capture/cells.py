"""Notes what arrays take behind each cell."""

from __future__ import annotations

from contextlib import suppress

from ...session.verbs import keep_cell
from ..record.cells import CellMemory


def note_cell(cell: int) -> None:
    """Note what arrays take behind a cell of the session; nothing where no backend runs."""
    from .usage_readings import array_bytes, started_devices

    with suppress(Exception):  # it is nobody's to hear of behind each of their cells
        devices = started_devices()
        if devices and (found := array_bytes(devices)) is not None:
            keep_cell(CellMemory(cell=cell, array_bytes=found))
