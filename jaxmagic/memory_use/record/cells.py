"""What arrays take, cell after cell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMemory:
    """What was taken when a cell of the session had run.

    Attributes:
        cell: its number, as in ``In [7]``; ``None`` for one that has none.
        array_bytes: what the living JAX arrays took on the local devices.
    """

    cell: int | None
    array_bytes: int
