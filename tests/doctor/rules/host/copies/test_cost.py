"""On the CPU, copies cost at least the time in which the device is idle; elsewhere, that is what they cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.rules.host.copies.cost import MUCH, CopyCost, cost_of_copies

#: A run of 100 ms, as recorded.
SHORT_NS, RECORDED_NS = MS, 100 * MS


def on(backend: str, made: Evidence) -> Evidence:
    steady = tuple(replace(each, environment=replace(each.environment, backend=backend)) for each in made.timed)
    return replace(made, timed=steady, observed=steady[0])


def test_idle_time_on_the_cpu_is_a_lower_bound(evidence: Any) -> None:
    cost = cost_of_copies(30 * MS, 70 * MS, on("cpu", evidence()))
    assert cost is not None
    assert (cost.cost_ns, cost.basis) == (30 * MS, "at least")
    assert [str(each) for each in cost.evidence] == [
        "JAX copies for 70.0 ms of the recorded run of 100 ms. On the CPU, this also slows down the work of the "
        "device, on the same cores and memory, by a time that is not known."
    ]


def test_idle_time_of_another_device_is_the_cost(evidence: Any) -> None:
    assert cost_of_copies(30 * MS, 70 * MS, on("gpu", evidence())) == CopyCost(30 * MS, "estimated")


@pytest.mark.parametrize(
    ("backend", "copied_ns", "found"),
    [("cpu", MUCH * RECORDED_NS, True), ("cpu", MUCH * RECORDED_NS - 1, False), ("gpu", RECORDED_NS, False)],
)
def test_copies_beside_a_busy_device_cost_something_unknown_on_the_cpu(
    evidence: Any, backend: str, copied_ns: float, found: bool
) -> None:
    cost = cost_of_copies(SHORT_NS, copied_ns, on(backend, evidence()))
    assert (cost is not None) is found
    if cost is not None:
        assert (cost.cost_ns, cost.basis, len(cost.evidence)) == (None, None, 1)
