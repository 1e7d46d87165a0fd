"""Writes the sentences about a sweep, for every medium."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, isfinite, log

from ... import units
from ...records.names import shortened
from ...records.other_load import is_loaded
from ...statistics.estimate import Estimate
from ...statistics.medians import FEWEST_FOR_INTERVAL
from ..analysis.device_scaling import device_scaling
from ..record.comparison import Comparison
from ..record.curve import Crossing, Curve, Growth
from ..record.growth import is_bounded, is_known
from ..record.scaling import time_of
from ..record.sweep import Point, Sweep
from ..record.verdict import agrees, counterpart
from . import sentences as comparison_words
from .at_points import at_points, place
from .rounds import budget_for_verdict_ns, lacks_rounds, rounds_needed

#: An overhead below this share of the time at the last point is not reported.
_WORTH_REPORTING = 0.01

#: What is beside the time of a candidate whose output differs, or could not be compared.
_DIFFERENT, _UNCOMPARED = "*", "**"

#: The most points that are listed. The others are in the chart and in the frame.
MOST_POINTS = 16

#: A duration that is known to within this share is written as "about" one number.
_ABOUT = 0.15


def headline(sweep: Sweep) -> str:
    """Say what was measured, and for which values. Long labels are cut."""
    over = " and ".join(f"{each.name} = {_values(each.labels)}" for each in sweep.variables)
    labels = sweep.labels
    who = " and ".join(labels) if len(labels) <= 2 else units.count(len(labels), "candidate")
    return comparison_words.cut(f"{who} over {over}", labels)


def _values(labels: Sequence[str]) -> str:
    if len(labels) <= 4:
        return ", ".join(labels)
    return f"{labels[0]}, {labels[1]}, …, {labels[-1]}"


def heads(sweep: Sweep) -> list[str]:
    """Return the headers of the table that :func:`cells` fills. Long ones are cut, and remain distinct."""
    return list(shortened([*(each.name for each in sweep.variables), *sweep.labels], comparison_words.LONGEST_LABEL))


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


def about_known_growth(sweep: Sweep) -> list[str]:
    """Say how the time of each candidate grows whose growth is known."""
    curves = [(each, each.growth) for each in sweep.curves]
    return [_growth(curve, growth) for curve, growth in curves if growth is not None and is_known(growth)]


def about_growth(sweep: Sweep) -> list[str]:
    """Say how the time of each candidate grows, as far as its points show."""
    sentences = about_known_growth(sweep)
    bounded: list[str] = []
    unknown: list[str] = []
    for curve in sweep.curves:
        if curve.growth is None or is_known(curve.growth):
            continue
        if curve.growth.changes:
            sentences.append(_changing(curve))
        elif is_bounded(curve.growth):
            bounded.append(f"{curve.name} {_bounds(curve.variable.name, curve.growth.exponent)}")
        else:
            unknown.append(curve.name)
    if bounded:
        sentences.append(f"Uncertain growth: {'; '.join(bounded)}.")
    if unknown:
        by = "other processes, overhead or noise" if _is_loaded(sweep) else "overhead or noise"
        sentences.append(f"Growth unknown, hidden by {by}: {'; '.join(unknown)}.")
    return sentences


def _bounds(name: str, exponent: Estimate) -> str:
    """Return the ends of an exponent's interval, of which one may be infinite; both are rounded outwards."""
    low = f"{name}^{floor(round(exponent.low * 10, 6)) / 10:.1f}" if isfinite(exponent.low) else None
    high = f"{name}^{ceil(round(exponent.high * 10, 6)) / 10:.1f}" if isfinite(exponent.high) else None
    if low is None or high is None:
        return f"grows as {low} or faster" if high is None else f"falls as {high} or faster"
    return f"between {low} and {high}"


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


def _is_loaded(sweep: Sweep) -> bool:
    """Return whether other processes kept the machine busy at a point."""
    compared = [each.comparison for each in sweep.points if each.comparison is not None]
    loads = [
        (one.conditions.other_load, each.environment.cpu_count or 1) for each in compared for one in each.candidates
    ]
    return any(is_loaded(*each) for each in loads)


def _changing(curve: Curve) -> str:
    """Say how the time grows from each point to the next, if it grows as no single power."""
    name, numbers = curve.variable.name, curve.variable.numbers
    assert numbers is not None
    points = [(log(numbers[at]), log(time.value)) for at, time in zip(curve.positions, curve.times, strict=True)]
    steps = [(y - before_y) / (x - before_x) for (before_x, before_y), (x, y) in pairwise(points)]
    low, high = (f"{name}^{each:.2f}" for each in (min(steps), max(steps)))
    return f"{curve.name} grows as no single power of {name}: from one point to the next as {low} to {high}."


def _growth(curve: Curve, growth: Growth) -> str:
    exponent, name, numbers = growth.exponent, curve.variable.name, curve.variable.numbers
    assert numbers is not None
    verb = "grows" if exponent.value >= 0 else "falls"
    text = f"{curve.name} {verb} as {name}^{exponent.value:.2f} ({exponent.low:.2f} to {exponent.high:.2f})"
    if numbers[curve.positions[0]] < growth.start <= numbers[curve.positions[-1]]:
        text += f" from {name} = {units.number_about(growth.start)} on"
    if growth.overhead_ns is not None and growth.overhead_ns.value > _WORTH_REPORTING * curve.times[-1].value:
        last = f"{name} = {curve.variable.labels[curve.positions[-1]]}"
        share = units.share(growth.overhead_ns.value, max(curve.times[-1].value, growth.overhead_ns.value))
        text += f", plus a constant overhead of {_about(growth.overhead_ns)} ({share} of the time at {last})"
    return f"{text}."


def _about(duration: Estimate) -> str:
    """Return a duration in two digits, or its interval if it is not known that precisely."""
    if duration.relative_width <= _ABOUT:
        return f"about {units.time(duration.value, 2)}"
    return units.time_range(duration.low, duration.high, 2)


def about_crossings(sweep: Sweep) -> list[str]:
    """Say where candidates overtake each other."""
    return [_crossing(each) for each in sweep.crossings]


def _crossing(crossing: Crossing) -> str:
    where = f" ({crossing.others})" if crossing.others else ""
    low, high = units.number_about(crossing.low), units.number_about(crossing.high)
    near = f"{crossing.variable} = {units.number_about(crossing.value)}, between {low} and {high}"
    return f"{crossing.after} overtakes {crossing.before} near {near}{where}."


def about_compiling(sweep: Sweep, digits: int) -> list[str]:
    """Say how long first calls compiled, from point to point."""
    spans = []
    for curve in sweep.curves:
        compiled = [each for each in curve.compile_ns if each]
        if compiled:
            low, high = units.time(min(compiled), digits), units.time(max(compiled), digits)
            spent = low if low == high else units.time_range(min(compiled), max(compiled), digits)
            count = len(curve.compile_ns)
            often = "each" if len(compiled) == count else f"at {len(compiled)} of {units.count(count, 'point')}"
            spans.append(f"{curve.name} {spent} {often}")
    return [f"Compiling: {'; '.join(spans)}."] if spans else []


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
        point
        for point, each in compared
        if not lacks_rounds(each) and any(not time_of(one.latency.calls_ns).confidence for one in each.candidates)
    ]
    if not few:
        return []
    verdicts = " The verdicts are from the ratios within rounds." if len(sweep.labels) > 1 else ""
    least = units.count(FEWEST_FOR_INTERVAL, "round")
    return [f"{at_points(sweep, few)}: The times have no interval: that needs {least}.{verdicts}"]


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
    budgets_ns = [budget_for_verdict_ns(each, least) for each in lacking]
    known_ns = [each for each in budgets_ns if each is not None]
    if len(known_ns) < len(budgets_ns):
        return [f"{sentence}."]
    budget = units.time_option(max(known_ns) * sweep.planned)  # it is divided evenly among the points
    return [f"{sentence}. Use --budget {budget} (budget_s) for the sweep."]
