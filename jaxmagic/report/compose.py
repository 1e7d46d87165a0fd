"""Composes the report of a record with the functions of its subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..records.names import type_in_words
from ..subjects import of_record
from .blocks import Block
from .style import Style

#: Composes the report of a record in a style; the last argument is whether to explain its terms.
Compose = Callable[[object, Style, bool], Iterator[Block]]


class Composed(NamedTuple):
    """A report that is composed already, because it is about more than one record."""

    blocks: Sequence[Block]


def compose(record: object, style: Style, *, explain: bool = False) -> Iterator[Block]:
    """Compose the report of a record, block by block.

    A subject is imported when one of its records is first shown, so that the first magic of a session only waits for
    its own subject.

    Raises:
        TypeError: the object is not a record.
    """
    if isinstance(record, Composed):
        return iter(record.blocks)
    found: Compose | None = of_record(type(record), "report", "REPORTS")
    if found is None:
        raise TypeError(f"expected a record, got {type_in_words(record)}. Pass what a magic with -o returns")
    return found(record, style, explain)


class Brief(NamedTuple):
    """A record as one line of a list.

    Attributes:
        what: the code, or the labels of several candidates.
        time_ns: the main result if it is a time, of one run or call; ``None`` otherwise.
        remark: what the record is, in a word or two.
    """

    what: str | None
    time_ns: float | None = None
    remark: str = ""


def brief(record: object) -> Brief:
    """Summarize a record in one line; if its subject has no summary, the remark is its kind."""
    found: Callable[[object], Brief] | None = of_record(type(record), "report", "BRIEFS")
    return Brief(getattr(record, "code", None), None, type(record).__name__) if found is None else found(record)
