"""Arrays that grow from record to record are suspects, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxmagic.memory_use.analysis.leaks import general, suspects
from jaxmagic.memory_use.record.memory_profile import Suspect


def looks(live_arrays: Any, *series: dict[str, int]) -> list[Any]:
    """Live arrays for each dictionary of names and bytes."""
    return [live_arrays(*((size, (name,) if name else ()) for name, size in held.items())) for held in series]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.integers(1, 5), min_size=3, max_size=8))
def test_what_grew_in_each_of_the_last_three_looks_is_suspected_and_nothing_else(
    live_arrays: Any, lengths: list[int]
) -> None:
    """Each record has a list of this many arrays of 8 bytes."""
    seen = looks(live_arrays, *({f"losses[{n}]": 8 for n in range(length)} for length in lengths))
    first, second, third = lengths[-3:]
    found = suspects(seen)
    if first < second < third:
        assert found == (Suspect(path="losses[*]", bytes_seen=(8 * first, 8 * second, 8 * third), arrays=third),)
    else:
        assert found == ()


def test_two_looks_are_too_few(live_arrays: Any) -> None:
    assert suspects(looks(live_arrays, {"x": 4}, {"x": 8})) == ()
    assert suspects([]) == ()


@pytest.mark.parametrize(
    "series",
    [
        [{"x": 12}, {"x": 8}, {"x": 4}],
        [{"x": 8}, {"x": 8}, {"x": 8}],
        [{"x": 4}, {"x": 12}, {"x": 8}],
        [{}, {"x": 4}, {"x": 8}],
        [{"x": 4}, {}, {"x": 8}],
        [{"x": 4}, {"x": 8}, {}],
        [{"": 4}, {"": 8}, {"": 12}],
        [{"(the value)": 4}, {"(the value)": 8}, {"(the value)": 12}],
        [{"(the value)[0]": 4}, {"(the value)[0]": 8}, {"(the value)[0]": 12}],
    ],
    ids=["shrinks", "stays", "shrank last", "is new", "was away", "is gone", "has no name", "a value", "in a value"],
)
def test_what_does_not_grow_under_a_name_is_not_suspected(live_arrays: Any, series: list[dict[str, int]]) -> None:
    assert suspects(looks(live_arrays, *series)) == ()


def test_only_the_last_looks_count(live_arrays: Any) -> None:
    assert len(suspects(looks(live_arrays, {"x": 99}, {"x": 4}, {"x": 8}, {"x": 12}))) == 1


def test_the_largest_growth_comes_first(live_arrays: Any) -> None:
    found = suspects(looks(live_arrays, *({"a[0]": n, "b.w": 10 * n, "c": 99 - n} for n in (1, 2, 3))))
    assert [each.path for each in found] == ["b.w", "a[*]"]


def test_arrays_that_share_memory_do_not_grow(live_arrays: Any) -> None:
    def look(views: int) -> Any:
        (one,) = live_arrays((8, ("views[0]",))).arrays
        shared = replace(one, shared_bytes=one.device_bytes, names=("views[1]",))
        return live_arrays(one, *[shared] * views)

    assert suspects([look(1), look(2), look(3)]) == ()


def test_values_of_cells_are_one_path_however_they_are_called(live_arrays: Any) -> None:
    """The newest value is called ``_``, which is another one in each record."""

    def series(size: int) -> list[dict[str, int]]:
        return [{"Out[1]": size}, {"_": size, "Out[2]": size}, {"_": size, "__.w": size, "_2": size, "Out[3]": size}]

    (found,) = suspects(looks(live_arrays, *series(512)))
    assert found == Suspect(path="Out[*]", bytes_seen=(512, 1024, 1536), arrays=3)
    assert suspects(looks(live_arrays, *series(4))) == ()  # a few numbers that were displayed


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("x", "x"),
        ("_model[0]", "_model[*]"),
        ("_i", "_i"),
        ("___['a']", "Out[*][*]"),
        ("_12.w", "Out[*].w"),
        ("a[(0, 1)].b['c']", "a[*].b[*]"),
    ],
)
def test_a_path_is_general_but_for_its_names(name: str, path: str) -> None:
    assert general(name) == path
