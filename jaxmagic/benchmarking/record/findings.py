"""What is wrong with a benchmark's samples, in words with a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ... import units
from ...records.finding import Finding
from ...records.other_load import loaded
from ...statistics.medians import FEWEST_FOR_CORRELATION, is_correlated
from ...statistics.modes import Mode, modes
from ...statistics.trend import drift
from .benchmark import Benchmark
from .samples import Conditions

#: What is smaller than this share of the median is not worth a word.
_WORTH_A_WORD = 0.02

#: A drift, or the distance from the lowest mode to the highest, has to matter more than a few percent to be told.
_DRIFT = 0.03

#: Numbers in a sentence.
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}

#: Of a call as short as this many empty ones, a tenth is not the statement's own.
_SHORT = 10

#: A sample as short as this many steps of the clock is rounded by more than a percent.
_STEPS = 100

#: Kinds of findings on the order or the shape of samples, which mean nothing across processes.
_WITHIN_A_PROCESS = frozenset({"modes", "drift", "correlated"})


def findings(benchmark: Benchmark) -> tuple[Finding, ...]:
    """Everything that makes the median of `benchmark` less than it seems, the gravest first.

    Of several processes, drifts and modes are looked for within each, and told if at least half of them agree.
    """
    whole = list(_findings(benchmark))
    if len(benchmark.launches) <= 1:
        return tuple(whole)
    shared = [each for each in whole if each.kind not in _WITHIN_A_PROCESS]
    count = len(benchmark.launches)
    alone = [replace(benchmark, latency=trial, launches=()) for trial in benchmark.trials]
    within = [each for record in alone for each in _findings(record) if each.kind in _WITHIN_A_PROCESS]
    for kind in dict.fromkeys(each.kind for each in within):
        of_a_kind = [each for each in within if each.kind == kind]
        if 2 * len(of_a_kind) >= count:
            text = f"In {len(of_a_kind)} of {count} processes, such as this one: {of_a_kind[0].text}"
            shared.append(replace(of_a_kind[0], text=text))
    return tuple(shared)


def _findings(benchmark: Benchmark) -> Iterator[Finding]:
    conditions = benchmark.conditions
    calls_ns = benchmark.latency.calls_ns
    median_ns = benchmark.median_ns
    if conditions.folded:
        yield folded()
    yield from recompiled(conditions)
    yield from _too_short(benchmark, median_ns)
    # The clock steps by whole nanoseconds at least, and a sample is several calls.
    step_ns = max(conditions.resolution_ns, 1) / benchmark.latency.evaluations
    yield from _several(modes(calls_ns, step_ns))
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
            remedy=f"The median is that of a moving target: {remedy}, and measure again.",
        )
    elif len(calls_ns) >= FEWEST_FOR_CORRELATION and is_correlated(calls_ns):
        yield Finding(
            kind="correlated",
            text="The samples depend on each other: what makes one slow makes the next ones slow as well.",
            remedy="The interval allows for that, but may still be too narrow: give it more --budget (budget_s).",
        )
    if conditions.collection_ns > _WORTH_A_WORD * sum(benchmark.samples_ns):
        yield Finding(
            kind="garbage collection",
            text=f"Python's garbage collector ran in {units.count(conditions.collected, 'sample')} and took "
            f"{units.time(conditions.collection_ns)} of them.",
            remedy="Make fewer objects per call, or gc.freeze() what lives long.",
        )
    yield from loaded(conditions.other_load, benchmark.environment)


def _several(found: tuple[Mode, ...]) -> Iterator[Finding]:
    """Modes, unless there is one, or all lie within a few percent."""
    if len(found) < 2 or found[-1].median - found[0].median <= _DRIFT * found[0].median:
        return
    number = _NUMBERS.get(len(found), str(len(found)))
    named = ", ".join(f"{units.time(mode.median)} ({units.share(mode.share, 1)})" for mode in found)
    yield Finding(
        kind="modes",
        text=f"The samples have {number} modes: {named}. The median is that of the mixture.",
        remedy="Look at the distribution: other inputs, clock frequencies or placements of threads alternate.",
    )


def _too_short(benchmark: Benchmark, median_ns: float) -> Iterator[Finding]:
    conditions = benchmark.conditions
    sample_ns = median_ns * benchmark.latency.evaluations
    if sample_ns < _STEPS * conditions.resolution_ns:
        yield Finding(
            kind="too short",
            text=f"A sample of {units.time(sample_ns)} is too short for the clock, which steps by "
            f"{units.time(conditions.resolution_ns)}.",
            remedy="Let a sample be more calls (a larger -n), or let a call do more.",
        )
    elif median_ns < _SHORT * conditions.overhead_ns:
        around = units.time(min(conditions.overhead_ns, median_ns))
        yield Finding(
            kind="too short",
            text=f"Of each call {around} are the loop and the wait, not the statement.",
            remedy="Let the statement do more, for example by a loop inside jit.",
        )


def folded(who: str = "The jitted call") -> Finding:
    """A program without an argument."""
    return Finding(
        kind="folded",
        text=f"{who} gets no array: XLA may have computed its result while compiling, and then nothing is measured.",
        remedy="Pass the data as arguments.",
    )


def recompiled(conditions: Conditions) -> Iterator[Finding]:
    """Programs that compiled while samples were taken."""
    compiled = [each for each in conditions.compilations if each.compiled]
    if not compiled:
        return
    last = compiled[-1]
    total = units.time(sum(each.total_ns for each in compiled))
    yield Finding(
        kind="recompiled",
        text=f"{units.count(len(compiled), 'program')} compiled while samples were taken, {total}, the last one "
        f"{last.function}: {last.cause.reason}.",
        remedy=f"{last.cause.remedy[0].upper()}{last.cause.remedy[1:]}." if last.cause.remedy else "See first_call.",
    )
