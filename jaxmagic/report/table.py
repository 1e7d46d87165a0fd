"""Declares a table: columns with their types, and rows."""

from __future__ import annotations

from typing import Any, NamedTuple

#: The type of a column with moments in ISO 8601.
MOMENT = "datetime64[us, UTC]"


class Table(NamedTuple):
    """Rows under their columns.

    Attributes:
        columns: for each name the type in pandas; but for ``"int64"`` and ``"float64"`` all know what is missing.
        rows: their values, ``None`` for what was not measured.
    """

    columns: dict[str, str]
    rows: list[tuple[Any, ...]]
