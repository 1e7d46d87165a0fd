"""Buffers that share memory are cut until every byte belongs to one of them at every step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.memory_use.analysis.disjoint import disjoint
from jaxmagic.memory_use.record.memory_profile import Buffer

_STEPS, _BYTES = 8, 10


def buffer(first: int, last: int, offset: int = 0, size: int = 4, name: str = "") -> Buffer:
    return Buffer(
        offset_bytes=offset,
        size_bytes=size,
        first=first,
        last=last,
        instruction=name or f"from {first}",
        shape="f32[]",
        op_name="",
        source=None,
    )


def extents(*buffers: Buffer) -> list[tuple[str, int, int, int, int]]:
    """Name, first and last step, first byte, and the byte after the last one."""
    return [
        (each.instruction, each.first, each.last, each.offset_bytes, each.offset_bytes + each.size_bytes)
        for each in disjoint(buffers)
    ]


def test_what_shares_nothing_stays_the_object_it_is() -> None:
    beside, later, earlier = buffer(0, 3, offset=4), buffer(4, 5), buffer(0, 3)
    found = disjoint([beside, later, earlier])
    assert [id(each) for each in found] == [id(earlier), id(beside), id(later)]


def test_a_newer_value_takes_the_bytes_and_holds_them_as_long_as_either_is_needed() -> None:
    assert extents(buffer(0, 9), buffer(2, 4), buffer(6, 7)) == [
        ("from 0", 0, 1, 0, 4),
        ("from 2", 2, 5, 0, 4),
        ("from 6", 6, 9, 0, 4),
    ]


def test_of_two_that_are_made_at_one_step_the_one_that_is_needed_longer_stays() -> None:
    assert extents(buffer(1, 5, name="long"), buffer(1, 2, name="short")) == [("long", 1, 5, 0, 4)]


def test_what_is_taken_over_in_part_goes_on_beside_it() -> None:
    assert extents(buffer(0, 4, size=10), buffer(2, 3, offset=2, size=4)) == [
        ("from 0", 0, 4, 0, 2),
        ("from 0", 0, 1, 2, 6),
        ("from 0", 0, 4, 6, 10),
        ("from 2", 2, 4, 2, 6),
    ]


def test_a_value_over_several_older_ones_is_held_as_long_as_each_of_them() -> None:
    assert extents(buffer(0, 7, 0, 2, "a"), buffer(0, 1, 2, 2, "b"), buffer(0, 6, 5, 2, "c"), buffer(2, 3, 0, 8)) == [
        ("a", 0, 1, 0, 2),
        ("b", 0, 1, 2, 4),
        ("c", 0, 1, 5, 7),
        ("from 2", 2, 7, 0, 2),
        ("from 2", 2, 3, 2, 5),
        ("from 2", 2, 6, 5, 7),
        ("from 2", 2, 3, 7, 8),
    ]


def test_what_takes_no_bytes_is_kept() -> None:
    empty = buffer(2, 3, size=0)
    assert disjoint([buffer(0, 9), empty])[1] is empty


_EXTENTS = st.tuples(
    st.integers(0, _STEPS - 1), st.integers(0, _STEPS - 1), st.integers(0, _BYTES - 1), st.integers(0, _BYTES)
)


@given(st.lists(_EXTENTS, max_size=12))
def test_the_same_bytes_are_held_at_the_same_steps_each_by_one_buffer(drawn: list[tuple[int, int, int, int]]) -> None:
    given_ = [
        buffer(min(one, other), max(one, other), offset, min(size, _BYTES - offset))
        for one, other, offset, size in drawn
    ]
    held = [cell for each in disjoint(given_) for cell in cells(each)]
    assert len(held) == len(set(held))
    assert set(held) == {cell for each in given_ for cell in cells(each)}
    assert disjoint(disjoint(given_)) == disjoint(given_)


def cells(buffer: Buffer) -> list[tuple[int, int]]:
    """Each byte at each step."""
    return [
        (step, byte)
        for step in range(buffer.first, buffer.last + 1)
        for byte in range(buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes)
    ]
