"""Verdicts and intervals are right as often as they say, on noise of every kind and with the stopping that there is.

The rates of thousands of runs stand in ``docs/tables/verdicts.md``, which ``make tables`` writes.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import simulated
import verdict_table
from scipy.stats import binom
from simulated import Rates, power, rates

#: Runs of each cell, and numbers of samples; what takes long is left to ``make suites``.
RUNS, COUNTS = (300, (6, 20, 100, 400)) if "JAXMAGIC_SIMULATED" in os.environ else (150, (6, 20, 100))

#: How seldom a true rate is to be taken for a worse one.
SELDOM = 0.001

#: Noise in which an interval of the median may cover less often: each sample tells too little that the others do not.
MORE_CORRELATED = {"AR(1) 0.6", "AR(1) 0.9"}

pytestmark = pytest.mark.long


def at_least(rate: float, wanted: float, runs: int = RUNS) -> bool:
    """Whether a rate that was seen can be that of something that happens so often."""
    return rate * runs >= binom.ppf(SELDOM, runs, wanted)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("noise", simulated.FIRST)
def test_what_is_said_is_right_as_often_as_it_says(noise: str, count: int) -> None:
    found = rates(simulated.FIRST[noise], count, RUNS)
    assert abs(found.estimate - 1) <= 0.003 + 3 * found.spread
    assert at_least(found.covered, 0.93)
    assert at_least(1 - found.called, 0.95)
    assert at_least(1 - found.alone, 0.95)
    if count >= 100:
        assert holds(found, 0.88 if noise in MORE_CORRELATED else 0.93)


def holds(found: Rates, wanted: float) -> bool:
    """Whether the interval of a median covers the truth often enough, or nearly all that miss it have a warning."""
    told = 1 - 0.05 * (1 - found.median_covered)
    return at_least(found.median_covered, wanted) or at_least(1 - found.silent, told)


@pytest.mark.parametrize(("rounds", "others"), [(15, 1), (22, 5)])
def test_five_percent_under_three_percent_of_noise_are_found(rounds: int, others: int) -> None:
    assert at_least(power(0.05, rounds, others, RUNS), 0.85)


def test_only_code_counts_in_what_the_table_was_made_by() -> None:
    code = "def f(x):\n    if x:\n        return '# 1'\n    return g(2, 3)\n"
    about = (
        '"""A module."""\n\nfrom os import (\n    path,\n)\n\n# Comment.\ndef f(x):  # comment\n    """Do it."""\n'
        "    # indented\n    if x:\n        return '# 1'\n\n    return g(\n        2,  # inline\n        3)\n"
    )
    assert verdict_table.code_of(about) == verdict_table.code_of(code)
    for changed in (code.replace("# 1", "# 2"), code.replace("    return g", "        return g")):
        assert verdict_table.code_of(changed) != verdict_table.code_of(code)


def test_the_table_was_made_by_the_code_that_there_is() -> None:
    table = Path(__file__).parents[1] / "docs" / "tables" / "verdicts.md"
    assert verdict_table.digest() in table.read_text(), "run `make tables`: what the table was made by has changed"
