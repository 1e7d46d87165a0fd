"""The record of a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.comparison.record.comparison import Comparison


def test_it_is_a_mapping_of_labels_to_what_they_are_beside_the_baseline(comparison: Comparison) -> None:
    assert list(comparison) == ["numpy", "jit"]
    assert len(comparison) == 2
    assert comparison["jit"].label == "jit"
    assert comparison["jit"].interval is not None
    with pytest.raises(KeyError, match="no candidate 'jat', only numpy, jit"):
        comparison["jat"]


def test_values_are_no_part_of_what_is_compared_printed_or_listed(comparison: Comparison) -> None:
    found = replace(comparison, values={"jit": object()})
    assert found == comparison
    assert "values" not in repr(found)
    assert "values" not in found.to_dict()
    assert found.without_values().values == {}


def test_to_dict_has_the_verdicts(comparison: Comparison) -> None:
    assert comparison.to_dict()["verdicts"]["jit"]["verdict"] == "faster"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"baseline": "jat"}, "baseline: there is no candidate 'jat'"),
        ({"twice": "jat"}, "twice: there is no candidate 'jat'"),
        ({"again": Trial(samples_ns=(1,), evaluations=1)}, "one sample per candidate and round, got \\[1, 60\\]"),
    ],
)
def test_what_cannot_be_is_refused(comparison: Comparison, changes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(comparison, **changes)


def test_labels_differ(comparison: Comparison) -> None:
    one = comparison.candidates[0]
    with pytest.raises(ValueError, match="labels: expected distinct labels"):
        replace(comparison, candidates=(one, one))
