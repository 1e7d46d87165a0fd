"""The sentences about a sweep, for every medium."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import units
from ...records.finding import Finding
from ...records.names import shortened
from ...statistics.estimate import Estimate
from ..record.candidate import Candidate
from ..record.comparison import Comparison
from ..record.curve import Crossing, Curve, Growth
from ..record.growth import is_bounded, is_known
from ..record.scaling import time_of
from ..record.sweep import Point, Sweep
from ..record.verdict import agrees, counterpart
from . import sentences as comparison_words

#: An overhead below this share of the longest time is not worth a word.
_WORTH_TELLING = 0.01

#: Points that are told one by one. The others are in the picture and in the frame.
MOST_POINTS = 16

#: A duration that is known within this share of it is told as "about" one number.
_ABOUT = 0.15


def headline(sweep: Sweep) -> str:
    """Return what was measured, and where; long labels are cut."""
    over = " and ".join(f"{each.name} = {_values(each.labels)}" for each in sweep.variables)
    labels = sweep.labels
    who = " and ".join(labels) if len(labels) <= 2 else units.count(len(labels), "candidate")
    return comparison_words.cut(f"{who} over {over}", labels)


def _values(labels: Sequence[str]) -> str:
    if len(labels) <= 4:
        return ", ".join(labels)
    return f"{labels[0]}, {labels[1]}, …, {labels[-1]}"


def heads(sweep: Sweep) -> list[str]:
    """Heads of the table that :func:`cells` fills; long ones are cut, and stay different."""
    return list(shortened([*(each.name for each in sweep.variables), *sweep.labels], comparison_words.LONGEST_LABEL))


def cells(sweep: Sweep, point: Point, digits: int) -> list[str]:
    """A row: the values of the variables, then for each candidate the time, and what that is beside the baseline."""
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
        text += " (another output)"
    if label != comparison.baseline:
        versus = counterpart(comparison, candidate)
        text += f", {comparison_words.beside(versus)}"
        if versus.baseline != comparison.baseline and versus.verdict in ("faster", "slower"):
            text += f" than {versus.baseline}"
    if candidate.work is not None and candidate.throughput is not None:
        text += f", {units.rate(candidate.throughput, candidate.work.kind)}"
    return text


def about_work(sweep: Sweep) -> list[str]:
    """Return what the throughputs leave out, once for all points."""
    works = [
        each.work
        for point in sweep.points
        if point.comparison is not None
        for each in point.comparison.candidates
        if each.work is not None
    ]
    caveats = dict.fromkeys(caveat for work in works for caveat in work.caveats)
    return [f"Throughput: {'; '.join(caveats)}."] if caveats else []


def about_growth(sweep: Sweep) -> list[str]:
    """Tell how the time of each candidate grows, as far as its points tell."""
    sentences: list[str] = []
    bounded: list[str] = []
    unknown: dict[int, list[str]] = {}
    for curve in sweep.curves:
        if curve.growth is None:
            continue
        if is_known(curve.growth):
            sentences.append(_growth(curve, curve.growth))
        elif is_bounded(curve.growth):
            bounded.append(_between(curve, curve.growth))
        else:
            unknown.setdefault(len(curve.positions), []).append(curve.name)
    if bounded:
        sentences.append(f"How times grow is not known well: {'; '.join(bounded)}.")
    for count, names in unknown.items():
        sentences.append(f"How times grow is not known from {units.count(count, 'point')}: {'; '.join(names)}.")
    return sentences


def _between(curve: Curve, found: Growth) -> str:
    name = curve.variable.name
    return f"{curve.name} between {name}^{found.exponent.low:.1f} and {name}^{found.exponent.high:.1f}"


def _growth(curve: Curve, found: Growth) -> str:
    exponent, name, numbers = found.exponent, curve.variable.name, curve.variable.numbers
    assert numbers is not None
    verb = "grow" if exponent.value >= 0 else "fall"
    text = f"{curve.name} {verb}s as {name}^{exponent.value:.2f} ({exponent.low:.2f} to {exponent.high:.2f})"
    if numbers[curve.positions[0]] < found.start <= numbers[curve.positions[-1]]:
        text += f" from {name} = {units.number_about(found.start)} on"
    if found.overhead_ns is not None and found.overhead_ns.value > _WORTH_TELLING * curve.times[-1].value:
        last = f"{name} = {curve.variable.labels[curve.positions[-1]]}"
        share = units.share(found.overhead_ns.value, max(curve.times[-1].value, found.overhead_ns.value))
        text += f", plus {_about(found.overhead_ns)} that do not {verb} ({share} of the time at {last})"
    return f"{text}."


def _about(found: Estimate) -> str:
    """A duration in two digits, or its interval where it is not known that well."""
    if found.relative_width <= _ABOUT:
        return f"about {units.time(found.value, 2)}"
    return units.time_range(found.low, found.high, 2)


def about_outputs(sweep: Sweep) -> list[str]:
    """Name each candidate whose output is not the baseline's, at the first such point."""
    found: dict[str, list[tuple[Point, str]]] = {}
    for point in sweep.points:
        for each in point.comparison.candidates if point.comparison is not None else ():
            if point.comparison is not None and each.check is not None and not each.check.passed:
                alone = replace(point.comparison, candidates=tuple(_with_baseline(point.comparison, each)))
                found.setdefault(each.label, []).append((point, comparison_words.about_outputs(alone)[0]))
    return [_at_points(sweep, seen) for seen in found.values()]


def _at_points(sweep: Sweep, seen: Sequence[tuple[Point, str | Finding]]) -> str:
    """The first sentence of a kind with its point, and at how many more points there is one."""
    point, first = seen[0]
    at = ", ".join(f"{name}={label}" for name, label in sweep.values(point).items())
    more = f", and at {units.count(len(seen) - 1, 'more point')}" if len(seen) > 1 else ""
    return f"At {at}{more}: {first}"


def _with_baseline(comparison: Comparison, candidate: Candidate) -> list[Candidate]:
    return [each for each in comparison.candidates if each.label in (comparison.baseline, candidate.label)]


def about_crossings(sweep: Sweep) -> list[str]:
    """Find where candidates overtake each other."""
    return [_crossing(each) for each in sweep.crossings]


def _crossing(each: Crossing) -> str:
    where = f" ({each.others})" if each.others else ""
    low, high = units.number_about(each.low), units.number_about(each.high)
    near = f"{each.variable} = {units.number_about(each.value)}, between {low} and {high}"
    return f"{each.after} overtakes {each.before} near {near}{where}."


def about_compiling(sweep: Sweep, digits: int) -> list[str]:
    """Return what first calls spent on compiling, from point to point."""
    found = []
    for curve in sweep.curves:
        compiled = [each for each in curve.compile_ns if each]
        if compiled:
            low, high = units.time(min(compiled), digits), units.time(max(compiled), digits)
            spent = low if low == high else units.time_range(min(compiled), max(compiled), digits)
            count = len(curve.compile_ns)
            often = "each" if len(compiled) == count else f"at {len(compiled)} of {units.count(count, 'point')}"
            found.append(f"{curve.name} {spent} {often}")
    return [f"Compiling: {'; '.join(found)}."] if found else []


def about_conditions(sweep: Sweep) -> list[str]:
    """Return what went on beside the samples, once for all points: the first of each kind, and at how many more."""
    found: dict[str, list[tuple[Point, Finding]]] = {}
    for point in sweep.points:
        for each in point.comparison.warnings if point.comparison is not None else ():
            found.setdefault(each.kind, []).append((point, each))
    return [_at_points(sweep, seen) for seen in found.values()]


def about_end(sweep: Sweep, digits: int) -> list[str]:
    """Return what is missing, and why."""
    sentences = []
    if len(sweep.points) < sweep.planned:
        count = f"{len(sweep.points)} of {units.count(sweep.planned, 'point')}"
        why = (
            "interrupted"
            if sweep.stopped_by == "interrupt"
            else f"the budget of {units.time_short(sweep.budget_ns)} is spent"
        )
        sentences.append(f"Measured {count}: {why}.")
    sentences += _too_few_rounds(sweep)
    seen: dict[str, list[str]] = {}
    for point in sweep.points:
        at = ", ".join(f"{name}={label}" for name, label in sweep.values(point).items())
        for each in point.failures:
            seen.setdefault(f"{each.label or 'setup'}: {each.error}", []).append(at)
    for error, places in seen.items():
        at = places[0] if len(places) == 1 else f"{units.count(len(places), 'point')}, first {places[0]}"
        sentences.append(f"Failed at {at}: {error}")
    return sentences


def _too_few_rounds(sweep: Sweep) -> list[str]:
    """At how many points there are too few rounds for a verdict, and which budget of the whole sweep allows them."""
    found = [each.comparison for each in sweep.points if each.comparison and len(each.comparison) > 1]
    lacking = [each for each in found if comparison_words.lacks_rounds(each)]
    if not lacking:
        return []
    at = f"{len(lacking)} of {units.count(len(sweep.points), 'point')}"
    sentence = f"Too few rounds for a verdict at {at}"
    budgets_ns = [comparison_words.budget_for_verdict_ns(each) for each in lacking]
    known_ns = [each for each in budgets_ns if each is not None]
    if len(known_ns) < len(budgets_ns):
        return [f"{sentence}."]
    budget = units.time_option(max(known_ns) * sweep.planned)  # it is divided evenly among the points
    return [f"{sentence}: give the sweep --budget {budget} (budget_s)."]
