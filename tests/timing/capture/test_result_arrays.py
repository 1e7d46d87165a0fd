"""Finding the arrays of a result without running any of the user's code."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.timing.capture import result_arrays as results
from jaxmagic.timing.capture.result_arrays import Search, find_arrays, host_copy


class Slotted:
    __slots__ = ("array", "unset")

    def __init__(self, array: Any) -> None:
        self.array = array


@dataclass
class Module:
    weights: Any
    more: dict[str, Any]


@jax.tree_util.register_pytree_node_class
class Registered:
    """A pytree whose flattening code fails."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def tree_flatten(self) -> Any:
        raise RuntimeError("do not flatten")

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> Any:
        return cls(*children)


class Evasive:
    """A plain object that does not want to be looked at."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def __dict__(self) -> Any:
        raise RuntimeError("do not look")


class LyingList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise RuntimeError("do not iterate")

    def __len__(self) -> int:
        raise RuntimeError("do not ask")

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError("do not look")


@pytest.mark.parametrize(
    "put",
    [
        lambda a: a,
        lambda a: (a, [a]),
        lambda a: {"w": {"x": a}},
        lambda a: Slotted(a),
        lambda a: Module(a, {}),
        lambda a: Module(None, {"deep": [Slotted(a)]}),
        lambda a: Registered(a),
        lambda a: LyingList([a]),
        lambda a: jax.tree_util.Partial(lambda b: b, a),
        lambda a: Evasive(a),
    ],
    ids=[
        "array",
        "tuple",
        "dict",
        "slots",
        "dataclass",
        "deep",
        "failing-pytree",
        "lying-list",
        "partial",
        "evasive",
    ],
)
def test_arrays_are_found_wherever_they_are_each_once(put: Any) -> None:
    array = jnp.ones(3)
    found = find_arrays(put(array))
    assert [id(each) for each in found.arrays] == [id(array)]
    assert found.notes == []


def test_typed_keys_are_arrays() -> None:
    key = jax.random.key(0)
    (found,) = find_arrays(key).arrays
    assert found is key


def test_the_search_is_bounded() -> None:
    found = find_arrays([[n] for n in range(100_000)])
    assert found.arrays == []


@pytest.mark.parametrize("plain", [None, 3, "text", jnp, len, Module, 3.5, b"x"])
def test_plain_things_hold_no_arrays(plain: Any) -> None:
    assert find_arrays(plain) == ([], [])


@pytest.mark.parametrize("make", [lambda a: lambda: a, lambda a: Module(len, {"f": lambda: a})])
def test_functions_are_not_searched(make: Any) -> None:
    """Behind a function's globals lies the whole session: the search would take longer than much work."""
    reached = []
    find = results._parts
    array = jnp.ones(3)

    def counted(node: Any) -> list[Any]:
        reached.append(node)
        return find(node)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "_parts", counted)
        assert find_arrays(make(array)).arrays == []
    assert len(reached) < 5


@pytest.mark.parametrize("put", [lambda array: array, lambda array: [array]], ids=["alone", "in a list"])
def test_deleted_arrays_are_left_out_and_said(put: Any) -> None:
    array = jnp.ones(3) + 1
    array.delete()
    found = find_arrays(put(array))
    assert found.arrays == []
    assert "deleted or donated" in str(found.notes[0])


@pytest.mark.parametrize("put", [lambda array: array, lambda array: [array]], ids=["alone", "in a list"])
def test_a_tracer_has_nothing_to_wait_for(put: Any) -> None:
    found = []

    def leaking(x: Any) -> Any:
        found.append(find_arrays(put(x)))
        return x.sum()

    jax.grad(leaking)(jnp.ones(3))  # its tracer holds the array
    jax.jit(leaking)(jnp.ones(3))
    assert found == [([], []), ([], [])]


def test_a_host_copy_counts_its_bytes() -> None:
    assert host_copy([jnp.ones((4, 4)), jnp.ones(2, jnp.int8)]) == 66


class Unhashable(type):
    """A metaclass as hostile as its classes."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("do not compare")

    __hash__ = None  # type: ignore[assignment]

    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError("do not ask")


def test_a_class_may_refuse_everything() -> None:
    made = Unhashable("Made", (), {})
    x = jnp.ones(3)
    assert find_arrays([type.__call__(made), x]).arrays == [x]


def test_a_property_that_bears_the_name_of_the_attributes_does_not_run() -> None:
    class Lazy:
        def __init__(self) -> None:
            object.__setattr__(self, "x", x)

        @property
        def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
            raise SystemExit

    class Base:
        pass

    class Derived(Base):
        __dict__ = Lazy.__dict__["__dict__"]

    x = jnp.ones(3)
    made = Derived()
    made.x = x  # type: ignore[attr-defined]
    assert find_arrays([Lazy(), made]).arrays == [x]


def test_a_large_dictionary_is_not_copied() -> None:
    class ObservedPrograms(dict[int, Any]):
        pass

    large = ObservedPrograms.fromkeys(range(10**6))
    tracemalloc.start()
    try:
        find_arrays(large)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_a_search_stops_and_goes_on() -> None:
    arrays = [jnp.ones(n) for n in range(1, 31)]
    search = Search({"parts": [{"w": array, "n": [1, 2]} for array in arrays], "same": arrays})
    found = [*search.look(5)]
    assert 0 < len(found) < 5
    assert not search.over
    while not search.over:
        found += search.look(7)
    assert sorted(each.size for each in found) == list(range(1, 31))
    assert search.arrays == found


def test_a_dictionary_that_changes_meanwhile_costs_no_array_beside_it() -> None:
    x, y = jnp.ones(3), jnp.ones(4)
    changing = {"a": y, "b": 1}
    search = Search([x, changing])
    search.look(3)
    changing["c"] = 2
    search.look()
    assert search.over
    assert any(each is x for each in search.arrays)
