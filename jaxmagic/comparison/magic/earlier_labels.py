"""Checks before anything is measured that a cell has something in common with the record of ``--against``."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.core.error import UsageError

from ..record.comparison import Comparison
from ..record.curve import Variable
from ..record.sweep import Sweep


def require_in_both(
    earlier: Comparison | Sweep, path: str, labels: Sequence[str], variables: Sequence[Variable]
) -> None:
    """Refuse a cell without a candidate, or a sweep without a point, that is in the earlier record.

    Args:
        earlier: the record in the file.
        path: its path, as the user wrote it.
        labels: the labels of the candidates, modes included.
        variables: the variables of ``--sweep``.

    Raises:
        UsageError: nothing is in both.
    """
    before = earlier.labels if isinstance(earlier, Sweep) else tuple(earlier)
    if not set(before) & set(labels):
        got = ", ".join(map(repr, labels))
        raise UsageError(
            f"--against {path}: expected a candidate of the file ({', '.join(before)}), got {got}. "
            "Give a candidate the label that it had before. Nothing was run."
        )
    points = [earlier.values(each) for each in earlier.points] if isinstance(earlier, Sweep) else []
    if points and not any(_is_among(each, variables) for each in points):
        first = ", ".join(f"{name}={value}" for name, value in points[0].items())
        raise UsageError(
            f"--against {path}: expected a point of the file in --sweep, such as {first}, got none. Add "
            "one to --sweep, or leave --against out. Nothing was run."
        )


def _is_among(point: dict[str, str], variables: Sequence[Variable]) -> bool:
    """Return whether the grid of some variables has a point."""
    values = {each.name: each.labels for each in variables}
    return point.keys() == values.keys() and all(value in values[name] for name, value in point.items())
