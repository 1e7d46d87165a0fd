"""Declares the memory of arrays after each cell of a session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMemory:
    """The memory of arrays after a cell of the session ran.

    Attributes:
        cell: the cell's number, as in ``In [7]``; ``None`` for a cell without a number.
        array_bytes: size of all live JAX arrays on the local devices.
    """

    cell: int | None
    array_bytes: int
