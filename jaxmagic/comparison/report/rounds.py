"""Writes the sentences about the rounds of a comparison: how many, what ended them, and how many a verdict needs."""

from __future__ import annotations

from ... import units
from ...benchmarking.record.in_turns import rounds_for
from ...benchmarking.record.versus import Versus
from ..record.comparison import Comparison
from ..record.verdict import counterpart, family_confidence

#: At most this many candidates are named.
_MOST_NAMED = 2

#: Rounds may take longer by this factor when they are measured again.
_MARGIN = 1.25

#: If two measurements of a baseline differ by more than this, the exact number means nothing.
_LARGEST_NOISE = 0.5


def about_rounds(comparison: Comparison) -> str:
    """Say how many rounds there were, what ended them, and how large the noise was."""
    rounds = len(comparison.again.samples_ns)
    count = units.count(rounds, "round")
    sentence = f"{count} in shuffled order"
    needed, budget_ns = rounds_needed(comparison), comparison.budget_ns
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
        sentence += ", until interrupted"
    elif comparison.stopped_by == "error":
        sentence += f", until {comparison.error} was raised"
    if rounds < needed:
        return f"{sentence}. {_more(comparison, needed)}"
    noise = comparison.noise
    if noise is None:
        return f"{sentence}."
    floor, twice = max(noise.high, 1 / noise.low) - 1, f"two measurements of {comparison.twice} in the same rounds"
    if floor > _LARGEST_NOISE:
        measured = f"{twice} may differ by more than {units.percent(_LARGEST_NOISE)}"
        others = [counterpart(comparison, each) for each in comparison.candidates]
        if any(each.verdict == "too noisy to tell" for each in others):
            return f"{sentence}. Too noisy: {measured}."
        within = [each.label for each in others if each.label != each.baseline and _least(each) <= floor]
        if not within:
            return f"{sentence}. Noise: {measured}, but all candidates differ by more than this noise."
        of = " and ".join(within) if len(within) <= _MOST_NAMED else units.count(len(within), "candidate")
        return f"{sentence}. Noise: {measured}. {of} may differ by less than this noise: more rounds would tell."
    return f"{sentence}. Noise: {twice} differ by at most {units.percent(floor)}."


def _least(versus: Versus) -> float:
    """Return the least difference that the interval of a ratio allows: 0.04 for 1.04x to 1.99x slower."""
    if versus.ratio is None or versus.ratio.low <= 1 <= versus.ratio.high:
        return 0.0
    return min(max(each, 1 / each) for each in (versus.ratio.low, versus.ratio.high)) - 1


def rounds_needed(comparison: Comparison) -> int:
    """Return the fewest rounds for a verdict; 0 if there is nothing to compare."""
    return rounds_for(family_confidence(len(comparison) - 1)) if len(comparison) > 1 else 0


def _round_ns(comparison: Comparison) -> float:
    trials = [*(each.latency for each in comparison.candidates), comparison.again]
    return sum(sum(each.samples_ns) for each in trials) / len(comparison.again.samples_ns)


def _more(comparison: Comparison, needed: int) -> str:
    """Say how many rounds a verdict needs, and which budget allows them."""
    budget_ns = budget_for_verdict_ns(comparison)
    if budget_ns is None:
        return f"A verdict needs {needed} rounds."
    round_ns, budget = _round_ns(comparison), units.time_option(budget_ns)
    return (
        f"A verdict needs {needed} rounds of {units.time_short(round_ns)}: use --budget {budget} (budget_s) or more."
    )


def lacks_rounds(comparison: Comparison, least: int = 0) -> bool:
    """Return whether there are fewer rounds than a verdict needs, or than `least`."""
    return len(comparison.again.samples_ns) < max(rounds_needed(comparison), least)


def budget_for_verdict_ns(comparison: Comparison, least: int = 0) -> float | None:
    """Return a budget that allows enough rounds like those so far, even if they take somewhat longer.

    It is ``None`` if it is unknown, or if the budget did not end the rounds.
    """
    if comparison.stopped_by != "budget" or any(each.conditions.fresh for each in comparison.candidates):
        return None  # samples do not include making fresh arguments
    return _MARGIN * max(rounds_needed(comparison), least) * _round_ns(comparison)
