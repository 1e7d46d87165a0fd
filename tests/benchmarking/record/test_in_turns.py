"""One time beside two of something else in each round: ranks that hold for any noise."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.benchmarking.record.in_turns import blocked_median, blocked_rank, blocked_ratio, in_turns, rounds_for
from jaxmagic.benchmarking.record.samples import Trial

times = st.lists(st.tuples(*[st.floats(1, 1e9)] * 3), min_size=4, max_size=40)


@pytest.mark.parametrize("rounds", [3, 4, 5, 8])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_the_rank_is_the_largest_that_is_sure_enough(rounds: int, confidence: float) -> None:
    """By counting all ways in which 0, 1 or 2 of the samples of each round may lie below."""
    sums = [sum(each) for each in product((0, 1, 2), repeat=rounds)]
    rank = blocked_rank(rounds, confidence)
    below = [sum(each < k for each in sums) / len(sums) for k in (rank, rank + 1)]
    assert below[0] <= (1 - confidence) / 2 + 1e-12 < below[1]


def test_many_rounds_have_the_ranks_of_the_normal_distribution() -> None:
    ranks = [blocked_rank(rounds, 0.95) for rounds in range(395, 410)]
    assert ranks == sorted(ranks)
    assert ranks[-1] - ranks[0] == pytest.approx(14, abs=1)


def test_how_many_rounds_a_verdict_takes() -> None:
    assert [rounds_for(1 - 0.05 / others) for others in range(1, 8)] == [4, 4, 5, 5, 5, 5, 6]


@given(times, st.randoms())
def test_the_order_of_rounds_and_of_the_two_samples_does_not_matter(
    rounds: list[tuple[float, ...]], random: object
) -> None:
    shuffled = sorted(rounds, key=lambda _: random.random())  # type: ignore[attr-defined]
    one, first, again = zip(*rounds, strict=True)
    other = zip(*shuffled, strict=True)
    assert blocked_ratio(one, first, again) == blocked_ratio(*other)
    assert blocked_ratio(one, first, again) == blocked_ratio(one, again, first)


@given(times, st.floats(0.1, 10))
def test_a_candidate_that_takes_so_many_times_as_long_has_that_ratio(
    rounds: list[tuple[float, ...]], factor: float
) -> None:
    one, first, again = zip(*rounds, strict=True)
    found, scaled = blocked_ratio(one, first, again), blocked_ratio([factor * each for each in one], first, again)
    assert found is not None
    assert scaled is not None
    ends = (scaled.low, scaled.value, scaled.high)
    assert ends == pytest.approx([factor * each for each in (found.low, found.value, found.high)])


def test_what_has_no_interval() -> None:
    assert blocked_ratio([1.0] * 3, [1.0] * 3, [1.0] * 3) is None
    assert blocked_ratio([0.0] * 4, [1.0] * 4, [1.0] * 4) is None
    assert blocked_median([]) is None


def test_trials_in_turns() -> None:
    one = Trial(samples_ns=(10, 20, 30, 40), evaluations=10)
    twice = Trial(samples_ns=(2, 2, 4, 4, 6, 6, 8, 8), evaluations=1)
    found = in_turns(one, twice)
    assert found is not None
    assert (found.low, found.value, found.high) == pytest.approx((0.5, 0.5, 0.5))
    assert in_turns(None, twice) is in_turns(one, None) is None


def test_it_covers_the_truth_where_candidates_share_nothing_but_their_noise() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        one, first, again = rng.exponential(1, (3, 12)) * np.exp(rng.normal(0, 1, 12))
        found = blocked_ratio(1.5 * one, first, again)
        assert found is not None
        covered += found.low <= 1.5 <= found.high
    assert covered >= 945
