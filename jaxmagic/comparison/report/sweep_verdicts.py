"""Sums up the verdicts on the candidates of a sweep, which says more than that none overtakes another."""

from __future__ import annotations

from collections import Counter

from ... import units
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from ..record.verdict import agrees, counterpart
from .sentences import NO_VERDICT, OUTPUT_OF, factor_span, factors, inside_sentence, interval, short_verdict

#: At most this many candidates are named.
_MOST_NAMES = 2

_DIFFERENT = "different output"


def about_verdicts(sweep: Sweep) -> list[str]:
    """Say in one sentence how candidates compare with the baseline; empty if nothing was compared."""
    compared = [each.comparison for each in sweep.points if each.comparison is not None and len(each.comparison) > 1]
    names = dict.fromkeys(label for each in compared for label in each if label != each.baseline)
    sentences = [_verdicts(label, [each for each in compared if label in each]) for label in names]
    rest = len(sentences) - _MOST_NAMES
    more = [units.count(rest, "more candidate")] if rest > 0 else []
    first, *others = [*sentences[:_MOST_NAMES], *more] or [""]
    return [f"{'; '.join([first, *map(inside_sentence, others)])}."] if first else []


def _verdicts(label: str, compared: list[Comparison]) -> str:
    """Name the one verdict of all points with the range of the factors that they show, or count the verdicts."""
    kinds = Counter(_kind(each, label) for each in compared)
    baselines = {counterpart(each, each.candidate(label)).baseline for each in compared}
    base = " or ".join(sorted(baselines))
    count = len(compared)
    points = "the only point" if count == 1 else f"all {count} points"
    if len(kinds) > 1:
        found = ", ".join(f"{kind} at {number}" for kind, number in kinds.most_common())
        return f"{label} compared with {base}, at {count} points: {found}"
    (kind,) = kinds
    if kind in ("faster", "slower"):
        all_versus = [counterpart(each, each.candidate(label)) for each in compared]
        spans = [factors(each) for each in all_versus]
        how = "from"
        if count > 1 and any(low < high for low, high in spans):
            spans, how = [interval(each) for each in all_versus], "with intervals from"
        lows, highs = zip(*spans, strict=True)
        span = factor_span(min(lows), max(highs))
        if count == 1 or len(set(span.split(" to "))) == 1:
            return f"{label} is {span} {kind} than {base} at {points}"
        return f"{label} is {kind} than {base} at {points}, {how} {span}"
    if kind == "no difference":
        return f"{label} takes as long as {base} at {points}"
    if kind == _DIFFERENT:
        return f"{OUTPUT_OF}{label} differs from that of {base} at {points}"
    return f"{NO_VERDICT}{label} compared with {base} at {points}: {kind}"


def _kind(comparison: Comparison, label: str) -> str:
    candidate = comparison.candidate(label)
    if agrees(comparison, candidate) is False:
        return _DIFFERENT
    versus = counterpart(comparison, candidate)
    return versus.verdict if versus.verdict in ("faster", "slower") else short_verdict(versus)
