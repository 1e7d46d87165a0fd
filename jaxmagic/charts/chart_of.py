"""Finds the chart of a record, or one of several by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..records.names import one_of, public_type
from ..subjects import of_record
from .spec import Chart


class Pictured(NamedTuple):
    """One of the charts of a kind of record.

    Attributes:
        draw: describes the chart of a record; returns ``None`` if there is nothing to draw.
        nothing: why there would be nothing to draw.
    """

    draw: Callable[[Any], Chart | None]
    nothing: str = "no data was recorded"


def chart_of(record: object, of: str | None = None) -> Chart:
    """Describe a chart of a record.

    Args:
        record: a record or the history.
        of: the name of the chart; the first one if left out.

    Raises:
        TypeError: the object is not a record with charts.
        ValueError: there is no chart of this name, or nothing to draw.
    """
    pictures: Mapping[str, Pictured] | None = of_record(type(record), "charts", "CHARTS")
    kind = type(record).__name__
    if pictures is None:
        raise TypeError(
            f"chart_of(): expected a record or the history, got {public_type(kind)}. "
            "Write for example jaxmagic.last().figure()"
        )
    name = next(iter(pictures)) if of is None else of
    if name not in pictures:
        is_file = isinstance(of, str) and "." in of
        write = f"figure().savefig({of!r}) for a file" if is_file else f"for example figure({next(iter(pictures))!r})"
        raise ValueError(f"of: expected {one_of([*pictures])} for a {kind}, got {of!r}. Write {write}")
    chart = pictures[name].draw(record)
    if chart is None:
        raise ValueError(f"there is nothing to draw: {pictures[name].nothing}")
    return chart
