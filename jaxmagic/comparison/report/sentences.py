"""Writes the sentences about a comparison, for every medium."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import units
from ...benchmarking.record.versus import Versus
from ...benchmarking.report.versus import span, undecided, verdict
from ...statistics.estimate import Estimate
from ...statistics.medians import median
from ..record.candidate import Candidate
from ..record.comparison import Comparison
from ..record.fastest import fastest
from ..record.verdict import agrees, counterpart

#: A factor whose interval reaches farther than this from its low end to its high end is written as the interval.
_KNOWN_WITHIN = 1.05

#: How clauses begin that do not begin with a label.
_INCONCLUSIVE, _NO_DIFFERENCE, _NOTHING = "Inconclusive: ", "No difference between ", "Nothing is faster than "
NO_VERDICT, OUTPUT_OF = "No verdict on ", "The output of "


def headline(comparison: Comparison) -> str:
    """Say which candidate is fastest, or which ones may be, and whose outputs differ."""
    uncalled = [each.label for each in comparison.candidates if _is_uncalled(each)]
    if comparison.baseline in uncalled or len(comparison) - len(uncalled) < 2 <= len(comparison):
        return f"Nothing to compare: {' and '.join(uncalled)} {'was' if len(uncalled) == 1 else 'were'} not called"
    passed = [
        each for each in comparison.candidates if each.label not in uncalled and agrees(comparison, each) is not False
    ]
    compared = [counterpart(comparison, each) for each in passed if each.label != comparison.baseline]
    # A derivative is not an alternative to its function, but to other derivatives, if there are any.
    alternatives = [each for each in compared if each.baseline == comparison.candidate(each.label).like]
    others = alternatives or compared
    if not others:
        return _unlike(comparison)
    fastest_of = list(dict.fromkeys(each.baseline for each in others))  # each mode has its own
    if all(each.verdict == "no difference" for each in others):
        if len(others) == len(comparison) - 1:
            return "No difference"
        told = [_no_difference(others)]
    else:
        modes = ([each for each in others if each.baseline == baseline] for baseline in fastest_of)
        told = [_of_mode(comparison, each) for each in modes]
    first, *rest = [*told, *_other_outputs(comparison)]
    return "; ".join([first, *map(inside_sentence, rest)])


def _other_outputs(comparison: Comparison) -> list[str]:
    """Name the candidates that are in no verdict because of their outputs, in clauses inside a sentence."""
    others = [each for each in comparison.candidates if agrees(comparison, each) is False]
    told = []
    for uncompared in (False, True):
        labels = [each.label for each in others if is_uncompared(each) is uncompared]
        if labels:
            outputs, differ = ("output", "differs") if len(labels) == 1 else ("outputs", "differ")
            told.append(f"the {outputs} of {_named(labels)} {'could not be compared' if uncompared else differ}")
    return told


def _named(labels: Sequence[str]) -> str:
    """Name a few candidates, or count many."""
    return " and ".join(labels) if len(labels) < 4 else f"{len(labels)} candidates"


def _unlike(comparison: Comparison) -> str:
    """Say why none is the fastest where no output is known to match the baseline's, and what the times are then."""
    failed = [each for each in comparison.candidates if each.check is not None and not each.check.passed]
    if not failed:
        return "Nothing to compare: there is one candidate"
    if all(map(is_uncompared, failed)):
        why, compute = "can be compared with", "may compute"
    else:
        why, compute = "matches", "compute"
    return (
        f"No winner: no output {why} that of {comparison.baseline}. The times are correct, but the candidates "
        f"{compute} different results"
    )


def is_uncompared(candidate: Candidate) -> bool:
    """Return whether the output of a candidate could not be compared at all, so that it may be the same."""
    problem = None if candidate.check is None else candidate.check.problem
    return problem is not None and problem.startswith("cannot be ")


def _is_uncalled(candidate: Candidate) -> bool:
    return any(each.kind in ("timing.not_called", "timing.quoted_call") for each in candidate.first_call.notes)


def _of_mode(comparison: Comparison, others: Sequence[Versus]) -> str:
    """Say which candidate of one mode is fastest, or which ones may be."""
    baseline = others[0].baseline
    faster = sorted((each for each in others if each.verdict == "faster"), key=_ratio)
    if faster:
        return _fastest(comparison, faster)
    if all(each.verdict == "slower" for each in others):
        return _baseline_is_fastest(min(others, key=_ratio), len(others))
    if all(each.verdict == "no difference" for each in others):
        return _no_difference(others)
    open_ones = [each for each in others if each.verdict == "too noisy to tell"]
    if open_ones:
        return f"{_INCONCLUSIVE}{_undecided(min(open_ones, key=_ratio))}"
    return f"{_NOTHING}{baseline}"


def _no_difference(others: Sequence[Versus]) -> str:
    equals = dict.fromkeys(label for each in others for label in (each.baseline, each.label))
    return f"{_NO_DIFFERENCE}{' and '.join(equals)}"


def inside_sentence(clause: str) -> str:
    """Return a clause without its capital letter, unless that is of a label."""
    begins = clause.startswith((_INCONCLUSIVE, _NO_DIFFERENCE, _NOTHING, NO_VERDICT, OUTPUT_OF))
    return clause[:1].lower() + clause[1:] if begins else clause


def _ratio(versus: Versus) -> float:
    return float("inf") if versus.ratio is None else versus.ratio.value


def _fastest(comparison: Comparison, faster: Sequence[Versus]) -> str:
    """Name one candidate if it is certainly faster than all others; otherwise all that may be the fastest."""
    best = faster[0]
    labels = set(fastest(comparison))
    equals = [each for each in faster if each.label in labels and each.baseline == best.baseline]
    if len(equals) < 2 or best not in equals:
        return f"{best.label} is {verdict(best)} than {best.baseline}"
    names = _named([each.label for each in equals])
    times = " and ".join(short_verdict(each).removesuffix(" faster") for each in (equals[0], equals[-1]))
    return f"{names} are faster than {best.baseline} ({times}); it is inconclusive which one is the fastest"


def _baseline_is_fastest(second: Versus, others: int) -> str:
    """Say how much faster the baseline is than the candidate that comes next, the only one or one of several."""
    assert second.ratio is not None
    turned = replace(
        second, label=second.baseline, baseline=second.label, ratio=second.ratio.inverse, verdict="faster"
    )
    the_fastest = "" if others == 1 else "the fastest, "
    return f"{turned.label} is {the_fastest}{verdict(turned)} than {turned.baseline}"


def _undecided(versus: Versus) -> str:
    """Say how much faster or slower than the baseline a candidate without a verdict may be."""
    if versus.ratio is None:
        return "too few rounds to tell"
    return f"{versus.label} may be {span(versus.ratio)} than {versus.baseline}"


def short_verdict(versus: Versus) -> str:
    """Return the verdict in a few words, without its interval."""
    if versus.ratio is None:
        return "too few rounds"
    if versus.verdict in ("no difference", "too noisy to tell"):
        return (undecided(versus.ratio) if versus.verdict != "no difference" else versus.verdict).removesuffix(
            " to tell"
        )
    ratio = versus.ratio.value
    return f"{units.factor(1 / ratio)} faster" if versus.verdict == "faster" else f"{units.factor(ratio)} slower"


def open_interval(versus: Versus) -> str:
    """Return the interval of a ratio without a verdict, in parentheses; empty if there is a verdict, or no ratio."""
    if versus.ratio is None or versus.verdict != "too noisy to tell":
        return ""
    return f" ({span(versus.ratio).removeprefix('between ').replace(' and ', ' to ')})"


def factors(versus: Versus) -> tuple[float, float]:
    """Return the factor of *faster* or *slower* twice, or the ends of its interval if it is not known well."""
    low, high = interval(versus)
    known = high <= _KNOWN_WITHIN * low
    return (_factor(versus).value,) * 2 if known else (low, high)


def interval(versus: Versus) -> tuple[float, float]:
    """Return the ends of the interval of the factor of *faster* or *slower*."""
    factor = _factor(versus)
    return factor.low, factor.high


def _factor(versus: Versus) -> Estimate:
    assert versus.ratio is not None
    return versus.ratio.inverse if versus.verdict == "faster" else versus.ratio


def factor_span(low: float, high: float) -> str:
    """Return a factor, or a range of factors whose ends are not the same as they are rounded."""
    ends = dict.fromkeys(units.factor(each) for each in (low, high))
    return " to ".join(ends)


def throughput(candidate: Candidate) -> str | None:
    """Return the work per second, and what that number leaves out; ``None`` if it was not requested."""
    work = candidate.work
    if work is None:
        return None
    if candidate.throughput is None:
        return f"{units.WORK[work.kind]} unknown: {'; '.join(work.caveats)}"
    text = units.rate(candidate.throughput, work.kind)
    interval = candidate.throughput_interval
    aside = [] if interval is None else [" to ".join(units.rate(each, work.kind) for each in interval)]
    aside += work.caveats
    return f"{text} ({'; '.join(aside)})" if aside else text


def row(comparison: Comparison, candidate: Candidate) -> str:
    """Return the verdict on a candidate, and whether its output differs."""
    versus = counterpart(comparison, candidate)
    text = verdict(versus)
    if versus.baseline not in (comparison.baseline, candidate.label):
        than = " than" if versus.verdict in ("faster", "slower") else ", compared with"
        text += f"{than} {versus.baseline}"
    if agrees(comparison, candidate) is not False:
        return text
    return (
        f"{text}, with {'an output that could not be compared' if is_uncompared(candidate) else 'a different output'}"
    )


def call_time(candidate: Candidate, digits: int) -> str:
    """Return the median of a candidate's samples."""
    return units.time(median(candidate.latency.calls_ns), digits)


def details(comparison: Comparison, candidate: Candidate, digits: int) -> str:
    """Report the first call, break-even, pipelined calls, throughput and memory of one candidate."""
    timing, versus = candidate.first_call, counterpart(comparison, candidate)
    parts = [f"first call {units.time(timing.wall_ns, digits)}"]
    if timing.compile_ns:
        compiling = f"{units.time(timing.compile_ns, digits)} of it compiling"
        if pays_off(candidate, versus):
            compiling += f", paid for after {_calls(versus)}"
        parts.append(compiling)
    if candidate.pipelined is not None:
        parts.append(f"pipelined {units.time(median(candidate.pipelined.calls_ns), digits)}")
    elif candidate.conditions.serial == "waits":
        parts.append("not pipelined, because it waits for its own result")
    if (rate := throughput(candidate)) is not None:
        parts.append(rate)
    if candidate.memory is not None and candidate.memory_bytes is not None:
        temporary = candidate.memory.temporary_bytes
        of_it = f", {units.size(temporary)} of it temporary" if temporary else ""
        parts.append(f"needs {units.size(candidate.memory_bytes)}{of_it}")
    return "; ".join(parts)


def pays_off(candidate: Candidate, versus: Versus) -> bool:
    """Return whether it is known after how many calls a longer compilation has paid for itself."""
    return candidate.label != versus.baseline and bool(versus.break_even_calls)


def _calls(versus: Versus) -> str:
    """Return after how many calls a longer compilation has paid for itself, with its interval."""
    assert versus.break_even_calls is not None
    text = units.count(versus.break_even_calls, "call")
    low, high = versus.break_even_interval or (versus.break_even_calls,) * 2
    return text if low == high else f"{text} ({low} to {high})"
