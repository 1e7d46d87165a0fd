"""The table of slow lines, for a terminal and for the manual."""

from __future__ import annotations

from typing import Any

from jaxmagic.statistics.medians import sign_interval

#: So many profiles make an interval of 95 % from the lowest to the highest.
PROFILES = 6

HEAD = ("program", "attributed (%)", "saved without the line (%)", "without a line (%)", "first")


def cells(row: dict[str, Any]) -> list[str]:
    """A row of the table."""
    return [row["name"].replace("_", " "), _interval(row["told"]), _interval(row["found"]), f"{row['nowhere']:.1f}",
            f"{row['first']} of {PROFILES}"]  # fmt: skip


def _interval(values: list[float]) -> str:
    found = sign_interval(values)
    return "" if found is None else f"{found.value:.1f} ({found.low:.1f} to {found.high:.1f})"
