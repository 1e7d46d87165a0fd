"""What a run has changed of the objects that it can reach."""

from __future__ import annotations

import abc
import contextvars
import functools
import gc
import itertools
import sys
import threading
import types
import weakref
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.changes import Changed, Snapshot, is_mutable, reach
from jaxmagic.memory_use.capture.imported import is_users_module


class Model:
    def __init__(self) -> None:
        self.w = jnp.ones(3)
        self.layers = [{"b": jnp.zeros(2)}]
        self.steps = 0

    @functools.cached_property
    def large(self) -> Any:
        return jnp.ones(5)


def change_items(held: Any) -> None:
    held["model"].layers[0]["b"] = jnp.ones(2)


def count_up(held: Any) -> None:
    held["model"].steps += 1


def take_next(held: Any) -> None:
    next(held["numbers"])


def take_from_generator(held: Any) -> None:
    next(held["generator"])


def count(held: Any) -> None:
    next(held["counter"])


def take_pair(held: Any) -> None:
    next(held["pairs"])


def fill(held: Any) -> None:
    held["queue"].append(1)


def add_key(held: Any) -> None:
    held["metrics"]["loss"] = 3.0


def drop(held: Any) -> None:
    held["metrics"].clear()


def set_variable(held: Any) -> None:
    held["variable"].set(held["variable"].get() + 1)


def set_for_thread(held: Any) -> None:
    held["of_thread"].count += 1


def fill_inside(held: Any) -> None:
    held["objects"][1].append(2)


def of_thread() -> threading.local:
    made = threading.local()
    made.count = 0
    return made


def made() -> dict[str, Any]:
    return {
        "variable": contextvars.ContextVar("variable", default=0),
        "of_thread": of_thread(),
        "objects": np.array([None, [1]], dtype=object),
        "model": Model(),
        "numbers": iter([1, 2, 3]),
        "generator": (each for each in range(3)),
        "counter": itertools.count(),
        "pairs": zip(iter("abc"), iter("abc"), strict=True),
        "queue": deque([0], maxlen=3),
        "metrics": {"accuracy": 0.5},
    }


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (change_items, "model.layers[0]"),
        (count_up, "model"),
        (take_next, "numbers"),
        (take_from_generator, "generator"),
        (count, "counter"),
        (take_pair, "pairs"),
        (fill, "queue"),
        (add_key, "metrics"),
        (drop, "metrics"),
        (set_variable, "variable"),
        (set_for_thread, "of_thread"),
        (fill_inside, "objects[1]"),
    ],
)
def test_a_change_is_found_by_its_path(change: Callable[[Any], None], path: str) -> None:
    held = made()
    before = Snapshot(held)
    assert before.changed() == []
    change(held)
    assert before.changed() == [path]


def test_work_that_changes_nothing_is_no_change() -> None:
    held = made()
    f = jax.jit(lambda w: w + 1)
    before = Snapshot({**held, "f": f, "x": np.ones(3)})
    f(held["model"].w)
    held["model"].large  # noqa: B018 - computed on first access, and kept
    assert before.changed() == []


COUNTS = {"calls": 0}


def counting() -> None:
    COUNTS["calls"] += 1


class Late:
    __module__ = "a_session_of_a_user"


late = Late()


def count_late() -> None:
    late.count = getattr(late, "count", 0) + 1


def list_late() -> None:
    late.seen = [*getattr(late, "seen", []), 1]


def remember_late() -> None:
    late.memo = getattr(late, "memo", {})


@pytest.mark.parametrize(("function", "paths"), [(count_late, ["late"]), (list_late, ["late"]), (remember_late, [])])
def test_an_attribute_that_the_run_has_made_may_count(function: Callable[[], None], paths: list[str]) -> None:
    vars(late).clear()
    before = Snapshot({"function": function})
    function()
    assert before.changed() == paths


@pytest.mark.parametrize(("name", "paths"), [("_pytree__state", []), ("_object__state", []), ("state", ["model"])])
def test_what_nnx_notes_about_a_trace_is_no_change(name: str, paths: list[str]) -> None:
    model = Model()
    setattr(model, name, Model())
    snapshot = Snapshot({"model": model})
    setattr(model, name, Model())
    assert snapshot.changed() == paths


def test_what_a_function_reads_is_no_variable_of_the_code() -> None:
    before = Snapshot({"counting": counting, "numbers": (numbers := [1])})
    counting()
    numbers.append(2)
    assert before.changes() == [Changed("numbers"), Changed("COUNTS", by_function=True)]


def test_globals_that_a_function_reads_are_looked_at() -> None:
    before = Snapshot({"counting": counting})
    counting()
    assert before.changed() == ["COUNTS"]


@pytest.mark.parametrize("name", [None, "gone", "__main__"])
def test_other_globals_than_a_function_reads_are_not(name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither those of a module, nor of a script that has run: all of Python is among them."""
    monkeypatch.setattr(
        "jaxmagic.memory_use.capture.references.object_graph.is_users_module", is_users_module
    )  # not a test's
    module = types.ModuleType("a_module_of_a_user")
    exec("read, other = [1], [2]\ndef f(): return read", module.__dict__)
    if name is None:
        monkeypatch.setitem(sys.modules, module.__name__, module)
    else:
        module.__name__ = name
    before = Snapshot({"f": module.f})
    module.other.append(3)
    monkeypatch.setitem(module.__dict__["__builtins__"], "a_name_of_ours", object())
    assert before.changed() == []
    module.read.append(3)
    assert before.changed() == ["read"]


def test_closures_are_looked_at() -> None:
    seen: list[int] = []
    before = Snapshot({"f": lambda: seen.append(1)})
    seen.append(1)
    assert before.changed() == ["f (closure: seen)"]


def test_a_snapshot_keeps_no_array() -> None:
    held = {"arrays": [jnp.ones(3), np.ones(3)]}
    references = [weakref.ref(each) for each in held["arrays"]]
    before = Snapshot(held)
    held["arrays"].clear()
    assert [each() for each in references] == [None, None]
    assert before.changed() == ["arrays"]


class Slotted:
    __slots__ = ("w",)

    def __init__(self, w: Any) -> None:
        self.w = w


@pytest.mark.parametrize(
    "around",
    [
        lambda w: {"w": w},
        lambda w: [{"w": w}],
        lambda w: ({"w": [w]}, 1),
        lambda w: types.SimpleNamespace(w=w),
        lambda w: {"layers": [types.SimpleNamespace(w={"w": w})]},
        Slotted,
        lambda w: defaultdict(list, w=w),
    ],
)
def test_a_snapshot_keeps_nothing_that_holds_an_array(around: Callable[[Any], Any]) -> None:
    """What a run replaces would have twice the memory otherwise."""
    w = jnp.ones(3)
    net, array = types.SimpleNamespace(params=around(w), count=[0]), weakref.ref(w)
    del w
    before = Snapshot({"net": net})
    assert before.changed() == []
    net.params = around(jnp.zeros(3))
    gc.collect()
    assert array() is None
    assert before.changed() == ["net"]
    net.count.append(1)
    assert before.changed() == ["net", "net.count"]


def test_a_container_in_the_place_of_one_that_is_gone_is_another_one() -> None:
    """It may have got the same address: its parts are compared."""
    net = types.SimpleNamespace(layers=[{"n": 1}])
    before = Snapshot({"net": net})
    for number in range(100):
        net.layers = [{"n": number}]
        assert bool(before.changed()) == (number != 1)


def test_hostile_objects_are_not_asked() -> None:
    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None  # type: ignore[assignment]

        @property
        def value(self) -> Any:
            raise AssertionError

    held = {"it": Hostile(), "within": [Hostile()]}
    before = Snapshot(held)
    assert before.changed() == []
    held["within"].append(1)
    assert before.changed() == ["within"]


def test_a_cycle_ends() -> None:
    held: dict[str, Any] = {}
    held["self"] = held
    assert [each.path for each in reach({"held": held})] == ["held"]


def test_a_library_s_function_leads_nowhere() -> None:
    assert [each.path for each in reach({"map": jax.tree_util.tree_map})] == ["map"]


def test_a_weak_reference_refers_to_the_same_for_ever() -> None:
    assert not is_mutable(weakref.ref(test_a_weak_reference_refers_to_the_same_for_ever))
    assert is_mutable([])


class WithMethod:
    """An object whose method reads a variable of this module."""

    def __init__(self) -> None:
        self.held = [[]]

    def read(self) -> Any:
        return VARIABLE


VARIABLE = {"of": "this module"}


def test_what_an_object_holds_is_not_what_its_methods_read() -> None:
    held = WithMethod()
    functions = [held.read, functools.partial(held.read)]
    assert any(each.value is VARIABLE for each in reach({"held": held, "functions": functions}))
    found = list(reach({"held": held, "functions": functions}, code=False))
    assert not any(each.value is VARIABLE for each in found)
    assert "held.held[0]" in [each.path for each in found]


class Layer(abc.ABC):
    @abc.abstractmethod
    def size(self) -> int: ...


class Dense(Layer):
    def size(self) -> int:
        return 1


def test_what_an_abstract_class_notes_of_isinstance_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jaxmagic.memory_use.capture.references.object_graph.is_users_module", is_users_module)
    snapshot = Snapshot({"net": Dense()})
    assert not isinstance(object(), Dense)
    assert snapshot.changed() == []
