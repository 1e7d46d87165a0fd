"""Converts records to pandas frames, with units in the columns' names. No other file imports pandas."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from ..records.exportable import Exportable
from ..records.names import one_of
from ..subjects import of_record
from .table import MOMENT, Table


def to_frame(record: object, of: str | None = None) -> pd.DataFrame:
    """Convert a record to a frame; a value that was not measured is ``<NA>``, never 0.

    Args:
        record: a record or the history, or a part of a record, which becomes one row.
        of: the name of the table; if left out, the subject's default table or its first one.

    Raises:
        TypeError: the object is not a record.
        ValueError: it has no table of this name.
    """
    tables: Mapping[str | None, Callable[[object], Table]] | None = of_record(type(record), "tables", "TABLES")
    if tables is None:
        if not isinstance(record, Exportable):
            got = type(record).__name__
            raise TypeError(f"to_frame(): expected a record, got {got}. Write for example jaxmagic.last().to_frame()")
        name = f"{type(record).__name__.lower()}s"
        _check(of, (name,))
        return _one_row(record)
    _check(of, tuple(each for each in tables if each is not None))
    return _frame(tables[of if of in tables else next(iter(tables))](record))


def _check(of: str | None, known: tuple[str, ...]) -> None:
    if of is not None and of not in known:
        raise ValueError(f"of: expected {one_of(known)}, got {of!r}. Write for example to_frame({known[0]!r})")


def _frame(table: Table) -> pd.DataFrame:
    frame = pd.DataFrame(table.rows, columns=list(table.columns))
    for name, kind in table.columns.items():
        if kind == MOMENT:
            frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601")
    return frame.astype(table.columns)


def _one_row(record: Exportable) -> pd.DataFrame:
    """Make one row with a column for each field; unknown values are ``<NA>``."""
    row = {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in record.to_dict().items()}
    frame = pd.DataFrame([row]).convert_dtypes()
    empty = [name for name in frame if pd.api.types.infer_dtype(frame[name]) == "empty"]
    return frame.astype(dict.fromkeys(empty, "string"))
