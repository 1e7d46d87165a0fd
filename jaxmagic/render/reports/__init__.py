"""Composes the report of a record; each kind of record has a file that is called as the record's own.

A report is imported when it is first shown: the first magic of a session waits for its own only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from ..blocks import Block
from ..style import Style

#: Composes the report of a record in a style; the last argument is whether it explains its terms.
Compose = Callable[[object, Style, bool], Iterator[Block]]

_RECORDS = f"{__package__.partition('.')[0]}.model."


def compose(record: object, style: Style, *, explain: bool = False) -> Iterator[Block]:
    """Compose the report of a record, block by block.

    Raises:
        TypeError: it is no record.
    """
    kind = type(record)
    if kind.__module__.startswith(_RECORDS):
        home = import_module(f".{kind.__module__.removeprefix(_RECORDS)}", __name__)
        reports: dict[type, Compose] = home.REPORTS
        if kind in reports:
            return reports[kind](record, style, explain)
    raise TypeError(f"expected a record; got {kind.__name__}")
