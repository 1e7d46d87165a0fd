"""Heap profiles: their sums add up, and negative amounts are refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from jaxmagic.memory_use.record.heap import FlameNode, HeapChange, HeapDifference, HeapProfile, HeapSample
from jaxmagic.records.call_stack import Frame

FRAME = Frame(function="step", file="train.py", line=17)


def sample(size_bytes: int, kind: str = "buffer", device: str | None = "cpu:0", count: int = 1) -> HeapSample:
    return HeapSample(size_bytes=size_bytes, count=count, kind=kind, device=device, stack=(FRAME,))


PROFILE = HeapProfile(
    samples=(sample(100), sample(300, device="cpu:1"), sample(8, "executable", None), sample(250, count=2)),
    started_at=None,
)


def test_totals_are_sums_over_all_samples() -> None:
    assert PROFILE.total_bytes == 658
    assert PROFILE.count == 5


def test_devices_come_with_the_fullest_first_and_what_is_on_none_counts() -> None:
    assert list(PROFILE.by_device.items()) == [("cpu:0", 350), ("cpu:1", 300), (None, 8)]


def test_kinds_come_with_the_largest_first() -> None:
    assert list(PROFILE.by_kind.items()) == [("buffer", 650), ("executable", 8)]


def test_equal_sums_come_in_the_order_of_their_names() -> None:
    even = replace(PROFILE, samples=(sample(5, device="cpu:1"), sample(5, device=None), sample(5)))
    assert list(even.by_device) == [None, "cpu:0", "cpu:1"]


def test_a_profile_of_nothing_has_zeros() -> None:
    nothing = HeapProfile(samples=(), started_at="2026-01-02T03:04:05+00:00")
    assert (nothing.total_bytes, nothing.count, nothing.by_device, nothing.by_kind) == (0, 0, {}, {})


def test_an_earlier_profile_is_subtracted_from_a_later_one() -> None:
    earlier = replace(PROFILE, samples=PROFILE.samples[:1])
    found = PROFILE - earlier
    assert found == HeapDifference(before=earlier, after=PROFILE)
    assert (found.change_bytes, (earlier - PROFILE).change_bytes) == (558, -558)
    assert HeapDifference(before=None, after=PROFILE).change_bytes is None


@pytest.mark.parametrize("name", ["size_bytes", "count"])
def test_a_negative_amount_is_refused(name: str) -> None:
    replace(sample(1), **{name: 0})
    with pytest.raises(ValueError, match=f"^{name}: expected 0 or more, got -1$"):
        replace(sample(1), **{name: -1})


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        PROFILE.samples = ()  # type: ignore[misc]


def test_a_frame_says_where_it_is() -> None:
    assert FRAME.location == "train.py:17"
    assert replace(FRAME, cell="cell 12").location == "cell 12:17"


def test_the_same_code_in_another_cell_is_the_same_call() -> None:
    here, there = replace(FRAME, cell="cell 3"), replace(FRAME, cell="cell 7")
    assert here == there
    assert hash(here) == hash(there)


def test_a_change_has_a_sign() -> None:
    change = HeapChange(
        stack=(FRAME,),
        kind="buffer",
        device=None,
        before_bytes=10,
        after_bytes=4,
        before_count=1,
        after_count=3,
    )
    assert (change.change_bytes, change.change_count) == (-6, 2)


def test_a_node_is_called_as_its_function_and_the_root_all() -> None:
    leaf = FlameNode(frame=FRAME, self_bytes=1, total_bytes=1, children=())
    assert leaf.name == "step"
    assert FlameNode(frame=None, self_bytes=0, total_bytes=1, children=(leaf,)).name == "all"
