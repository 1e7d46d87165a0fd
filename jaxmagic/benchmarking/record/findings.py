"""Finds what is wrong with a benchmark's samples, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ... import units
from ...records.finding import Finding, as_ranges
from ...records.other_load import loaded
from ...statistics.medians import FEWEST_FOR_CORRELATION, is_correlated
from ...statistics.modes import Mode, modes
from ...statistics.trend import drift
from ...timing.record import Timing
from .benchmark import Benchmark
from .samples import Conditions

#: Garbage collection below this share of the samples' time is not reported.
_WORTH_REPORTING = 0.02

#: A drift, or a distance between the lowest and the highest mode, is reported if it exceeds this share.
_DRIFT = 0.03

#: Numbers as words, for sentences.
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}

#: If a call takes as long as this many empty calls, a tenth of its time is overhead.
_SHORT = 10

#: A sample that is shorter than this many clock ticks is rounded by more than a percent.
_STEPS = 100

#: Kinds of findings about the order or the distribution of samples, which mean nothing across processes.
_WITHIN_A_PROCESS = frozenset({"modes", "drift", "correlated"})


def findings(benchmark: Benchmark) -> tuple[Finding, ...]:
    """Find everything that makes the median of `benchmark` less reliable than it looks, most serious first.

    With several processes, drifts, modes and correlations are sought within each, and reported if at least half of
    the processes have them.
    """
    overall = list(_findings(benchmark))
    if len(benchmark.launches) <= 1:
        return tuple(overall)
    shared = [each for each in overall if each.kind not in _WITHIN_A_PROCESS]
    count = len(benchmark.launches)
    alone = [replace(benchmark, latency=trial, launches=()) for trial in benchmark.trials]
    within = [each for record in alone for each in _findings(record) if each.kind in _WITHIN_A_PROCESS]
    for kind in dict.fromkeys(each.kind for each in within):
        of_a_kind = [each for each in within if each.kind == kind]
        if 2 * len(of_a_kind) >= count:
            for text, at in as_ranges([each.text for each in of_a_kind]).items():
                in_these = f"In {len(at)} of {count} processes, {text[0].lower()}{text[1:]}"
                shared.append(replace(of_a_kind[at[0]], text=in_these))
    return tuple(shared)


def _findings(benchmark: Benchmark) -> Iterator[Finding]:
    conditions = benchmark.conditions
    calls_ns = benchmark.latency.calls_ns
    median_ns = benchmark.median_ns
    if idle := tuple(not_run(benchmark.first_call)):
        yield from idle
        return
    if conditions.folded:
        yield folded()
    yield from recompiled(conditions)
    yield from _too_short(benchmark, median_ns)
    # The clock ticks in whole nanoseconds at least, and a sample may be several calls.
    step_ns = max(conditions.resolution_ns, 1) / benchmark.latency.evaluations
    yield from _several_modes(modes(calls_ns, step_ns))
    trend = drift(calls_ns)
    if trend is not None and abs(trend) > _DRIFT:
        direction = "rose" if trend > 0 else "fell"
        remedy = (
            "wait until the machine has cooled down, or is quiet"
            if trend > 0
            else "give it more time (--budget, budget_s)"
        )
        yield Finding(
            kind="drift",
            text=f"The samples {direction} by {units.share(abs(trend), 1)} from their first third to their last.",
            remedy=f"The median is a moving target: {remedy}, and measure again.",
        )
    elif len(calls_ns) >= FEWEST_FOR_CORRELATION and is_correlated(calls_ns):
        yield Finding(
            kind="correlated",
            text="The samples are correlated: slow samples follow each other.",
            remedy="The interval allows for that, but may still be too narrow: give it more --budget (budget_s).",
        )
    if conditions.collection_ns > _WORTH_REPORTING * sum(benchmark.samples_ns):
        yield Finding(
            kind="garbage collection",
            text=f"Python's garbage collector ran in {units.count(conditions.collected, 'sample')}, for "
            f"{units.time(conditions.collection_ns)} of their time.",
            remedy="Create fewer objects per call, or gc.freeze() long-lived ones.",
        )
    yield from loaded(conditions.other_load, benchmark.environment)


def _several_modes(ascending: tuple[Mode, ...]) -> Iterator[Finding]:
    """Report the modes, unless there is only one, or all lie within a few percent."""
    if len(ascending) < 2 or ascending[-1].median - ascending[0].median <= _DRIFT * ascending[0].median:
        return
    number = _NUMBERS.get(len(ascending), str(len(ascending)))
    named = ", ".join(f"{units.time(mode.median)} ({units.share(mode.share, 1)})" for mode in ascending)
    yield Finding(
        kind="modes",
        text=f"The samples have {number} modes: {named}. The median is over all of them.",
        remedy="Look at the distribution: inputs, clock frequencies or the placement of threads may alternate.",
    )


def _too_short(benchmark: Benchmark, median_ns: float) -> Iterator[Finding]:
    conditions = benchmark.conditions
    sample_ns = median_ns * benchmark.latency.evaluations
    if sample_ns < _STEPS * conditions.resolution_ns:
        yield Finding(
            kind="too short",
            text=f"A sample of {units.time(sample_ns)} is too short for the clock, which ticks every "
            f"{units.time(conditions.resolution_ns)}.",
            remedy="Put more calls into a sample (a larger -n), or make a call do more work.",
        )
    elif median_ns < _SHORT * conditions.overhead_ns:
        around = units.time(min(conditions.overhead_ns, median_ns))
        yield Finding(
            kind="too short",
            text=f"About {around} of each call is the loop and the wait, not the statement.",
            remedy="Make the statement do more work, for example with a loop inside jit.",
        )


def not_run(first_call: Timing, who: str = "") -> Iterator[Finding]:
    """Warn of a function that was not called, of a call in quotes, and of a result that has not run."""
    for each in first_call.notes:
        if each.kind in ("timing.not_called", "timing.not_run", "timing.quoted_call"):
            text, _, remedy = f"{who}{each}".partition(". ")
            yield Finding(kind="not run", text=f"{text}.", remedy=remedy)


def folded(who: str = "The jitted call") -> Finding:
    """Warn of a jitted call without array arguments."""
    return Finding(
        kind="folded",
        text=f"{who} takes no array: XLA may have computed its result at compile time, leaving nothing to measure.",
        remedy="Pass the data as arguments.",
    )


def recompiled(conditions: Conditions) -> Iterator[Finding]:
    """Warn of programs that compiled while samples were taken."""
    compiled = [each for each in conditions.compilations if each.compiled]
    if not compiled:
        return
    last = compiled[-1]
    total = units.time(sum(each.total_ns for each in compiled))
    yield Finding(
        kind="recompiled",
        text=f"{units.count(len(compiled), 'program')} compiled while samples were taken, {total} in all; the last "
        f"was {last.function}: {last.cause.reason}.",
        remedy=f"{last.cause.remedy[0].upper()}{last.cause.remedy[1:]}." if last.cause.remedy else "See first_call.",
    )
