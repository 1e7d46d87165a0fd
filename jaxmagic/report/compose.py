"""Asks the subject of a record for its report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..subjects import of_record
from .blocks import Block
from .style import Style

#: Composes the report of a record in a style; the last argument is whether it explains its terms.
Compose = Callable[[object, Style, bool], Iterator[Block]]


def compose(record: object, style: Style, *, explain: bool = False) -> Iterator[Block]:
    """Compose the report of a record, block by block.

    Its subject is imported when such a record is first shown: the first magic of a session waits for its own only.

    Raises:
        TypeError: it is no record.
    """
    found: Compose | None = of_record(type(record), "report", "REPORTS")
    if found is None:
        raise TypeError(f"expected a record; got {type(record).__name__}")
    return found(record, style, explain)


class Brief(NamedTuple):
    """A record in one line of a list.

    Attributes:
        what: the code, or the labels of several candidates.
        time: the time that counts; empty where there is none.
        remark: what it is, in a word or two.
    """

    what: str | None
    time: str = ""
    remark: str = ""


def brief(record: object, digits: int) -> Brief:
    """Tell a record in one line; one whose subject has no words for that is called by its kind."""
    found: Callable[[object, int], Brief] | None = of_record(type(record), "report", "BRIEFS")
    return Brief(getattr(record, "code", None), "", type(record).__name__) if found is None else found(record, digits)
