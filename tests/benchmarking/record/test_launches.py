"""Records of several processes beside each other, with simulated noise whose truth is known."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from jaxmagic.benchmarking.record.launches import (
    ASSUMED_SD,
    Design,
    Side,
    compare_sides,
    noise_sd,
    power,
    smallest_ratio,
)
from jaxmagic.benchmarking.record.process_noise import ProcessNoise, ProgramNoise
from jaxmagic.benchmarking.record.versus import judge
from jaxmagic.statistics.estimate import Estimate

RUNS = 1500

#: The standard error of a median within its process.
WITHIN = 0.002


def called(old: int, new: int, sd: float, ratio: float, between_sd: float = ASSUMED_SD, runs: int = RUNS) -> float:
    """In which share of simulated pairs of records the later one is called faster or slower."""
    chance = np.random.default_rng(old + 10 * new + round(1000 * sd) + round(1e4 * ratio))
    spread = sqrt(sd**2 + WITHIN**2)

    def side(count: int, shift: float) -> Side:
        return Side(tuple(shift + spread * chance.standard_normal(count)), (WITHIN,) * count)

    verdicts = []
    for _ in range(runs):
        found = compare_sides(side(old, 0.0), side(new, log(ratio)), between_sd)
        assert found is not None
        verdicts.append(judge(found.ratio))
    return sum(each in ("faster", "slower") for each in verdicts) / runs


@pytest.mark.parametrize("sd", [0.01, 0.02, 0.03, 0.05, 0.2])
@pytest.mark.parametrize("count", [3, 5])
def test_records_of_several_processes_give_few_false_alarms_however_much_these_differ(count: int, sd: float) -> None:
    assert called(count, count, sd, 1.0) <= 0.05


@pytest.mark.parametrize("sd", [0.01, 0.02, 0.03])
def test_records_of_one_process_give_few_false_alarms_where_the_assumption_holds(sd: float) -> None:
    assert called(1, 1, sd, 1.0) <= 0.065  # 0.06 in the long run, of 1500


def test_records_of_one_process_give_false_alarms_beyond_the_assumption_and_none_once_it_is_measured() -> None:
    assert called(1, 1, 0.1, 1.0) > 0.3
    assert called(1, 1, 0.1, 1.0, between_sd=0.1) <= 0.05


@pytest.mark.parametrize(("old", "new"), [(1, 5), (2, 2), (5, 1), (2, 5)])
def test_processes_that_differ_by_more_than_assumed_count_by_themselves(old: int, new: int) -> None:
    assert called(old, new, 0.02, 1.0) <= 0.05
    assert called(old, new, 0.1, 1.0) <= 0.15  # as many as two processes can know; 0.3 and more without that
    assert called(old, new, 0.1, 1.0, between_sd=0.1) <= 0.05


@pytest.mark.parametrize(
    ("old", "new", "sd", "between_sd"),
    [
        (3, 3, 0.02, 0.02),
        (5, 5, 0.02, 0.02),
        (5, 5, 0.1, 0.02),
        (1, 1, 0.02, 0.02),
        (1, 5, 0.03, 0.03),
        (3, 7, 0.05, 0.02),
    ],
)
def test_differences_are_found_as_often_as_predicted(old: int, new: int, sd: float, between_sd: float) -> None:
    design = Design(old, new, sd=sqrt(sd**2 + WITHIN**2), prior_sd=sqrt(between_sd**2 + WITHIN**2))
    smallest = smallest_ratio(design)
    assert smallest is not None
    assert power(design, smallest) == pytest.approx(0.8, abs=0.001)
    for ratio in (1.05, 1.1, smallest, 1 + 2 * (smallest - 1)):
        assert called(old, new, sd, ratio, between_sd, runs=600) == pytest.approx(power(design, ratio), abs=0.06)


def test_more_processes_show_smaller_differences() -> None:
    found = [smallest_ratio(Design(count, count, sd=0.05, prior_sd=0.05)) for count in (1, 3, 5, 10, 20)]
    assert all(each is not None for each in found)
    assert found == sorted(found, reverse=True, key=lambda each: each or 0)
    assert smallest_ratio(Design(1, 1, sd=3.0, prior_sd=3.0)) is None
    assert smallest_ratio(Design(3, 3, sd=0.0, prior_sd=0.02)) == pytest.approx(1.01)


def test_the_ratio_the_other_way_round_is_one_over_this() -> None:
    one, other = Side((0.0, 0.1, 0.05), (0.01,) * 3), Side((0.3,), (0.01,))
    found, back = compare_sides(one, other), compare_sides(other, one)
    assert found is not None
    assert back is not None
    there, again = found.ratio, back.ratio
    assert (1 / again.value, 1 / again.high, 1 / again.low) == pytest.approx((there.value, there.low, there.high))


def test_noise_within_processes_is_the_least_that_a_verdict_rests_on() -> None:
    equal = Side((0.0, 0.0, 0.0), (0.05,) * 3)
    other = Side((0.1, 0.1, 0.1), (0.05,) * 3)
    found = compare_sides(equal, other)
    assert found is not None
    assert found.design.sd == pytest.approx(0.05)
    assert judge(found.ratio) == "too noisy to tell"


def test_one_process_needs_an_interval_within_and_three_do_not() -> None:
    assert compare_sides(Side((0.0,), (None,)), Side((0.0,), (0.01,))) is None
    three = Side((0.0, 0.01, 0.02), (None,) * 3)
    assert compare_sides(three, three) is not None


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.02, 1.2, "slower"),
        (1.005, 1.2, "too noisy to tell"),
        (0.8, 0.98, "faster"),
        (0.8, 0.995, "too noisy to tell"),
        (0.98, 1.02, "no difference"),
        (0.98, 1.04, "too noisy to tell"),
    ],
)
def test_a_verdict_is_what_the_whole_interval_says(low: float, high: float, verdict: str) -> None:
    assert judge(Estimate(value=sqrt(low * high), low=low, high=high, confidence=0.95)) == verdict


def test_the_noise_is_that_of_the_most_similar_program_and_at_least_that_of_all() -> None:
    short, middle, long = (
        ProgramNoise(call_ns=call_ns, sd=sd) for call_ns, sd in ((1e4, 0.3), (1e6, 0.1), (1e7, 0.05))
    )
    noise = ProcessNoise(programs=(short, middle, long), processes=5)
    together = sqrt((0.3**2 + 0.1**2 + 0.05**2) / 3)
    assert noise_sd(noise, 5e3) == pytest.approx(0.3)
    assert noise_sd(noise, 2e7) == pytest.approx(together)
    assert noise_sd(None, 1e6) == ASSUMED_SD
