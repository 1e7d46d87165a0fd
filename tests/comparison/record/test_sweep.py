"""The record of a sweep."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.comparison.record.curve import Variable
from jaxmagic.comparison.record.sweep import Point, Sweep


def test_it_holds_a_comparison_for_each_point_and_curves_for_each_label(sweep: Sweep) -> None:
    assert list(sweep) == ["numpy", "jit"]
    assert (len(sweep), sweep.planned) == (9, 9)
    assert [curve.label for curve in sweep["jit"]] == ["jit"]
    assert sweep.values(sweep.points[2]) == {"n": "32"}
    assert sweep.without_values() == sweep
    with pytest.raises(KeyError, match="expected one of the candidates numpy, jit, got 'jat'"):
        sweep["jat"]


def test_to_dict_is_plain_and_has_what_follows_from_the_points(sweep: Sweep) -> None:
    found = sweep.to_dict()
    assert found["curves"][0]["growth"]["exponent"]["value"] == pytest.approx(2.0, abs=0.01)
    assert found["crossings"][0]["after"] == "jit"
    del found["points"]  # their values are the user's
    json.dumps(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variables": ()}, "variables with distinct names, got none"),
        ({"variables": (Variable(name="n", labels=("1",)),) * 2}, "variables with distinct names, got n, n"),
        ({"baseline": "jat"}, "baseline: there is no candidate 'jat'"),
        ({"labels": ("numpy",)}, "there is no candidate 'jit', only numpy"),
        ({"points": (Point(at=(9,), comparison=None),)}, r"no point \(9,\) in a grid of \[9\] values"),
        ({"points": (Point(at=(), comparison=None),)}, r"no point \(\) in a grid of \[9\] values"),
        ({"points": (Point(at=(1,), comparison=None),) * 2}, r"there is more than one point at \(1,\)"),
    ],
)
def test_what_does_not_fit_is_refused(sweep: Sweep, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(sweep, **changes)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"labels": ()}, "n has no value"),
        ({"labels": ("1", "1")}, "n has a value twice, among 1, 1"),
        ({"labels": ("1", "2"), "numbers": (1.0,)}, "n has 2 labels and 1 numbers"),
        ({"labels": ("1", "2"), "numbers": (1.0, 1.0)}, "n has a value twice, among 1, 2"),
        ({"labels": ("1", "0"), "numbers": (1.0, 0.0)}, "numbers of n must be positive and fit"),
    ],
)
def test_a_variable_has_different_values(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Variable(name="n", **fields)
