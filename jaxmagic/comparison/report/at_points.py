"""Says what was found at points of a sweep: each kind once, with numbers that hold for all of its points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ... import units
from ...records.finding import Finding, as_ranges
from ..record.candidate import Check
from ..record.comparison import Comparison
from ..record.sweep import Point, Sweep
from .medians import of_medians, ratios_of_medians
from .outputs import mismatch, to_allow

#: At most this many sentences of a kind are told.
_MOST = 3


def place(sweep: Sweep, point: Point) -> str:
    """Return the values of the variables at a point."""
    return ", ".join(f"{name}={label}" for name, label in sweep.values(point).items())


def at_points(sweep: Sweep, points: Iterable[Point], how: str = "") -> str:
    """Name the first of some points, and count the others; or say that it is all of them."""
    first, *others = {each.at: each for each in points}.values()
    if others and not how and len(others) + 1 == len(sweep.points):
        return f"At all {len(sweep.points)} points"
    more = f", and {how}at {units.count(len(others), 'more point')}" if others else ""
    return f"At {place(sweep, first)}{more}"


def _compared(sweep: Sweep) -> list[tuple[Point, Comparison]]:
    return [(each, each.comparison) for each in sweep.points if each.comparison is not None]


def _ranged(sweep: Sweep, points: Sequence[Point], texts: Sequence[str]) -> list[str]:
    """Say each sentence once, with the ranges of its numbers; only count the points of the last ones of many."""
    said = list(as_ranges(texts, sweep.labels).items())
    told = [f"{at_points(sweep, [points[at] for at in places])}: {text}" for text, places in said[:_MOST]]
    if rest := {points[at].at for _, places in said[_MOST:] for at in places}:
        told[-1] += f" Something else of this kind was found at {units.count(len(rest), 'more point')}."
    return told


def about_conditions(sweep: Sweep, compared: bool) -> list[str]:
    """Report the findings of all points.

    Args:
        sweep: the record.
        compared: whether a verdict on the record and another one beside it tells the load of the machine.
    """
    kinds: dict[str, list[tuple[Point, Finding]]] = {}
    for point, comparison in _compared(sweep):
        for each in comparison.warnings:
            kinds.setdefault(each.kind, []).append((point, each))
    return [
        sentence
        for kind, found in kinds.items()
        if not (compared and kind == "load")
        for sentence in _ranged(sweep, [point for point, _ in found], [str(each) for _, each in found])
    ]


def about_medians(sweep: Sweep) -> list[str]:
    """Say of each candidate whose factor the times beside it do not have why that is."""
    apart: dict[tuple[str, bool], list[tuple[Point, float]]] = {}
    for point, comparison in _compared(sweep):
        for label, ratio in ratios_of_medians(comparison).items():
            apart.setdefault((label, ratio > 1), []).append((point, ratio))
    return [
        f"{at_points(sweep, [point for point, _ in found])}: {of_medians(label, ratios)}"
        for (label, _), found in apart.items()
        for ratios in [{place(sweep, point): ratio for point, ratio in found}]
    ]


def about_outputs(sweep: Sweep) -> list[str]:
    """Say of each candidate whose output differs from the baseline's by how much it does at the worst point."""
    allows = to_allow(each for _, comparison in _compared(sweep) for each in comparison.candidates)
    errors: dict[tuple[str, str], list[tuple[Point, Check]]] = {}
    problems: dict[str, list[tuple[Point, str]]] = {}
    for point, comparison in _compared(sweep):
        for each in comparison.candidates:
            check = each.check
            if check is None or check.passed:
                continue
            like = check.like or comparison.baseline
            if check.problem is None and not check.varies:
                errors.setdefault((each.label, like), []).append((point, check))
            else:
                problems.setdefault(each.label, []).append((point, mismatch(each.label, like, check, allows)))
    sentences = []
    for (label, like), found in errors.items():
        found.sort(key=lambda each: each[1].severity, reverse=True)
        (_, worst), alike = found[0], len({mismatch(label, like, check, "") for _, check in found}) == 1
        how = "" if alike else "by no more " if worst.share is None else "by no larger share "
        at = at_points(sweep, [point for point, _ in found], how)
        sentences.append(f"{at}: {mismatch(label, like, worst, allows)}")
    for told in problems.values():
        sentences += _ranged(sweep, [point for point, _ in told], [text for _, text in told])
    return sentences
