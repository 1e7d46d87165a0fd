"""Make the live view of a record."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from ..records.names import type_in_words
from ..subjects import of_record
from .history import History
from .record import Record


def view_of(record: object, *beside: object) -> Any:
    """Make the live view of a record; a record without one is shown as a session of one record.

    Raises:
        TypeError: `record` is not a record, or cannot be compared with `beside`.
    """
    view: Callable[..., Any] | None = of_record(type(record), "live_view", "VIEWS")
    if view is not None and (not beside or "beside" in signature(view).parameters):
        return view(record, *beside)
    if beside:
        raise TypeError(
            "explore(): expected a memory profile or a program as the first of several, "
            f"got {type_in_words(record)}. Write explore(record) for one record."
        )
    if not isinstance(record, Record):
        raise TypeError(
            f"explore(): expected a record, or nothing for the session's history, got {type_in_words(record)}. "
            "Write for example explore(jaxmagic.last())."
        )
    return view_of(History.of_records([record]))
