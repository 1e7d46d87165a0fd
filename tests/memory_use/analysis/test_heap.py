"""Stacks, changes and the tree add up, and the user's calls are told apart from JAX's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.memory_use.analysis import heap
from jaxmagic.memory_use.analysis.heap import by_stack, flame, stacks, without_internals
from jaxmagic.memory_use.record.heap import FlameNode, HeapChange, HeapDifference, HeapProfile, HeapSample
from jaxmagic.records.call_stack import Frame, Stack, is_users, owner

MAIN = Frame(function="<module>", file="/home/me/train.py", line=30)
STEP = Frame(function="step", file="/home/me/train.py", line=17)
FULL = Frame(function="full", file="/usr/lib/python3/dist-packages/jax/_src/lax/lax.py", line=3625)
CALL = Frame(function="__call__", file="/opt/lib/python3.11/site-packages/jax/_src/interpreters/pxla.py", line=395)

samples = st.builds(
    HeapSample,
    size_bytes=st.integers(0, 5),
    count=st.integers(0, 3),
    kind=st.sampled_from(["buffer", "executable"]),
    device=st.sampled_from(["cpu:0", "cpu:1", None]),
    stack=st.lists(st.sampled_from([MAIN, STEP, FULL, CALL]), max_size=4).map(tuple),
)
profiles = st.builds(HeapProfile, samples=st.lists(samples, max_size=12).map(tuple), started_at=st.none())


def profile(*parts: tuple[Stack, int], kind: str = "buffer", device: str | None = "cpu:0") -> HeapProfile:
    made = (HeapSample(size_bytes=size, count=1, kind=kind, device=device, stack=stack) for stack, size in parts)
    return HeapProfile(samples=tuple(made), started_at=None)


def difference(before: HeapProfile, after: HeapProfile) -> tuple[HeapChange, ...]:
    """Rows of what changed."""
    return tuple(each for each in heap.changes(before, after) if each.change_bytes or each.change_count)


@pytest.mark.parametrize(
    "file",
    [
        "/home/me/train.py",
        "train.py",
        "/tmp/ipykernel_12/345.py",
        "<ipython-input-3-abc>",
        "<string>",
        r"C:\Users\me\train.py",
        "/home/me/jax/train.py",
        "/home/me/jaxmagic/notebooks/train.py",
        "/home/me/site-packages.py",
        __file__,
    ],
)
def test_code_of_the_user_is_the_users(file: str) -> None:
    assert is_users(Frame(function="f", file=file, line=1))


@pytest.mark.parametrize(
    "file",
    [
        "/opt/lib/python3.11/site-packages/jax/_src/api.py",
        "/usr/lib/python3/dist-packages/flax/linen/module.py",
        r"C:\Python\Lib\site-packages\jax\_src\api.py",
        "/home/me/src/jax/jax/_src/api.py",
        "/build/jaxlib/xla_client.py",
        "/usr/lib/python3.12/threading.py",
        "/usr/lib64/python3.13t/functools.py",
        "<frozen runpy>",
        json.__file__,
        str(Path(by_stack.__code__.co_filename).parents[2] / "timing" / "capture" / "fence.py"),
    ],
)
def test_code_of_jax_python_and_jaxmagic_is_not_the_users(file: str) -> None:
    assert not is_users(Frame(function="f", file=file, line=1))


def test_the_owner_is_the_innermost_call_of_the_user() -> None:
    assert owner((MAIN, STEP, FULL, CALL)) == STEP
    assert owner((MAIN, FULL, STEP)) == STEP
    assert owner((CALL, MAIN, FULL)) == MAIN


def test_a_stack_without_calls_of_the_user_has_no_owner() -> None:
    assert owner((FULL, CALL)) is None
    assert owner(()) is None


def test_one_line_is_one_stack_without_internals() -> None:
    both = profile(((MAIN, STEP, CALL), 10), ((MAIN, STEP, FULL, CALL), 20), ((FULL, CALL), 1), ((), 2))
    rows = {row.stack: row.size_bytes for row in by_stack(without_internals(both))}
    assert rows == {(MAIN, STEP): 30, (FULL, CALL): 1, (): 2}


@given(profiles)
def test_nothing_is_lost_without_internals(one: HeapProfile) -> None:
    short = without_internals(one)
    assert (short.total_bytes, short.by_device, short.by_kind) == (one.total_bytes, one.by_device, one.by_kind)
    for before, after in zip(one.samples, short.samples, strict=True):
        assert owner(after.stack) == owner(before.stack)
        assert all(map(is_users, after.stack)) or after.stack == before.stack


def test_stacks_come_with_the_largest_first_and_equal_ones_are_one_row() -> None:
    rows = by_stack(profile(((MAIN,), 5), ((STEP,), 7), ((MAIN,), 3)))
    assert [(row.stack, row.size_bytes, row.count) for row in rows] == [((MAIN,), 8, 2), ((STEP,), 7, 1)]


@given(profiles)
def test_the_rows_of_stacks_add_up(one: HeapProfile) -> None:
    rows = by_stack(one)
    assert sum(row.size_bytes for row in rows) == one.total_bytes
    assert sum(row.count for row in rows) == one.count
    assert {row.stack for row in rows} == {each.stack for each in one.samples}
    sizes = [row.size_bytes for row in rows]
    assert sizes == sorted(sizes, reverse=True)


@given(profiles)
def test_the_order_of_the_samples_means_nothing(one: HeapProfile) -> None:
    turned = HeapProfile(samples=one.samples[::-1], started_at=None)
    assert by_stack(turned) == by_stack(one)
    assert flame(turned) == flame(one)
    assert difference(one, turned) == ()


def test_a_change_is_told_by_stack_kind_and_device() -> None:
    before = profile(((MAIN,), 10), ((STEP,), 10))
    after = profile(((MAIN,), 15), ((STEP,), 4))
    here = {"stack": (MAIN,), "kind": "buffer", "device": "cpu:0", "before_count": 1, "after_count": 1}
    grown = HeapChange(**here, before_bytes=10, after_bytes=15)
    shrunk = HeapChange(**here | {"stack": (STEP,)}, before_bytes=10, after_bytes=4)
    assert difference(before, after) == (grown, shrunk)


@pytest.mark.parametrize("changed", [{"device": "cpu:1"}, {"device": None}, {"kind": "executable"}])
def test_what_moved_is_gone_here_and_new_there(changed: dict[str, str]) -> None:
    changes = difference(profile(((MAIN,), 10)), profile(((MAIN,), 10), **changed))
    assert [(each.before_bytes, each.after_bytes) for each in changes] == [(0, 10), (10, 0)]
    assert all(getattr(changes[0], name) == value for name, value in changed.items())


def test_another_allocation_without_bytes_is_a_change() -> None:
    (change,) = difference(profile(), profile(((MAIN,), 0), kind="executable", device=None))
    assert (change.change_bytes, change.change_count) == (0, 1)


@given(profiles)
def test_a_profile_does_not_differ_from_itself(one: HeapProfile) -> None:
    assert difference(one, one) == ()


@given(profiles, profiles)
def test_changes_add_up_and_are_undone_backwards(before: HeapProfile, after: HeapProfile) -> None:
    changes = difference(before, after)
    grown = [each.change_bytes for each in changes]
    assert sum(grown) == after.total_bytes - before.total_bytes
    assert sum(each.change_count for each in changes) == after.count - before.count
    assert grown == sorted(grown, reverse=True)
    assert all(each.change_bytes or each.change_count for each in changes)
    back = {(each.stack, each.kind, each.device): -each.change_bytes for each in difference(after, before)}
    assert back == {(each.stack, each.kind, each.device): each.change_bytes for each in changes}


@given(profiles, profiles)
def test_changes_have_all_of_both_profiles(before: HeapProfile, after: HeapProfile) -> None:
    rows = heap.changes(before, after)
    assert sum(each.before_bytes for each in rows) == before.total_bytes
    assert sum(each.after_bytes for each in rows) == after.total_bytes
    assert {(each.stack, each.kind, each.device) for each in rows} == {
        (each.stack, each.kind, each.device) for one in (before, after) for each in one.samples
    }


def test_stacks_that_changed_come_before_those_that_stayed() -> None:
    before = profile(((MAIN,), 100), ((STEP,), 40), ((FULL,), 3), ((MAIN, STEP), 5))
    after = profile(((MAIN,), 100), ((FULL,), 13), ((MAIN, STEP), 5), ((CALL,), 7))
    rows = stacks(after - before)
    assert [(row.stack, row.size_bytes, row.count, row.change_bytes) for row in rows] == [
        ((STEP,), 0, 0, -40),
        ((FULL,), 13, 1, 10),
        ((CALL,), 7, 1, 7),
        ((MAIN,), 100, 1, 0),
        ((MAIN, STEP), 5, 1, 0),
    ]


def test_without_an_earlier_profile_no_change_is_known() -> None:
    after = profile(((MAIN,), 1), ((STEP,), 4), ((CALL,), 0))
    rows = stacks(HeapDifference(before=None, after=after))
    assert [(row.stack, row.size_bytes, row.change_bytes) for row in rows] == [((STEP,), 4, None), ((MAIN,), 1, None)]


@given(profiles, profiles)
def test_the_changes_of_stacks_add_up(before: HeapProfile, after: HeapProfile) -> None:
    rows = stacks(after - before)
    assert sum(row.size_bytes for row in rows) == after.total_bytes
    assert sum(row.change_bytes or 0 for row in rows) == after.total_bytes - before.total_bytes
    assert all(row.size_bytes or row.change_bytes for row in rows)
    assert len({row.stack for row in rows}) == len(rows)


def nodes(root: FlameNode, path: Stack = ()) -> Iterator[tuple[Stack, FlameNode]]:
    yield path, root
    for child in root.children:
        assert child.frame is not None
        yield from nodes(child, (*path, child.frame))


@given(profiles)
def test_every_node_holds_what_begins_with_its_calls(one: HeapProfile) -> None:
    wanted: Counter[Stack] = Counter({(): 0})
    for each in one.samples:
        for depth in range(len(each.stack) + 1):
            wanted[each.stack[:depth]] += each.size_bytes
    found = list(nodes(flame(one)))
    assert len(dict(found)) == len(found)
    assert {path: node.total_bytes for path, node in found} == {
        path: size for path, size in wanted.items() if size or not path
    }


@given(profiles)
def test_a_node_is_itself_and_its_children_the_largest_first(one: HeapProfile) -> None:
    root = flame(one)
    assert root.total_bytes == one.total_bytes
    for _, node in nodes(root):
        sizes = [child.total_bytes for child in node.children]
        assert node.total_bytes == node.self_bytes + sum(sizes)
        assert sizes == sorted(sizes, reverse=True)


def test_one_function_at_two_lines_is_two_nodes() -> None:
    later = Frame(function="step", file=STEP.file, line=18)
    root = flame(profile(((MAIN, STEP), 1), ((MAIN, later), 2), ((MAIN,), 4)))
    (main,) = root.children
    assert (main.name, main.self_bytes, main.total_bytes) == ("<module>", 4, 7)
    assert [child.frame for child in main.children] == [later, STEP]


def test_a_stack_may_be_deeper_than_python_can_recurse() -> None:
    deep = tuple(Frame(function="f", file="f.py", line=line) for line in range(50_000))
    node, depth = flame(profile((deep, 3))), 0
    while node.children:
        (node,), depth = node.children, depth + 1
    assert (depth, node.self_bytes, node.frame) == (50_000, 3, deep[-1])


def called(size: int, inside: str | None, *stack: Frame) -> HeapSample:
    return HeapSample(size_bytes=size, count=1, kind="buffer", device="cpu:0", stack=stack, inside=inside)


def test_a_line_that_calls_several_library_functions_is_one_row_with_each_ones_bytes() -> None:
    one = HeapProfile(
        samples=(called(10, "flax.Dense", STEP), called(30, "flax.BatchNorm", STEP), called(5, None, STEP)),
        started_at=None,
    )
    (row,) = by_stack(one)
    assert (row.size_bytes, list(row.inside.items())) == (45, [("flax.BatchNorm", 30), ("flax.Dense", 10)])
    (change,) = heap.changes(profile(), one)
    assert change.inside == ("flax.BatchNorm", "flax.Dense")


def test_what_is_gone_still_names_the_library_function() -> None:
    before = HeapProfile(samples=(called(10, "flax.Dense", STEP),), started_at=None)
    (row,) = stacks(profile() - before)
    assert (row.size_bytes, row.change_bytes, row.inside) == (0, -10, {"flax.Dense": 10})


def test_a_profile_saved_without_library_functions_is_compared_by_line() -> None:
    after = HeapProfile(samples=(called(15, "flax.Dense", STEP),), started_at=None)
    (row,) = stacks(after - profile(((STEP,), 10)))
    assert (row.size_bytes, row.change_bytes, row.inside) == (15, 5, {"flax.Dense": 15})


def test_the_library_function_stays_when_its_calls_are_dropped() -> None:
    (row,) = by_stack(without_internals(HeapProfile(samples=(called(1, "flax.Dense", STEP, CALL),), started_at=None)))
    assert (row.stack, row.inside) == ((STEP,), {"flax.Dense": 1})
