"""The flame graph of memory: a call lies within its caller, and colours show changes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.charts.areas import Cell, Flame
from jaxmagic.charts.chart_of import chart_of
from jaxmagic.memory_use.charts.heap_flame import KINDS, heap_flame
from jaxmagic.memory_use.record.heap import HeapDifference, HeapProfile, HeapSample
from jaxmagic.records.call_stack import Frame, Stack

A, B, C = (Frame(function=name, file=f"/home/me/{name}.py", line=1) for name in "abc")


def profile(*held: tuple[Stack, int]) -> HeapProfile:
    made = (HeapSample(size_bytes=size, count=1, kind="buffer", device="cpu:0", stack=stack) for stack, size in held)
    return HeapProfile(samples=tuple(made), started_at=None)


def flame_of(after: HeapProfile, before: HeapProfile | None = None) -> Flame:
    found = heap_flame(HeapDifference(before=before, after=after))
    assert found is not None
    return found


def cells(found: Flame) -> dict[tuple[str, int], Cell]:
    return {(each.name, each.level): each for each in found.cells}


profiles = st.lists(
    st.tuples(st.lists(st.sampled_from([A, B, C]), max_size=4).map(tuple), st.integers(1, 50)), min_size=1, max_size=8
).map(lambda held: profile(*held))


def test_a_call_is_as_wide_as_what_it_holds_and_lies_below_the_one_that_made_it() -> None:
    found = flame_of(profile(((A,), 100), ((A, B), 300), ((C,), 50)))
    assert (found.x.quantity, found.x.low, found.x.high) == ("size", 0, 450)
    assert {key: each.x for key, each in cells(found).items()} == {
        ("all", 0): (0, 450),
        ("a", 1): (0, 400),
        ("b", 2): (0, 300),
        ("c", 1): (400, 450),
    }
    assert (found.levels, found.kinds, found.note) == (3, (), "")


def test_what_became_of_it_is_its_colour() -> None:
    before = profile(((A,), 100), ((B,), 30), ((B, C), 10), ((C,), 10))
    found = cells(flame_of(profile(((A,), 100), ((B,), 30), ((B, C), 5), ((C, B), 9), ((C,), 1)), before))
    told = {name: KINDS[each.kind] for name, each in found.items()}
    assert told == {
        ("all", 0): "less than before",
        ("a", 1): "unchanged",
        ("b", 1): "less than before",
        ("c", 2): "less than before",
        ("c", 1): "unchanged",
        ("b", 2): "more than before",
    }


def test_what_is_said_of_a_call() -> None:
    found = cells(flame_of(profile(((A,), 1024), ((A, B), 3072)), profile(((A,), 2048))))
    told = ("a  /home/me/a.py:1", "4.00 KiB, 100 % of all", "+2.00 KiB", "1.00 KiB self")
    assert found["a", 1].lines == told
    assert found["b", 2].lines == ("b  /home/me/b.py:1", "3.00 KiB, 75 % of all", "+3.00 KiB")
    assert found["all", 0].lines == ("all", "4.00 KiB, 100 % of all", "+2.00 KiB")
    assert (found["a", 1].place, found["all", 0].place) == ("a.py:1", "")
    alone = cells(flame_of(profile(((A,), 1024))))
    assert alone["a", 1].lines == ("a  /home/me/a.py:1", "1.00 KiB, 100 % of all")


@given(profiles, profiles)
def test_every_call_lies_within_another_and_beside_its_neighbours(after: HeapProfile, before: HeapProfile) -> None:
    found = flame_of(after, before)
    assert found.note == ""
    for level in range(1, found.levels):
        above = [each.x for each in found.cells if each.level == level - 1]
        row = sorted(each.x for each in found.cells if each.level == level)
        assert all(any(low <= left < right <= high for low, high in above) for left, right in row)
        assert all(one[1] <= other[0] for one, other in pairwise(row))


def test_what_is_too_deep_or_too_narrow_is_counted() -> None:
    deep = tuple(Frame(function="f", file="f.py", line=line) for line in range(50_000))
    found = flame_of(profile((deep, 10_000), ((A,), 1)))
    assert found.levels == 20
    assert found.note == f"{50_000 - 19 + 1} smaller or deeper calls not drawn"


def test_the_widest_of_many_calls_are_drawn_with_all_that_they_lie_in() -> None:
    stacks = [tuple(Frame(function="f", file="f.py", line=19 * n + m) for m in range(19)) for n in range(40)]
    found = flame_of(profile(*((stack, 1000 + n) for n, stack in enumerate(stacks))))
    assert len(found.cells) == 300
    drawn = {(each.level, each.x) for each in found.cells}
    assert all(level == 1 or (level - 1, x) in drawn for level, x in drawn if level)


@pytest.mark.parametrize("held", [(), (((A,), 0),)])
def test_where_nothing_is_held_there_is_no_graph(held: Any) -> None:
    nothing = HeapDifference(before=profile(((A,), 5)), after=profile(*held))
    assert heap_flame(nothing) is None
    with pytest.raises(ValueError, match="^there is nothing to draw: no memory is held$"):
        chart_of(nothing)


def test_the_chart_of_a_profile_is_that_of_a_difference_from_nothing() -> None:
    after = profile(((A,), 5))
    assert chart_of(after) == heap_flame(HeapDifference(before=None, after=after))
