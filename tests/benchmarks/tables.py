"""Aligned tables for a terminal, and the one way in which spread is written in them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> None:
    """Print a table: the first column to the left, numbers to the right."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    print(f"\n{title}")
    for index, line in enumerate(lines):
        cells = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  ".join([line[0].ljust(widths[0]), *cells]).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths))
    for note in notes:
        print(note)


def spread(values: Sequence[float], form: str = ".1f") -> str:
    """The median, and half of the distance between the quartiles."""
    low, _, high = quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return f"{median(values):{form}} ±{(high - low) / 2:{form}}"


def uncertainty(values: Sequence[float]) -> float | None:
    """Half the width of a 95 % interval for the median: the notches of McGill, Tukey and Larsen (1978)."""
    if len(values) < 3:
        return None
    low, _, high = quantiles(values, n=4)
    return 1.57 * (high - low) / len(values) ** 0.5
