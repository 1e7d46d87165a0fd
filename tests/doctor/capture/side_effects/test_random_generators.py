"""Numbers that are drawn from random generators, and put back."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from jaxmagic.doctor.capture.side_effects.random_generators import RandomGenerators

HELD = {
    "generator": [np.random.default_rng(0)],
    "legacy": np.random.RandomState(0),
    "plain": {"own": random.Random(0)},
    "system": random.SystemRandom(),
}


def drawn() -> list[Any]:
    return [
        float(HELD["generator"][0].normal()),  # type: ignore[index]
        float(HELD["legacy"].normal()),  # type: ignore[attr-defined]
        HELD["plain"]["own"].random(),  # type: ignore[index]
        float(np.random.rand()),
        random.random(),
    ]


def test_numbers_are_drawn_once_more_after_they_are_put_back() -> None:
    put_back = RandomGenerators(HELD).states()
    first, second = drawn(), drawn()
    assert first != second
    put_back()
    assert [drawn(), drawn()] == [first, second]


def test_an_error_leaves_generators_as_they_were() -> None:
    generators = RandomGenerators(HELD)
    put_back = generators.states()
    first = drawn()
    put_back()
    with pytest.raises(ZeroDivisionError), generators.kept():
        drawn()
        raise ZeroDivisionError
    assert drawn() == first


def test_two_versions_draw_the_same_numbers_in_trials_and_others_in_the_first_run() -> None:
    prepare = RandomGenerators(HELD).in_trials()
    runs = []
    for prepared in (prepare(), prepare()):
        runs.append([])
        for _ in range(3):
            prepared()
            runs[-1].append(drawn())
    assert runs[0] == runs[1]
    first, second, third = runs[0]
    assert second == third
    assert all(one != other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("draw", [drawn, np.random.rand, random.random, lambda: HELD["generator"][0].normal()])  # type: ignore[index]
def test_draws_are_noticed(draw: Any) -> None:
    has_drawn = RandomGenerators(HELD).drawn()
    assert not has_drawn()
    draw()
    assert has_drawn()
