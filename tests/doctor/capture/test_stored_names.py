"""What the functions that code reaches bind anew: globals, closure variables, and attributes."""

from __future__ import annotations

import importlib
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.changes import Snapshot

params: Any
counted: int
steps = 0
settings = types.ModuleType("settings")
settings.inner = types.ModuleType("inner")  # type: ignore[attr-defined]
imported_inside = types.ModuleType("imported_inside")


class Count:
    __module__ = "a_session_of_a_user"  # the modules of tests are not searched
    total = 0

    @classmethod
    def add(cls) -> None:
        cls.total += 1


def train() -> None:
    global params
    params = {"w": params["w"] + 1}


def train_within() -> None:
    def inner() -> None:
        train()

    inner()


def forget() -> None:
    global params
    del params


def clear() -> None:
    global params
    params = None


def count_in_function() -> None:
    count_in_function.calls += 1  # type: ignore[attr-defined]


def count_in_class() -> None:
    Count.add()


def count_in_module() -> None:
    settings.steps += 1


def count_in_inner_module() -> None:
    settings.inner.steps += 1


def count_in_imported_module() -> None:
    import imported_inside

    imported_inside.steps += 1


def count_in_found_module() -> None:
    importlib.import_module("imported_inside").steps += 1


def count_in_modules_of_a_list() -> None:
    for words in (("imported", "inside"),):
        importlib.import_module("_".join(words)).steps += 1


def count_in_globals() -> None:
    globals()["steps"] += 1


def count_in_own_module() -> None:
    sys.modules[__name__].steps += 1  # type: ignore[attr-defined]


def count_anew() -> None:
    global counted
    try:
        counted += 1
    except NameError:
        counted = 1


def read_only() -> Any:
    return params["w"], settings.steps, Count.total


@pytest.fixture(autouse=True)
def _values(monkeypatch: pytest.MonkeyPatch) -> Any:
    global params, steps
    globals().pop("counted", None)
    monkeypatch.setitem(sys.modules, "imported_inside", imported_inside)
    imported_inside.steps = settings.inner.steps = steps = 0  # type: ignore[attr-defined]
    params, Count.total, settings.steps, count_in_function.calls = {"w": np.ones(3)}, 0, 0, 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("function", "path"),
    [
        (train, "params"),
        (train_within, "params"),
        (forget, "params"),
        (clear, "params"),
        (count_in_function, "function.calls"),
        (count_in_class, "Count.total"),
        (count_in_module, "settings.steps"),
        (count_in_inner_module, "settings.inner.steps"),
        (count_in_imported_module, "imported_inside.steps"),
        (count_in_found_module, "imported_inside.steps"),
        (count_in_modules_of_a_list, "imported_inside.steps"),
        (count_in_globals, "steps"),
        (count_in_own_module, "steps"),
        (count_anew, "counted"),
    ],
)
def test_a_name_that_a_function_assigns_is_named(function: Callable[[], None], path: str) -> None:
    before = Snapshot({"function": function})
    assert before.changed() == []
    function()
    assert before.changed() == [path]


def test_a_closure_variable_that_a_function_assigns_is_named() -> None:
    def counter() -> Callable[[], None]:
        n = 0

        def count() -> None:
            nonlocal n
            n += 1

        return count

    count = counter()
    before = Snapshot({"count": count})
    count()
    assert before.changed() == ["count (closure: n)"]


def test_names_that_are_only_read_are_no_change() -> None:
    before = Snapshot({"function": read_only})
    read_only()
    assert before.changed() == []


def test_a_name_assigned_the_same_object_is_no_change() -> None:
    global params
    before = Snapshot({"function": train})
    params = same = params
    assert same is params
    assert before.changed() == []


def test_a_name_that_was_not_bound_before_is_no_change() -> None:
    global params
    del params
    before = Snapshot({"function": train})
    params = {"w": np.ones(3)}  # noqa: F841 - a global
    assert before.changed() == []


@pytest.mark.parametrize("large", [jnp.ones(3), np.ones(3)], ids=["jax", "numpy"])
def test_a_name_s_array_is_not_kept_and_none_in_its_place_is_a_change(large: Any) -> None:
    global params
    params = large * 2
    reference = weakref.ref(params)
    before = Snapshot({"function": train})
    params = None
    assert reference() is None
    assert before.changed() == ["params"]


def test_a_tuple_is_compared_by_its_parts_and_not_kept() -> None:
    global params
    params = (jnp.ones(3), (np.ones(3), 1))
    before, arrays = Snapshot({"function": train}), [weakref.ref(params[0]), weakref.ref(params[1][0])]
    params = (params[0], (params[1][0], 1))
    assert before.changed() == []
    params = (params[0], (params[1][0], 2))
    assert before.changed() == ["params"]
    params = (jnp.ones(3), (np.ones(3), 1))
    assert [array() for array in arrays] == [None, None]
    assert before.changed() == ["params"]
