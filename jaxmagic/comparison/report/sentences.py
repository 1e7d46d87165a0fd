"""The sentences about a comparison, for every medium."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ... import units
from ...benchmarking.record.in_turns import rounds_for
from ...benchmarking.record.versus import Versus
from ...benchmarking.report.versus import span, verdict
from ...records.names import shortened
from ...statistics.medians import median
from ..record.candidate import Candidate, Check
from ..record.comparison import Comparison
from ..record.fastest import fastest
from ..record.verdict import agrees, counterpart, family_confidence

#: What a baseline differs from itself by, beyond which the number says nothing but that there is noise.
_NOISE_WORTH_TELLING = 0.5

#: Letters of a label in a sentence; a longer one is cut.
LONGEST_LABEL = 40


def headline(comparison: Comparison) -> str:
    """The fastest candidate beside the baseline, or which ones are not told apart; long labels are cut."""
    return cut(_headline(comparison), comparison)


def _headline(comparison: Comparison) -> str:
    passed = [each for each in comparison.candidates if agrees(comparison, each) is not False]
    found = [counterpart(comparison, each) for each in passed if each.label != comparison.baseline]
    # A derivative is no alternative to its function: it is one to other derivatives, if there are any.
    alternatives = [each for each in found if each.baseline == comparison.candidate(each.label).like]
    others = alternatives or found
    if not others:
        return "Nothing to compare: no output is that of the baseline"
    faster = sorted((each for each in others if each.verdict == "faster"), key=_ratio)
    if faster:
        return _fastest(comparison, faster)
    if all(each.verdict == "slower" for each in others):
        fastest = list(dict.fromkeys(each.baseline for each in others))  # of each mode its own
        return f"{' and '.join(fastest)} {'is' if len(fastest) == 1 else 'are'} the fastest"
    if all(each.verdict == "no difference" for each in others):
        if len(others) == len(comparison) - 1:
            return "No difference"
        equals = dict.fromkeys(label for each in others for label in (each.baseline, each.label))
        return f"No difference between {' and '.join(equals)}"
    open_ones = [each for each in others if each.verdict == "too noisy to tell"]
    if open_ones:
        return f"Not settled: {_undecided(min(open_ones, key=_ratio))}"
    return f"Nothing is faster than {comparison.baseline}"


def cut(sentence: str, labels: Iterable[str]) -> str:
    """A sentence with long labels cut, so that they stay different.

    >>> cut("f" * 60 + " is 2x faster than g", ["f" * 60, "g"])
    'fffffffffffffffffffffffffffffffffffffff… is 2x faster than g'
    """
    names = list(labels)
    short = dict(zip(names, shortened(names, LONGEST_LABEL), strict=True))
    for label in sorted(short, key=len, reverse=True):
        if len(label) > LONGEST_LABEL:
            sentence = sentence.replace(label, short[label])
    return sentence


def _ratio(versus: Versus) -> float:
    return float("inf") if versus.ratio is None else versus.ratio.value


def _fastest(comparison: Comparison, faster: Sequence[Versus]) -> str:
    """One candidate where it is faster than all others for certain; else those that may be the fastest."""
    best = faster[0]
    labels = set(fastest(comparison))
    equals = [each for each in faster if each.label in labels and each.baseline == best.baseline]
    if len(equals) < 2 or best not in equals:
        return f"{best.label} is {verdict(best)} than {best.baseline}"
    names = " and ".join(each.label for each in equals) if len(equals) < 4 else f"{len(equals)} candidates"
    times = " and ".join(beside(each).removesuffix(" faster") for each in (equals[0], equals[-1]))
    return f"{names} are faster than {best.baseline} ({times}); which of them is the fastest is not settled"


def _undecided(versus: Versus) -> str:
    """Say how far a candidate without a verdict may be from the baseline."""
    if versus.ratio is None:
        return "too few rounds to tell"
    return f"{versus.label} may be {span(versus.ratio)} than {versus.baseline}"


def beside(versus: Versus) -> str:
    """The verdict in a word or two, without its interval."""
    if versus.ratio is None:
        return "too few rounds"
    if versus.verdict in ("no difference", "too noisy to tell"):
        return versus.verdict.removesuffix(" to tell")
    ratio = versus.ratio.value
    return f"{units.factor(1 / ratio)} faster" if versus.verdict == "faster" else f"{units.factor(ratio)} slower"


def throughput(candidate: Candidate) -> str | None:
    """Tell how much of its work is done in a second, and what that number leaves out; ``None`` if nobody asked."""
    work = candidate.work
    if work is None:
        return None
    if candidate.throughput is None:
        return f"{units.WORK[work.kind]} not known: {'; '.join(work.caveats)}"
    text = units.rate(candidate.throughput, work.kind)
    interval = candidate.throughput_interval
    aside = [] if interval is None else [" to ".join(units.rate(each, work.kind) for each in interval)]
    aside += work.caveats
    return f"{text} ({'; '.join(aside)})" if aside else text


def row(comparison: Comparison, candidate: Candidate) -> str:
    """The verdict on a candidate, and whether it is one on the same computation."""
    beside = counterpart(comparison, candidate)
    found = verdict(beside)
    if beside.baseline not in (comparison.baseline, candidate.label):
        found += (
            f" than {beside.baseline}" if beside.verdict in ("faster", "slower") else f", beside {beside.baseline}"
        )
    return f"{found}, with another output" if agrees(comparison, candidate) is False else found


def call_time(candidate: Candidate, digits: int) -> str:
    """The median of its samples."""
    return units.time(median(candidate.latency.calls_ns), digits)


def details(comparison: Comparison, candidate: Candidate, digits: int) -> str:
    """First call, break-even, pipelined calls and memory of one candidate."""
    timing, versus = candidate.first_call, counterpart(comparison, candidate)
    parts = [f"first call {units.time(timing.wall_ns, digits)}"]
    if timing.compile_ns:
        compiling = f"{units.time(timing.compile_ns, digits)} of it compiling"
        if candidate.label != versus.baseline and versus.break_even_calls:
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


def _calls(versus: Versus) -> str:
    """Tell how many calls a longer compilation takes to pay for itself, and how sure that is."""
    assert versus.break_even_calls is not None
    text = units.count(versus.break_even_calls, "call")
    low, high = versus.break_even_interval or (versus.break_even_calls,) * 2
    return text if low == high else f"{text} ({low} to {high})"


def about_rounds(comparison: Comparison) -> str:
    """Tell how many rounds there were, and what ended them."""
    rounds = len(comparison.again.samples_ns)
    count = units.count(rounds, "round")
    sentence = f"{count} in shuffled order"
    needed, budget_ns = rounds_for(family_confidence(len(comparison) - 1)), comparison.budget_ns
    calls = {each.latency.evaluations for each in comparison.candidates}
    if max(calls) > 1:
        of = str(max(calls)) if len(calls) == 1 else f"{min(calls)} to {max(calls)}"
        sentence += f", each sample the mean of {of} calls"
    if comparison.stopped_by == "precision":
        sentence += f", until every ratio was known to {units.percent(comparison.rtol)}"
    elif comparison.stopped_by == "budget" and rounds <= needed and rounds * _round_ns(comparison) > budget_ns:
        sentence += f", beyond the budget of {units.time_short(budget_ns)}"
    elif comparison.stopped_by == "budget":
        sentence += f", until the budget of {units.time_short(budget_ns)} was spent"
    elif comparison.stopped_by == "interrupt":
        sentence += ", until you interrupted"
    elif comparison.stopped_by == "error":
        sentence += f", until {comparison.error} was raised"
    if rounds < needed:
        return f"{sentence}. {_more(comparison, needed)}"
    noise = comparison.noise
    if noise is None:
        return f"{sentence}."
    floor = max(noise.high, 1 / noise.low) - 1
    if floor > _NOISE_WORTH_TELLING:
        beyond = units.percent(_NOISE_WORTH_TELLING)
        return f"{sentence}. Too noisy: {comparison.twice} beside itself differs by more than {beyond}."
    return f"{sentence}. {comparison.twice} beside itself differs by {units.percent(floor)} at most."


def _round_ns(comparison: Comparison) -> float:
    trials = [*(each.latency for each in comparison.candidates), comparison.again]
    return sum(sum(each.samples_ns) for each in trials) / len(comparison.again.samples_ns)


def _more(comparison: Comparison, needed: int) -> str:
    """Say how many rounds a verdict takes, and which budget allows them."""
    budget_ns = budget_for_verdict_ns(comparison)
    if budget_ns is None:
        return f"A verdict takes {needed} rounds."
    round_ns, budget = _round_ns(comparison), units.time_option(budget_ns)
    return f"A verdict takes {needed} rounds of {units.time_short(round_ns)}: give it --budget {budget} (budget_s)."


def lacks_rounds(comparison: Comparison) -> bool:
    """Tell whether there are fewer rounds than a verdict takes."""
    return len(comparison.again.samples_ns) < rounds_for(family_confidence(len(comparison) - 1))


def budget_for_verdict_ns(comparison: Comparison) -> float | None:
    """The budget that allows the rounds of a verdict; ``None`` if that is not known or it was not what ended them."""
    if comparison.stopped_by != "budget" or any(each.conditions.fresh for each in comparison.candidates):
        return None  # what fresh arguments take is in no sample
    return rounds_for(family_confidence(len(comparison) - 1)) * _round_ns(comparison)


def about_outputs(comparison: Comparison) -> list[str]:
    """Find which outputs are not the baseline's; or that all are."""
    checks = [(each.label, each.check) for each in comparison.candidates if each.check is not None]
    failed = [(label, check) for label, check in checks if not check.passed]
    if failed:
        return [_mismatch(label, check.like or comparison.baseline, check) for label, check in failed]
    if not checks:
        return []
    label, worst = max(checks, key=lambda each: each[1].largest_error or 0.0)
    others = [
        f"{each} returns {check.dtype} where {check.like or comparison.baseline} returns {check.like_dtype}."
        for each, check in checks
        if check.dtype != check.like_dtype
    ]
    if not worst.largest_error:
        return ["All outputs are equal, but for their types:" if others else "All outputs are equal.", *others]
    error, allowed = units.number_short(worst.largest_error), units.number_short(worst.atol)
    where = f"{label}, at {worst.leaf}"
    return [f"All outputs agree: the largest error is {error} ({where}), of {allowed} allowed{_in(worst)}.", *others]


def _mismatch(label: str, like: str, check: Check) -> str:
    where = f" at {check.leaf}" if check.leaf else ""
    if check.problem is not None:
        return f"{label} does not compute what {like} does{where}: {check.problem}."
    error, allowed = units.number_short(check.largest_error or 0.0), units.number_short(check.atol)
    return (
        f"{label} does not compute what {like} does{where}: off by up to {error}, {allowed} is allowed{_in(check)}."
    )


def _in(check: Check) -> str:
    """Tell the types of the outputs, because they decide what is allowed."""
    if check.dtype is None:
        return ""
    return f" in {check.dtype}" + (f" beside {check.like_dtype}" if check.like_dtype != check.dtype else "")
