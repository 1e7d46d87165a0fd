"""Modes of synthetic samples: how often noise alone seems to have several, and how often real ones are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from jaxmagic.statistics.modes import Mode, modes

Draw = Callable[[Any, int], Any]


def correlated(rng: Any, n: int) -> Any:
    """Draw AR(1) noise with a lag-one correlation of 0.6 and variance one."""
    return 0.8 * lfilter([1], [1, -0.6], rng.normal(size=n + 100))[100:]


def spikes(share: float, log: bool) -> Draw:
    """Draw noise of 3 %, with a share of the samples 2 to 10 times as long."""

    def draw(rng: Any, n: int) -> Any:
        factors = np.exp(rng.uniform(np.log(2), np.log(10), n)) if log else rng.uniform(2, 10, n)
        return rng.normal(1, 0.03, n) * np.where(rng.random(n) < share, factors, 1)

    return draw


NOISE: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(1, 0.05, n),
    "log-normal 0.1": lambda rng, n: rng.lognormal(0, 0.1, n),
    "log-normal 0.5": lambda rng, n: rng.lognormal(0, 0.5, n),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "uniform": lambda rng, n: rng.uniform(1, 2, n),
    "gamma": lambda rng, n: rng.gamma(2, 1, n),
    "gamma above a minimum": lambda rng, n: 1 + 0.05 * rng.gamma(2, 1, n),
    "spikes 3 %": spikes(0.03, log=False),
    "spikes 10 %": spikes(0.1, log=False),
    "spikes 10 %, log-uniform": spikes(0.1, log=True),
    "correlated": lambda rng, n: 1 + 0.05 * correlated(rng, n),
    "correlated, log-normal": lambda rng, n: np.exp(0.3 * correlated(rng, n)),
}


def mixture(rng: Any, n: int, shares: Sequence[float], places: Sequence[float], width: float = 0.02) -> Any:
    return rng.normal(np.asarray(places)[rng.choice(len(shares), size=n, p=shares)], width)


def two(upper: float) -> Draw:
    return lambda rng, n: mixture(rng, n, [1 - upper, upper], [1, 1.1])


def two_bumps(rng: Any, n: int) -> Any:
    """Draw from two log-normal modes; the density between them is a quarter of the peaks'."""
    return np.exp(0.1 * (rng.normal(size=n) + 4.08 * (rng.random(n) < 0.5)))


def filled(rng: Any, n: int) -> Any:
    """Draw from two modes, with 15 % of the samples anywhere between them."""
    kind = rng.random(n)
    between = rng.uniform(1, 1.2, n)
    return np.where(kind < 0.5, rng.normal(1, 0.02, n), np.where(kind < 0.85, rng.normal(1.2, 0.02, n), between))


def counts(draw: Draw, n: int, trials: int) -> list[int]:
    rng = np.random.default_rng(n)
    return [len(modes(draw(rng, n))) for _ in range(trials)]


@pytest.mark.parametrize(("n", "most"), [(20, 0.05), (40, 0.05), (100, 0.02), (400, 0.02), (1000, 0.02)])
@pytest.mark.parametrize("shape", NOISE)
def test_noise_has_one_mode(shape: str, n: int, most: float) -> None:
    trials = 100 if n <= 100 else 50
    assert sum(count != 1 for count in counts(NOISE[shape], n, trials)) <= most * trials


@pytest.mark.parametrize(("n", "most"), [(20, 0.05), (40, 0.05), (100, 0.03), (200, 0.02)])
def test_the_hardest_noise_seldom_has_several_modes(n: int, most: float) -> None:
    """Draw an exponential tail above a minimum: the density falls exactly like the interpolation."""
    found = counts(lambda rng, n: 1 + rng.exponential(0.1, n), n, 400)
    assert sum(count != 1 for count in found) <= most * len(found)


@pytest.mark.parametrize(
    ("draw", "n", "expected", "least"),
    [
        pytest.param(two(0.5), 100, 2, 0.95, id="half and half"),
        pytest.param(two(0.3), 100, 2, 0.95, id="30 %"),
        pytest.param(two(0.15), 100, 2, 0.90, id="15 %"),
        pytest.param(two(0.85), 100, 2, 0.90, id="15 % below"),
        pytest.param(two(0.15), 400, 2, 0.98, id="15 % of more samples"),
        pytest.param(two(0.1), 1000, 2, 0.95, id="10 %"),
        pytest.param(two_bumps, 400, 2, 0.80, id="bumps with a quarter of the peak between them"),
        pytest.param(filled, 100, 2, 0.95, id="a valley partly filled"),
        pytest.param(lambda rng, n: mixture(rng, n, [1 / 3] * 3, [1, 1.1, 1.2]), 200, 3, 0.95, id="three alike"),
        pytest.param(
            lambda rng, n: mixture(rng, n, [0.6, 0.25, 0.15], [5, 6.1, 9.8], 0.1), 200, 3, 0.95, id="three unlike"
        ),
        pytest.param(
            lambda rng, n: mixture(rng, n, [0.4, 0.2, 0.2, 0.2], [1, 1.1, 1.2, 1.3]), 400, 4, 0.90, id="four"
        ),
        pytest.param(
            lambda rng, n: np.where(rng.random(n) < 0.6, rng.normal(1, 0.02, n), rng.normal(2, 0.2, n)),
            200,
            2,
            0.95,
            id="of different widths",
        ),
    ],
)
def test_modes_are_found(draw: Draw, n: int, expected: int, least: float) -> None:
    assert np.mean(np.equal(counts(draw, n, 150), expected)) >= least


def test_modes_have_their_places_and_shares() -> None:
    rng = np.random.default_rng(8)
    low, middle, high = modes(mixture(rng, 1000, [0.6, 0.25, 0.15], [5, 6.1, 9.8], 0.1))
    assert (low.median, middle.median, high.median) == pytest.approx((5, 6.1, 9.8), abs=0.05)
    assert (low.share, middle.share, high.share) == pytest.approx((0.6, 0.25, 0.15), abs=0.04)
    assert low.share + middle.share + high.share == pytest.approx(1)


def test_outliers_beside_two_modes_are_no_third() -> None:
    rng = np.random.default_rng(9)
    found = []
    for _ in range(100):
        samples = mixture(rng, 200, [0.8, 0.2], [1, 1.15])
        samples[::20] *= rng.uniform(2, 10, 10)
        found.append(len(modes(samples)))
    assert found.count(2) >= 95


def test_a_coarse_clock_makes_no_modes() -> None:
    rng = np.random.default_rng(7)
    for width in (0.3, 0.6, 3):
        for _ in range(50):
            assert len(modes(np.round(rng.normal(40, width, 200)), resolution=1)) == 1
    ticks = np.round(mixture(rng, 200, [0.6, 0.4], [40, 60], 0.6))
    assert len(modes(ticks, resolution=1)) == 2
    assert len(modes(np.repeat([40.0, 41.0, 42.0], 50))) == 3  # indistinguishable from modes


@given(st.lists(st.floats(0, 1e9), min_size=20, max_size=60), st.randoms())
def test_the_order_of_samples_does_not_matter(samples: list[float], random: Any) -> None:
    shuffled = samples.copy()
    random.shuffle(shuffled)
    found = modes(samples)
    assert modes(shuffled) == found
    assert sum(mode.share for mode in found) == pytest.approx(1)
    assert list(found) == sorted(found)


def test_the_unit_does_not_matter() -> None:
    samples = mixture(np.random.default_rng(3), 200, [0.5, 0.5], [1, 1.2])
    assert modes(1000 * samples) == tuple(
        Mode(pytest.approx(1000 * mode.median), mode.share) for mode in modes(samples)
    )


@pytest.mark.parametrize("samples", [[], [1.0], [1.0, 2.0] * 9])
def test_too_few_samples_say_nothing(samples: list[float]) -> None:
    assert modes(samples) == ()


def test_equal_samples_and_a_clock_that_did_not_move_have_one_mode() -> None:
    assert modes([5.0] * 30) == (Mode(5.0, 1.0),)
    assert modes([0.0] * 30) == (Mode(0.0, 1.0),)
