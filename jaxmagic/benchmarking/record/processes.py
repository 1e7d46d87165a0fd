"""Combines the records of several fresh processes into one benchmark, and computes its median and interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from ...statistics.estimate import Estimate
from ...statistics.medians import CONFIDENCE, median, median_interval
from .benchmark import Benchmark
from .launches import ENOUGH, Design, Side, noise_sd, smallest_ratio
from .samples import Conditions, Launch, StoppedBy, Trial

#: The number of standard errors that the interval of a median reaches to either side.
_NORMAL = 1.96

#: The fewest samples from which the spread within a process is estimated.
_FEWEST = 4


def side_of(trials: Sequence[Trial]) -> Side | None:
    """Return the processes of a record, from one trial each; ``None`` if a median is 0: the clock did not move."""
    medians: list[float] = []
    errors: list[float | None] = []
    for trial in trials:
        middle_ns, interval = median(trial.calls_ns), median_interval(trial.calls_ns)
        if middle_ns <= 0:
            return None
        medians.append(log(middle_ns))
        if interval is not None and interval.low > 0:
            errors.append(log(interval.high / interval.low) / 2 / _NORMAL)
        else:
            errors.append(_error_of_few(trial.calls_ns))
    return Side(tuple(medians), tuple(errors))


def _error_of_few(calls_ns: Sequence[float]) -> float | None:
    """Return the standard error of the median of a few samples, which have no interval, assuming normal noise."""
    if len(calls_ns) < _FEWEST or min(calls_ns) <= 0:
        return None
    return float(np.std(np.log(calls_ns), ddof=1)) * sqrt(pi / 2 / len(calls_ns))


def middle(benchmark: Benchmark) -> float:
    """Return the geometric mean of the medians of all processes, in nanoseconds."""
    return _geometric_mean([median(each.calls_ns) for each in benchmark.trials])


def middle_pipelined(benchmark: Benchmark) -> float | None:
    """Return the same mean for pipelined calls; ``None`` if a process did not measure them."""
    trials = [each.pipelined for each in benchmark.launches]
    measured = [median(each.calls_ns) for each in trials if each is not None]
    return _geometric_mean(measured) if len(measured) == len(trials) else None


def between_processes(benchmark: Benchmark) -> Estimate | None:
    """Return the median with the interval between processes, which is never narrower than the one within them.

    The processes' log medians are assumed to be normal, and the interval is Student's. ``None`` for one process with
    fewer than six samples, and if the clock did not move.
    """
    trials = benchmark.trials
    if len(trials) == 1:
        return median_interval(trials[0].calls_ns)
    side = side_of(trials)
    if side is None:
        return None
    from scipy.special import stdtrit

    count = len(side.medians)
    value = float(np.mean(side.medians))
    reach = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2) * np.std(side.medians, ddof=1))
    reach = max(reach, _NORMAL * _error_within(side)) / sqrt(count)
    low, high = exp(value - reach), exp(min(value + reach, 700.0))
    return Estimate(value=exp(value), low=low, high=high, confidence=CONFIDENCE)


class Spread(NamedTuple):
    """The spread of medians within and between processes, as shares of a median.

    Attributes:
        within: the standard deviation that the samples of a process leave its median; ``None`` if unknown.
        between: the standard deviation from process to process; ``None`` for one process.
        assumed: whether the noise behind `smallest` is assumed, and neither measured nor shown by the processes.
        is_shown: whether the processes themselves show that noise.
        smallest: the smallest ratio that two such benchmarks show in 8 of 10 cases; ``None`` if above a hundred.
    """

    within: float | None
    between: float | None
    assumed: bool
    is_shown: bool
    smallest: float | None


def spread_of(benchmark: Benchmark) -> Spread | None:
    """Return how much the processes of a benchmark vary; ``None`` if the clock did not move."""
    side = side_of(benchmark.trials)
    if side is None:
        return None
    count = len(side.medians)
    error = _error_within(side)
    between = float(np.std(side.medians, ddof=1)) if count > 1 else None
    shown = max(between or 0.0, error)
    prior = sqrt(noise_sd(benchmark.process_noise, middle(benchmark)) ** 2 + error**2)
    sd = shown if count >= ENOUGH else max(shown, prior)
    is_shown = count >= ENOUGH or shown >= prior
    return Spread(
        within=error if all(each is not None for each in side.errors) else None,
        between=between,
        assumed=not is_shown and benchmark.process_noise is None,
        is_shown=is_shown,
        smallest=smallest_ratio(Design(count, count, sd=sd, prior_sd=prior)),
    )


def combined(records: Sequence[Benchmark], *, interrupted: bool = False) -> Benchmark:
    """Combine the records of fresh processes, which have equally many calls per sample.

    Args:
        records: one record per process, in order.
        interrupted: whether an interrupt kept further processes from running.
    """
    first = records[0]
    samples = tuple(sample for each in records for sample in each.samples_ns)
    return replace(
        first,
        latency=replace(first.latency, samples_ns=samples),
        pipelined=None,
        stopped_by="interrupt" if interrupted else _stopped_by(records),
        conditions=_conditions([each.conditions for each in records]),
        launches=tuple(
            Launch(
                sample_count=len(each.samples_ns),
                first_call_ns=each.first_call.wall_ns,
                compile_ns=each.first_call.compile_ns,
                stopped_by=each.stopped_by,
                pipelined=each.pipelined,
                waited=each.waited,
            )
            for each in records
        ),
        value=None,
    )


def _conditions(per_process: Sequence[Conditions]) -> Conditions:
    """Combine the conditions of all processes."""
    loads = [each.other_load for each in per_process if each.other_load is not None]
    return replace(
        per_process[0],
        overhead_ns=max(each.overhead_ns for each in per_process),
        resolution_ns=max(each.resolution_ns for each in per_process),
        fenced=any(each.fenced for each in per_process),
        collected=sum(each.collected for each in per_process),
        collection_ns=sum(each.collection_ns for each in per_process),
        other_load=sum(loads) / len(loads) if loads else None,
        compilations=tuple(compilation for each in per_process for compilation in each.compilations),
    )


def _stopped_by(records: Sequence[Benchmark]) -> StoppedBy:
    """Return what ended the sampling in all processes; ``budget`` if they differ."""
    ends = {each.stopped_by for each in records}
    return ends.pop() if len(ends) == 1 else "budget"


def _error_within(side: Side) -> float:
    """Return the standard error of a median within its process, as the quadratic mean over all processes."""
    errors = [each for each in side.errors if each is not None]
    return sqrt(float(np.mean(np.square(errors)))) if errors else 0.0


def _geometric_mean(times: Sequence[float]) -> float:
    return exp(float(np.mean(np.log(times)))) if min(times) > 0 else 0.0
