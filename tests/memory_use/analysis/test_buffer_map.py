"""The curve of live bytes, which counts shared bytes once."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.memory_use.analysis.buffer_map import held, live_at, live_bytes, planned
from jaxmagic.memory_use.record.memory_profile import Allocation, Buffer


def buffer(first: int, last: int, size: int = 10, offset: int = 0, **changes: Any) -> Buffer:
    values: dict[str, Any] = {
        "offset_bytes": offset,
        "size_bytes": size,
        "first": first,
        "last": last,
        "instruction": f"from {first}",
        "shape": "f32[2]",
        "op_name": "jit(f)/add",
        "source": "cell.py:1",
    }
    return Buffer(**(values | changes))


def allocation(*buffers: Buffer, kind: Any = "temporary") -> Allocation:
    size = max((each.offset_bytes + each.size_bytes for each in buffers), default=0)
    return Allocation(kind=kind, size_bytes=size, aliased=False, space=0, buffers=buffers)


def test_the_curve_rises_where_a_buffer_is_made_and_falls_behind_its_last_use() -> None:
    found = [allocation(buffer(1, 2), buffer(2, 4, 5, offset=10))]
    assert live_bytes(found, 6) == [0, 10, 15, 5, 5, 0]


def test_a_result_that_is_written_over_its_operand_counts_once() -> None:
    old, new = buffer(0, 3), buffer(3, 5)
    assert [each.last for each in held(allocation(old, new))] == [2, 5]
    assert live_bytes([allocation(old, new)], 6) == [10] * 6
    elsewhere = buffer(3, 5, offset=10)
    assert live_bytes([allocation(old, elsewhere)], 6) == [10, 10, 10, 20, 10, 10]


def test_what_is_in_the_same_place_across_a_call_counts_once() -> None:
    found = [allocation(buffer(0, 9), buffer(2, 4), buffer(5, 6), buffer(8, 9))]
    assert live_bytes(found, 10) == [10] * 10
    for step in range(10):
        assert sum(each.size_bytes for _, each in live_at(found, step)) == 10


def test_constants_and_a_threads_own_bytes_are_in_no_sum() -> None:
    kinds = ("argument", "output", "temporary", "constant", "thread-local")
    found = [allocation(buffer(0, 1), kind=kind) for kind in kinds]
    assert live_bytes(found, 2) == [30, 30]
    assert [each.kind for each in planned(found)] == ["argument", "output", "temporary"]


def test_what_is_live_at_a_step_is_listed_the_largest_first() -> None:
    small, large, over = buffer(0, 4, 1), buffer(2, 3, 7, offset=1), buffer(5, 6, 9)
    found = live_at([allocation(small, large, over)], 3)
    assert [each for _, each in found] == [large, small]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 50), st.integers(0, 99)), max_size=20))
def test_the_curve_is_the_sum_of_what_is_live_and_below_what_is_allocated(
    spans: list[tuple[int, int, int, int]],
) -> None:
    found = [allocation(*(buffer(min(one, other), max(one, other), size, at) for one, other, size, at in spans))]
    curve = live_bytes(found, 10)
    for step in range(10):
        assert curve[step] == sum(each.size_bytes for _, each in live_at(found, step)) <= found[0].size_bytes
