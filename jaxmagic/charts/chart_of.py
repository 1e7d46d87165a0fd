"""Asks the subject of a record for its picture, or for one of several by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..subjects import of_record
from .spec import Chart


class Pictured(NamedTuple):
    """One of the pictures of a kind of record.

    Attributes:
        draw: describes it; ``None`` where there is nothing to draw.
        nothing: why there is nothing to draw then.
    """

    draw: Callable[[Any], Chart | None]
    nothing: str = "nothing of it was recorded"


def chart_of(record: object, of: str | None = None) -> Chart:
    """Describe a picture of a record.

    Args:
        record: a record or the history.
        of: which picture; the first one if left out.

    Raises:
        TypeError: it is no record that has pictures.
        ValueError: there is no such picture, or nothing to draw.
    """
    pictures: Mapping[str, Pictured] | None = of_record(type(record), "charts", "CHARTS")
    kind = type(record).__name__
    if pictures is None:
        raise TypeError(f"chart_of(): expected a record or the history, got {kind}")
    name = next(iter(pictures)) if of is None else of
    if name not in pictures:
        raise ValueError(f"of: expected {', '.join(map(repr, pictures))} of a {kind}, got {of!r}")
    found = pictures[name].draw(record)
    if found is None:
        raise ValueError(f"there is nothing to draw: {pictures[name].nothing}")
    return found
