"""The sentences about a sweep, for every medium."""

from __future__ import annotations

from collections.abc import Sequence

from .. import units
from ..analysis.comparison import counterpart
from ..analysis.scaling import is_known, time_of
from ..model.comparison import Comparison
from ..model.finding import Finding
from ..model.sweep import Crossing, Curve, Point, Sweep
from . import comparison_words

#: Points that are told one by one. The others are in the picture and in the frame.
MOST_POINTS = 16


def headline(sweep: Sweep) -> str:
    """What was measured, and where."""
    over = " and ".join(f"{each.name} = {_values(each.labels)}" for each in sweep.variables)
    labels = sweep.labels
    who = " and ".join(labels) if len(labels) <= 2 else units.count(len(labels), "candidate")
    return f"{who} over {over}"


def _values(labels: Sequence[str]) -> str:
    if len(labels) <= 4:
        return ", ".join(labels)
    return f"{labels[0]}, {labels[1]}, …, {labels[-1]}"


def heads(sweep: Sweep) -> list[str]:
    """Of the table that :func:`cells` fills."""
    return [*(each.name for each in sweep.variables), *sweep.labels]


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
    if label != comparison.baseline:
        versus = counterpart(comparison, candidate)
        text += f", {comparison_words.beside(versus)}"
        if versus.baseline != comparison.baseline and versus.verdict in ("faster", "slower"):
            text += f" than {versus.baseline}"
    if candidate.work is not None and candidate.throughput is not None:
        text += f", {units.rate(candidate.throughput, candidate.work.kind)}"
    return text


def about_work(sweep: Sweep) -> list[str]:
    """What the throughputs leave out, once for all points."""
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
    """The exponent of each candidate."""
    known: list[Curve] = []
    unknown: list[Curve] = []
    for curve in sweep.curves:
        if curve.growth is not None:
            (known if is_known(curve.growth) else unknown).append(curve)
    sentences = [_growth(curve) for curve in known]
    if unknown:
        between = "; ".join(map(_between, unknown))
        sentences.append(f"How times grow is not known well: {between}.")
    return sentences


def _between(curve: Curve) -> str:
    assert curve.growth is not None
    found, name = curve.growth.exponent, curve.variable.name
    return f"{curve.name} between {name}^{found.low:.1f} and {name}^{found.high:.1f}"


def _growth(curve: Curve) -> str:
    assert curve.growth is not None
    found, name = curve.growth.exponent, curve.variable.name
    text = f"{curve.name} grows as {name}^{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
    if curve.variable.numbers is not None and curve.growth.start > curve.variable.numbers[curve.positions[0]]:
        text += f", from {name} = {units.number_about(curve.growth.start)} on"
    return f"{text}."


def about_crossings(sweep: Sweep) -> list[str]:
    """Where candidates overtake each other."""
    return [_crossing(each) for each in sweep.crossings]


def _crossing(each: Crossing) -> str:
    where = f" ({each.others})" if each.others else ""
    low, high = units.number_about(each.low), units.number_about(each.high)
    near = f"{each.variable} = {units.number_about(each.value)}, between {low} and {high}"
    return f"{each.after} overtakes {each.before} near {near}{where}."


def about_compiling(sweep: Sweep, digits: int) -> list[str]:
    """What first calls spent on compiling, from point to point."""
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
    """What went on beside the samples, once for all points: the first of each kind, and at how many more."""
    found: dict[str, list[tuple[Point, Finding]]] = {}
    for point in sweep.points:
        for each in point.comparison.warnings if point.comparison is not None else ():
            found.setdefault(each.kind, []).append((point, each))
    sentences = []
    for seen in found.values():
        point, first = seen[0]
        at = ", ".join(f"{name}={label}" for name, label in sweep.values(point).items())
        more = f", and at {units.count(len(seen) - 1, 'more point')}" if len(seen) > 1 else ""
        sentences.append(f"At {at}{more}: {first}")
    return sentences


def about_end(sweep: Sweep, digits: int) -> list[str]:
    """What is missing, and why."""
    sentences = []
    if len(sweep.points) < sweep.planned:
        count = f"{len(sweep.points)} of {units.count(sweep.planned, 'point')}"
        why = (
            "interrupted"
            if sweep.stopped_by == "interrupt"
            else f"the budget of {units.time_short(sweep.budget_ns)} is spent"
        )
        sentences.append(f"Measured {count}: {why}.")
    seen: dict[str, list[str]] = {}
    for point in sweep.points:
        at = ", ".join(f"{name}={label}" for name, label in sweep.values(point).items())
        for each in point.failures:
            seen.setdefault(f"{each.label or 'setup'}: {each.error}", []).append(at)
    for error, places in seen.items():
        at = places[0] if len(places) == 1 else f"{units.count(len(places), 'point')}, first {places[0]}"
        sentences.append(f"Failed at {at}: {error}")
    return sentences
