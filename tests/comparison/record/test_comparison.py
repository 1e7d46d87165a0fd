"""The record of a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.comparison.record.candidate import Work
from jaxmagic.comparison.record.comparison import Comparison


def test_it_is_a_mapping_of_labels_to_what_they_are_beside_the_baseline(comparison: Comparison) -> None:
    assert list(comparison) == ["numpy", "jit"]
    assert len(comparison) == 2
    assert comparison["jit"].label == "jit"
    assert comparison["jit"].interval is not None
    with pytest.raises(KeyError, match="expected one of the candidates numpy, jit, got 'jat'"):
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


def test_the_throughput_is_work_per_median_call_and_outliers_do_not_move_it(comparison: Comparison) -> None:
    calls_ns = (99, 102, 98, 101, 97, 103, 99, 102, 98, 10**6)
    one = replace(
        comparison.candidates[0],
        latency=Trial(samples_ns=calls_ns, evaluations=1),
        work=Work(kind="items", amount=50.0),
    )
    assert one.throughput == pytest.approx(50 / 100e-9)
    low, high = one.throughput_interval or (0, 0)
    assert 50 / 103e-9 <= low < one.throughput < high <= 50 / 97e-9
    unknown = replace(one, work=Work(kind="flops", amount=None))
    assert (unknown.throughput, unknown.throughput_interval) == (None, None)
