"""Benchmarks and comparisons whose truth is known: the real sampling and stopping, on calls that take made-up times.

Every call takes its base time, times the next factor of a series of noise. A clock that nothing else moves adds these
up. What is returned are records as the program makes them, so everything that follows from samples can be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

import jaxmagic
from jaxmagic.benchmarking.capture.plan import Plan
from jaxmagic.benchmarking.capture.stopping import until_known
from jaxmagic.benchmarking.capture.warmup import WarmUp
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.comparison.capture.contestants import Contestants, Entry
from jaxmagic.comparison.capture.turns import Turns
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.fastest import fastest
from jaxmagic.comparison.record.verdict import verdict_between
from jaxmagic.progress.record import SILENT
from jaxmagic.statistics.medians import is_correlated, median_interval

Factors = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Factors]

#: What a call takes without noise.
CALL_NS = 100_000_000


def correlated(phi: float, spread: float = 0.05) -> Noise:
    """AR(1) in logarithms: each call's noise is `phi` of the one before it, and some of its own."""

    def noise(rng: np.random.Generator, count: int) -> Factors:
        own = rng.normal(0, spread * (1 - phi**2) ** 0.5, count + 300)
        return np.exp(lfilter([1.0], [1.0, -phi], own)[300:])

    return noise


def two_modes(rng: np.random.Generator, count: int) -> Factors:
    """Three of ten calls take a fifth longer; the median of all is 1."""
    slow = rng.random(count) < 0.3
    return np.where(slow, rng.normal(1.2, 0.02, count), rng.normal(1, 0.02, count)) / (1 + 0.02 * 0.56595)


def spikes(rng: np.random.Generator, count: int) -> Factors:
    """One of ten calls takes up to five times as long; the median of all is 1."""
    high = rng.random(count) < 0.1
    return np.where(high, rng.uniform(1.5, 5, count), rng.lognormal(0, 0.02, count)) / np.exp(0.02 * 0.13971)


def drift(rng: np.random.Generator, count: int) -> Factors:
    """A tenth slower at the end than at the beginning; the median of all is about 1."""
    return trend(count) * rng.lognormal(0, 0.03, count)


def trend(count: int) -> Factors:
    """What changes slowly, of which the median over what was measured is the truth."""
    return np.linspace(0.95, 1.05, count)


def steps(rng: np.random.Generator, count: int) -> Factors:
    """The clock frequency changes by 5 % after every 50 calls; the median of all is about 1."""
    slow = (np.arange(count) + rng.integers(100)) // 50 % 2
    return np.where(slow, 1.05, 1.0) * rng.lognormal(0, 0.02, count) / 1.025


FIRST: Mapping[str, Noise] = {
    "exponential": lambda rng, count: (1 + rng.exponential(0.1, count)) / (1 + 0.1 * np.log(2)),
    "lognormal": lambda rng, count: rng.lognormal(0, 0.1, count),
    "spikes": spikes,
    "two modes": two_modes,
    "AR(1) 0.3": correlated(0.3),
    "AR(1) 0.5": correlated(0.5),
    "AR(1) 0.6": correlated(0.6),
    "AR(1) 0.9": correlated(0.9),
    "slow drift": drift,
    "frequency steps": steps,
}


def bursts(length: int) -> Noise:
    """Another process comes for so many calls at a time, 15 % of all, and makes them a third slower."""

    def noise(rng: np.random.Generator, count: int) -> Factors:
        busy = np.repeat(rng.random(count // length + 2) < 0.15, length)[rng.integers(length) :][:count]
        return np.where(busy, 1.33, 1.0) * rng.lognormal(0, 0.03, count) / np.exp(0.03 * 0.2224)

    return noise


def interference(rng: np.random.Generator, count: int) -> Factors:
    """Something periodic beside the calls."""
    phase = rng.uniform(0, 2 * np.pi)
    return np.exp(0.03 * np.sin(phase + 2 * np.pi * np.arange(count) / 17.3)) * rng.lognormal(0, 0.03, count)


def three_modes(rng: np.random.Generator, count: int) -> Factors:
    """Placements of threads that take 1, 1.1 and 1.4; the median of all is 1."""
    modes = rng.choice([0.93, 1.0, 1.3], count, p=[0.3, 0.4, 0.3])
    return modes * rng.lognormal(0, 0.01, count)


def skewed_correlated(rng: np.random.Generator, count: int) -> Factors:
    """Skewed and correlated: noise of the calls before it decays while new one comes in rare jolts."""
    own = rng.exponential(0.02, count + 300) * (rng.random(count + 300) < 0.5)
    series = 1 + lfilter([1.0], [1.0, -0.5], own)[300:]
    return series / 1.0166


#: Made when the code had been written.
SECOND: Mapping[str, Noise] = {
    "gamma": lambda rng, count: (1 + 0.1 * rng.gamma(2, 1, count)) / (1 + 0.1 * 1.67835),
    "Pareto": lambda rng, count: (1 + 0.05 * rng.pareto(2.5, count)) / (1 + 0.05 * (2**0.4 - 1)),
    "Weibull": lambda rng, count: (1 + 0.2 * rng.weibull(0.7, count)) / (1 + 0.2 * np.log(2) ** (1 / 0.7)),
    "three modes": three_modes,
    "bursts of 4": bursts(4),
    "interference": interference,
    "skewed AR(1)": skewed_correlated,
    "AR(1) 0.8": correlated(0.8),
}


#: What no interval of a median can know: a state that does not occur while samples are taken.
UNSEEN: Mapping[str, Noise] = {"bursts of 20": bursts(20)}


class Machine:
    """A clock that only calls move, and the noise that all of them share."""

    def __init__(self, factors: Factors) -> None:
        self.now_ns = 0
        self._times = iter((factors * CALL_NS).tolist())

    def clock(self) -> int:
        return self.now_ns

    def runner(self, factor: float = 1.0) -> Any:
        return _Runner(self, factor)

    def call(self, factor: float) -> int:
        took_ns = int(next(self._times) * factor)
        self.now_ns += took_ns
        return took_ns


class _Runner:
    """Takes the place of a :class:`~jaxmagic.benchmarking.capture.runner.Runner` whose samples are single calls."""

    evaluations = 1
    value = None

    def __init__(self, machine: Machine, factor: float) -> None:
        self._machine = machine
        self._factor = factor

    def sample(self) -> int:
        return self._machine.call(self._factor)

    def twin(self) -> _Runner:
        return _Runner(self._machine, self._factor)


def budget_ns(factors: Factors, count: int) -> int:
    """What allows `count` samples or rounds of these factors, of which there are as many in each."""
    share = 1.0 if count < 70 else 0.65  # where calls are short, the rest is for other things
    return round(float(np.sum(factors)) * CALL_NS * (count + 0.6) / count / share)


def compare(rng: np.random.Generator, noise: Noise, rounds: int, truths: tuple[float, ...]) -> Comparison:
    """Candidates that take so many times as long as the baseline, in so many rounds, or fewer if these suffice."""
    factors = noise(rng, 2 * (rounds + 5) * (len(truths) + 2))
    machine = Machine(factors)
    # Candidates that differ by some percent change the time of a round by less than the noise does.
    plan = Plan(budget_ns=budget_ns(factors[: rounds * (len(truths) + 2)], rounds))
    entries = {str(index): Entry(machine.runner(factor)) for index, factor in enumerate((1.0, *truths))}
    contestants = Contestants(entries, "0", None)
    turns = Turns(contestants, plan, clock=machine.clock, progress=SILENT, seed=int(rng.integers(2**31)))
    found = turns.take({label: WarmUp((CALL_NS,), None, CALL_NS) for label in entries})
    template = _template()
    candidates = tuple(
        replace(template.candidates[0], label=label, latency=Trial(samples_ns=tuple(samples), evaluations=1))
        for label, samples in found.taken.items()
    )
    again = Trial(samples_ns=tuple(found.again), evaluations=1)
    return replace(template, baseline="0", twice="0", candidates=candidates, again=again)


def sample(rng: np.random.Generator, noise: Noise, count: int) -> list[int]:
    """About so many samples of one statement, or fewer if these suffice."""
    factors = noise(rng, 2 * count + 20)
    machine = Machine(factors)
    plan = Plan(budget_ns=budget_ns(factors[:count], count))
    taken: list[int] = []
    until_known(taken, machine.runner(), plan, SILENT, machine.clock)
    return taken


@cache
def _template() -> Comparison:
    return jaxmagic.compare({"0": len, "1": len}, [1, 2, 3], budget_s=0.01)


class Rates(NamedTuple):
    """How often a comparison of two, a family of six, and a single median were right.

    Attributes:
        runs: how many there were of each.
        rounds: in a comparison of two, in the median.
        estimate: the median of the estimated ratios over the true one.
        spread: the standard error of that median.
        covered: share of the intervals of the ratio that cover the truth.
        called: share of families of equals in which one was called faster or slower.
        alone: share of families of equals in which one was named the fastest.
        samples: of a single median, in the median.
        median_covered: share of its intervals that cover the truth.
        silent: share of intervals that miss it without a warning.
    """

    runs: int
    rounds: int
    estimate: float
    spread: float
    covered: float
    called: float
    alone: float
    samples: int
    median_covered: float
    silent: float


#: What a candidate takes of the baseline's time, where a ratio is estimated.
RATIO = 1.02


def rates(noise: Noise, count: int, runs: int) -> Rates:
    """Simulate comparisons and single medians of about `count` rounds or samples."""
    pairs = [compare(np.random.default_rng([count, run, 0]), noise, count, (RATIO,)) for run in range(runs)]
    ratios = [each["1"].ratio for each in pairs]
    known = [each for each in ratios if each is not None]
    values = np.array([each.value / RATIO for each in known])
    low, high = np.quantile(values, (0.25, 0.75))
    called = alone = 0
    for run in range(runs):
        family = compare(np.random.default_rng([count, run, 1]), noise, count, (1.0,) * 5)
        verdicts = [verdict_between(family, label, "0")[1] for label in family if label != "0"]
        called += any(each in ("faster", "slower") for each in verdicts)
        alone += len(fastest(family)) == 1
    singles = [sample(np.random.default_rng([count, run, 2]), noise, count) for run in range(runs)]
    truth_ns = median_ns(noise)
    covered = silent = 0
    for samples in singles:
        found = median_interval(samples)
        middle_ns = float(np.median(trend(2 * count + 20)[: len(samples)])) * CALL_NS if noise is drift else truth_ns
        if found is not None and found.low <= middle_ns <= found.high:
            covered += 1
        elif not is_correlated(samples):
            silent += 1
    return Rates(
        runs=runs,
        rounds=round(float(np.median([len(each.again.samples_ns) for each in pairs]))),
        estimate=float(np.median(values)),
        spread=1.2533 * float(high - low) / 1.349 / len(values) ** 0.5,
        covered=sum(each.low <= RATIO <= each.high for each in known) / max(len(known), 1),
        called=called / runs,
        alone=alone / runs,
        samples=round(float(np.median([len(each) for each in singles]))),
        median_covered=covered / runs,
        silent=silent / runs,
    )


@cache
def median_ns(noise: Noise) -> float:
    """The true median of a call, from many series of 4,000."""
    rng = np.random.default_rng(1)
    return float(np.median(np.concatenate([noise(rng, 4000) for _ in range(100)]))) * CALL_NS


def power(difference: float, rounds: int, others: int, runs: int) -> float:
    """How often one of `others` that is so much slower is called so, where noise is normal with 3 %."""
    found = 0
    for run in range(runs):
        rng = np.random.default_rng([rounds, run, 3])
        truths = (1 + difference, *[1.0] * (others - 1))
        found += compare(rng, lambda rng, count: rng.normal(1, 0.03, count), rounds, truths)["1"].verdict == "slower"
    return found / runs
