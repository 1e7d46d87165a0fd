"""What was recorded on an NVIDIA H200: with CUDA graphs and without, and a loop of products."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from recordings import trace

import jaxmagic

#: The one line that all operations of the first two recordings come from (``tests/gpu/profile_checks.py``).
LINE = "/tmp/jaxmagic/tests/gpu/profile_checks.py:28"


def read(name: str) -> Any:
    return jaxmagic.read_profile(trace(f"gpu_h200_{name}"))


@pytest.mark.parametrize(("name", "least"), [("graphs", 0.6), ("without_graphs", 0.85)])
def test_no_operation_has_a_wrong_line_and_most_of_the_time_has_the_right_one(name: str, least: float) -> None:
    operations = read(name).operation_times
    assert {each.source for each in operations} == {LINE, None}
    known = sum(each.time_ns for each in operations if each.source)
    assert known >= least * sum(each.time_ns for each in operations)


def test_sorts_take_as_long_in_graphs_as_without_them() -> None:
    """The same program: what the graphs' nodes are attributed to agrees with what has its own events."""
    within, apart = (sum_by_category(read(name)) for name in ("graphs", "without_graphs"))
    assert within["sort"] == pytest.approx(apart["sort"], rel=0.07)


def sum_by_category(profile: Any) -> Counter[str]:
    times = Counter[str]()
    for each in profile.operation_times:
        times[each.category] += each.time_ns
    return times


def test_a_loop_of_products_is_counted_and_rated_as_by_hand() -> None:
    profile = read("products")
    (products,) = [each for each in profile.operation_times if each.category == "matmul"]
    assert products.count == 200
    assert products.flops == 2 * 4096**3
    rate = products.flops * products.count / products.total_ns
    assert 0.8 * 989e3 < rate < 989e3  # GFLOP/s, of the data sheet
    (use,) = profile.device_uses
    assert use.model == "NVIDIA H200"
    kernels = sum(each.time_ns for each in profile.operation_times)
    assert use.busy_ns == pytest.approx(kernels, rel=0.001)
    assert use.busy_ns < profile.recorded_ns
