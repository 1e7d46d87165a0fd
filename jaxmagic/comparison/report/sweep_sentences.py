"""Writes the sentences about a sweep, for every medium."""

from __future__ import annotations

from collections.abc import Sequence

from ... import units
from ...records.names import shortened
from ...statistics.medians import FEWEST_FOR_INTERVAL
from ..analysis.device_scaling import device_scaling
from ..record.comparison import Comparison
from ..record.curve import Crossing
from ..record.scaling import time_of
from ..record.sweep import Point, Sweep
from ..record.verdict import agrees, counterpart
from . import sentences as comparison_words
from .at_points import at_points, place
from .growth import briefly
from .labels import LONGEST_LABEL
from .rounds import budget_for_verdict_ns, lacks_rounds, rounds_needed

#: What is beside the time of a candidate whose output differs, or could not be compared.
_DIFFERENT, _UNCOMPARED = "*", "**"

#: The most points that are listed. The others are in the chart and in the frame.
MOST_POINTS = 16


def headline(sweep: Sweep) -> str:
    """Say what was measured, and for which values."""
    over = " and ".join(f"{each.name} = {_values(each.labels)}" for each in sweep.variables)
    labels = sweep.labels
    who = " and ".join(labels) if len(labels) <= 2 else units.count(len(labels), "candidate")
    return f"{who} over {over}"


def _values(labels: Sequence[str]) -> str:
    if len(labels) <= 4:
        return ", ".join(labels)
    return f"{labels[0]}, {labels[1]}, …, {labels[-1]}"


def heads(sweep: Sweep) -> list[str]:
    """Return the headers of the table that :func:`cells` fills. Long ones are cut, and remain distinct."""
    return list(shortened([*(each.name for each in sweep.variables), *sweep.labels], LONGEST_LABEL))


def cells(sweep: Sweep, point: Point, digits: int) -> list[str]:
    """Return a row: the values of the variables, then for each candidate its time and verdict."""
    comparison, errors = point.comparison, {each.label: each.error for each in point.failures}
    row = list(sweep.values(point).values())
    for label in sweep.labels:
        if comparison is not None and label in comparison:
            row.append(_cell(comparison, label, digits))
        else:
            row.append(errors.get(label, errors.get(None, "not measured")).partition(":")[0])
    return row


def _cell(comparison: Comparison, label: str, digits: int) -> str:
    candidate = comparison.candidate(label)
    text = units.time(time_of(candidate.latency.calls_ns).value, digits)
    if agrees(comparison, candidate) is False:
        text += _UNCOMPARED if comparison_words.is_uncompared(candidate) else _DIFFERENT
    if label != comparison.baseline:
        versus = counterpart(comparison, candidate)
        if versus.verdict in ("faster", "slower"):
            text += f", {comparison_words.factor_span(*comparison_words.factors(versus))} {versus.verdict}"
        else:
            text += f", {comparison_words.short_verdict(versus)}{comparison_words.open_interval(versus)}"
        if versus.baseline != comparison.baseline and versus.verdict in ("faster", "slower"):
            text += f" than {versus.baseline}"
    if candidate.work is not None and candidate.throughput is not None:
        text += f", {units.rate(candidate.throughput, candidate.work.kind)}"
    return text


def about_marks(sweep: Sweep) -> list[str]:
    """Explain the marks of :func:`cells` beside times."""
    marks = {
        comparison_words.is_uncompared(candidate)
        for point in sweep.points[:MOST_POINTS]
        if point.comparison is not None
        for candidate in point.comparison.candidates
        if agrees(point.comparison, candidate) is False
    }
    different = [f"{_DIFFERENT} The output is different."] if False in marks else []
    uncompared = [f"{_UNCOMPARED} The output could not be compared."] if True in marks else []
    return different + uncompared


def about_work(sweep: Sweep) -> list[str]:
    """Say what the throughputs leave out, once for all points."""
    works = [
        each.work
        for point in sweep.points
        if point.comparison is not None
        for each in point.comparison.candidates
        if each.work is not None
    ]
    caveats = dict.fromkeys(caveat for work in works for caveat in work.caveats)
    return [f"Throughput: {'; '.join(caveats)}."] if caveats else []


def about_values(sweep: Sweep) -> list[str]:
    """Say how to compare the values of a variable that no numbers order, if there is only one candidate."""
    variable, *others = sweep.variables
    if len(sweep.labels) > 1 or others or len(variable.labels) < 2 or variable.numbers is not None:
        return []
    first, second, *_ = variable.labels
    return [
        f"Points share no rounds, so there is no verdict on {variable.name}. To compare its values and their "
        f"outputs, write a candidate for each: one with {first}, one with {second}."
    ]


def about_crossings(sweep: Sweep) -> list[str]:
    """Say where candidates overtake each other."""
    return [_crossing(each) for each in sweep.crossings]


def _crossing(crossing: Crossing) -> str:
    where = f" ({crossing.others})" if crossing.others else ""
    low, high = units.number_about(crossing.low), units.number_about(crossing.high)
    near = f"{crossing.variable} = {units.number_about(crossing.value)}, between {low} and {high}"
    return f"{crossing.after} overtakes {crossing.before} near {near}{where}."


def fold_title(sweep: Sweep, sentences: Sequence[str], digits: int) -> str:
    """Name the kinds of these sentences, and say the first of them briefly.

    Args:
        sweep: the record.
        sentences: those of :func:`about_growth` that are not said elsewhere, :func:`about_work` and
            :func:`about_compiling`, at least one.
        digits: the number of digits of times.
    """
    grow = briefly(sweep, sentences)
    compiling = _compiling(sweep, digits)
    throughput = [each.rstrip(".") for each in sentences if each in about_work(sweep)]
    kinds = [name for name, told in (("Growth", grow), ("throughput", throughput), ("compiling", compiling)) if told]
    names = " and ".join(kinds)
    first, *others = grow or compiling or throughput
    more = f", {len(others)} more" if others else ""
    return f"{names[:1].upper()}{names[1:]}: {first.removeprefix('Throughput: ')}{more}"


def about_compiling(sweep: Sweep, digits: int) -> list[str]:
    """Say how long first calls compiled, from point to point."""
    spans = _compiling(sweep, digits)
    return [f"Compiling: {'; '.join(spans)}."] if spans else []


def _compiling(sweep: Sweep, digits: int) -> list[str]:
    spans = []
    for curve in sweep.curves:
        compiled = [each for each in curve.compile_ns if each]
        if compiled:
            low, high = units.time(min(compiled), digits), units.time(max(compiled), digits)
            spent = low if low == high else units.time_range(min(compiled), max(compiled), digits)
            count = len(curve.compile_ns)
            often = "each" if len(compiled) == count else f"at {len(compiled)} of {units.count(count, 'point')}"
            spans.append(f"{curve.name} {spent} {often}")
    return spans


def about_end(sweep: Sweep) -> list[str]:
    """Say what is missing, and why."""
    sentences = []
    if len(sweep.points) < sweep.planned:
        count = f"{len(sweep.points)} of {units.count(sweep.planned, 'point')}"
        why = (
            "interrupted"
            if sweep.stopped_by == "interrupt"
            else f"the budget of {units.time_short(sweep.budget_ns)} was spent"
        )
        sentences.append(f"Measured {count}: {why}.")
    sentences += [*_too_few_rounds(sweep), *_times_without_interval(sweep)]
    seen: dict[str, list[str]] = {}
    for point in sweep.points:
        for each in point.failures:
            seen.setdefault(f"{each.label or 'setup'}: {each.error}", []).append(place(sweep, point))
    for error, places in seen.items():
        at = places[0] if len(places) == 1 else f"{units.count(len(places), 'point')}, first at {places[0]}"
        sentences.append(f"Failed at {at}: {error}")
    return sentences


def _times_without_interval(sweep: Sweep) -> list[str]:
    """Say at which points rounds are enough for a verdict, but too few for intervals of the times."""
    compared = [(each, each.comparison) for each in sweep.points if each.comparison is not None]
    few = [
        (point, each)
        for point, each in compared
        if not lacks_rounds(each) and any(not time_of(one.latency.calls_ns).confidence for one in each.candidates)
    ]
    if not few:
        return []
    ratios = "; the ratios have one, from within rounds" if len(sweep.labels) > 1 else ""
    at = at_points(sweep, [point for point, _ in few])
    least = units.count(FEWEST_FOR_INTERVAL, "round")
    budget = _budget_for(sweep, [each for _, each in few], FEWEST_FOR_INTERVAL)
    return [f"{at}: Each time alone has no interval, which needs {least}{ratios}.{budget}"]


def _too_few_rounds(sweep: Sweep) -> list[str]:
    """Say at how many points there are too few rounds for a verdict, and which budget of the sweep allows them."""
    least = FEWEST_FOR_INTERVAL if device_scaling(sweep) else 0  # points are compared by their medians
    compared = [each.comparison for each in sweep.points if each.comparison is not None]
    lacking = [each for each in compared if lacks_rounds(each, least)]
    if not lacking:
        return []
    rounds = [len(each.again.samples_ns) for each in lacking]
    were = units.count(rounds[0], "round") if min(rounds) == max(rounds) else f"{min(rounds)} to {max(rounds)} rounds"
    needed = max(max(rounds_needed(each), least) for each in lacking)
    at = f"{len(lacking)} of {units.count(len(sweep.points), 'point')}"
    sentence = f"Too few rounds for a verdict at {at}: {were}, where it needs {needed}"
    return [f"{sentence}.{_budget_for(sweep, lacking, least)}"]


def _budget_for(sweep: Sweep, lacking: Sequence[Comparison], least: int) -> str:
    """Say which budget of the sweep allows enough rounds at some points; nothing if it is unknown."""
    budgets_ns = [budget_for_verdict_ns(each, least) for each in lacking]
    known_ns = [each for each in budgets_ns if each is not None]
    if len(known_ns) < len(budgets_ns):
        return ""
    budget = units.time_option(max(known_ns) * sweep.planned)  # it is divided evenly among the points
    return f" Use --budget {budget} (budget_s) or more for the sweep, judging by the rounds so far."
