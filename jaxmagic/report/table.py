"""Declares a table: columns with their types, and rows."""

from __future__ import annotations

from typing import Any, NamedTuple

#: The type of a column of timestamps in ISO 8601.
MOMENT = "datetime64[us, UTC]"


class Table(NamedTuple):
    """A table for a pandas frame.

    Attributes:
        columns: the pandas type of each column by name; all types but ``"int64"`` and ``"float64"`` allow ``<NA>``.
        rows: the values; ``None`` where nothing was measured.
    """

    columns: dict[str, str]
    rows: list[tuple[Any, ...]]
