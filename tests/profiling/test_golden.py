"""Figures of real recordings, compared with those of XProf and TraceLens."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from golden import Figure, compared, explanation, figures, table
from recordings import trace

import jaxmagic
from jaxmagic.profiling.record.profile import Profile

RECORDINGS = tuple(dict.fromkeys(each.recording for each in figures()))
TABLE = Path(__file__).parents[2] / "docs" / "tables" / "golden.md"


@cache
def opened(name: str) -> Profile:
    return jaxmagic.read_profile(trace(name))


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_figure_of_another_tool_agrees_or_is_explained(name: str) -> None:
    found = compared(name, opened(name))
    assert len(found) >= 40
    assert sum(each.agrees for each in found) >= 0.85 * len(found)
    assert [each for each in found if not each.agrees and explanation(each.figure) is None] == []


def test_what_is_explained_is_not_everything() -> None:
    """The times of operations and kernels have to agree."""
    for what in ("te_fused_attn_backward_ffi.18", "loop_reduce_fusion", "cudnn-conv.1"):
        assert explanation(Figure("", "XProf hlo_stats", what, "total µs", 1.0)) is None
    assert explanation(Figure("", "XProf kernel_stats", "k|1|1", "count", 1.0)) is None
    assert explanation(Figure("", "TraceLens gpu_timeline", "GPU:7", "busy_time", 1.0)) is None


def test_the_table_of_the_manual_is_that_of_this_code() -> None:
    assert TABLE.read_text() == table({name: opened(name) for name in RECORDINGS})


def test_nearly_all_time_of_a_benchmark_of_products_has_a_rate_and_none_is_above_the_roof() -> None:
    operations = opened("gpu_mi300_gemm").operations()
    products = operations[operations["category"] == "matmul"]
    known = operations[operations["flops"].notna()]
    assert known["time_ns"].sum() >= 0.95 * operations["time_ns"].sum()
    assert products["time_ns"].sum() >= 0.9 * operations["time_ns"].sum()
    assert 0.1 < products["of_roof"].max() <= 1
    for name in RECORDINGS:
        assert not opened(name).operations()["of_roof"].gt(1).any()
        assert ">100 %" not in str(opened(name))
