"""Objects are read without running the code of their classes; each hook of the hostile object records that it ran."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.compilation.capture.call_arguments import describe, static_words
from jaxmagic.compilation.capture.contents import contents, contents_of
from jaxmagic.compilation.capture.function_identity import code_of, defined_at, innermost, name_of, source_id
from jaxmagic.memory_use.capture.holders import find_holders
from jaxmagic.records.attribute_names import step_to
from jaxmagic.runtime import around
from jaxmagic.runtime.around import is_exactly, is_of_function, variables_of
from jaxmagic.timing.capture.result_arrays import Search, find_arrays, is_array
from jaxmagic.timing.capture.wait import waiter_for

#: The hooks that ran.
ran: list[str] = []


def _hook(name: str) -> Any:
    def hook(*_: Any, **__: Any) -> Any:
        ran.append(name)
        raise SystemExit(name)

    return hook


#: The methods that Python itself calls on an object, and those that libraries call.
_ASKED = (
    *("__getattr__", "__getattribute__", "__eq__", "__ne__", "__hash__", "__repr__", "__str__", "__format__"),
    *("__bool__", "__len__", "__iter__", "__getitem__", "__contains__", "__dir__", "__sizeof__", "__index__"),
    *("__float__", "__int__", "__array__", "__jax_array__", "__reduce_ex__", "__enter__", "__lt__", "__reversed__"),
)
_PROPERTIES = (
    *("__class__", "__dict__", "__wrapped__", "__name__", "__module__", "__self__", "__func__"),
    *("__code__", "func", "args", "keywords", "nbytes", "dtype", "sharding", "is_ready", "is_deleted"),
)


_META = (*_ASKED, "__instancecheck__", "__subclasscheck__", "__call__")
HostileMeta = type("HostileMeta", (type,), {name: _hook(f"type.{name}") for name in _META})


def hostile(*bases: type, held: Any = None, call: bool = False) -> Any:
    """Make an object whose class and metaclass have a hook for everything; its attribute ``held`` is reachable."""
    members = {name: _hook(name) for name in _ASKED} | {name: property(_hook(name)) for name in _PROPERTIES}
    if bases:  # a container has its own place for what it holds
        del members["__dict__"]
    if call:
        members["__call__"] = lambda self, x: x
    kind = type.__new__(HostileMeta, "Hostile", bases or (_Holder,), members)
    made = object.__new__(kind) if not bases else bases[0].__new__(kind)
    if not bases:
        _Holder.held.__set__(made, held)
    return made


class _Holder:
    __slots__ = ("__weakref__", "held")
    held: Any


@pytest.fixture(autouse=True)
def nothing_runs() -> Iterator[None]:
    ran.clear()
    yield
    assert ran == []


def test_the_object_is_hostile() -> None:
    for ask in (repr, bool, len, vars, hash, lambda each: each == 1, lambda each: isinstance(each, str)):
        with pytest.raises(SystemExit):
            ask(hostile())
    with pytest.raises(SystemExit):
        type(hostile()).__mro__  # noqa: B018
    assert len(ran) >= 8
    ran.clear()


def test_its_array_is_found_all_the_same() -> None:
    x = jnp.ones(3)
    assert [each is x for each in find_arrays(hostile(held=x)).arrays] == [True]
    found = find_holders([x], {"model": hostile(held=x)}, limit_s=60, everywhere=False)
    assert found.names[id(x)][0] == "model.held"


def _partial(made: Any) -> Any:
    members = {name: property(_hook(name)) for name in ("func", "args", "keywords")}
    kind = type("Partial", (functools.partial,), members)
    return kind(lambda x: x, made)


#: The functions that inspect the user's objects unasked.
SEARCHES: dict[str, Callable[[Any], object]] = {
    "is_array": is_array,
    "find_arrays": find_arrays,
    "Search": lambda made: Search([made, (made,), {"a": made}]).look(),
    "waiter_for": waiter_for,  # beside arrays it is JAX that flattens
    "find_holders": lambda made: find_holders([jnp.ones(3)], {"made": made}, limit_s=60, everywhere=False),
    "name_of": name_of,
    "name of its class": lambda made: name_of(type(made)),
    "defined_at": defined_at,
    "innermost": innermost,
    "code_of": code_of,
    "source_id": source_id,
    "source_id of a method": lambda made: source_id(Step(made).run),
    "source_id of a closure": lambda made: source_id(lambda: made),
    "source_id of a default": lambda made: source_id(lambda x=made: x),
    "source_id of a partial": lambda made: source_id(_partial(made)),
    "static_words": lambda made: static_words({"a": made, "b": (made, [made]), "c": type(made)}),
    "static argument": lambda made: describe(lambda a: a, (made,), {}, ("a",)),
    "contents": lambda made: contents(lambda x=made: made),
    "contents of a partial": lambda made: contents(_partial(made)),
    "contents of an object": lambda made: contents_of({"a": [made], "b": Step(made), "c": type(made)}, "made"),
    "step_to": lambda made: step_to("_w", made, {"_w": made}, mapping=True, sequence=True),
    "attribute": lambda made: around.attribute(made, "nothing"),
}


class Step:
    def __init__(self, made: Any) -> None:
        self.made = made

    def run(self) -> None: ...


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize(
    "make",
    [hostile, lambda: hostile(call=True), lambda: hostile(list), lambda: hostile(dict), lambda: hostile(tuple)],
    ids=["plain", "callable", "list", "dict", "tuple"],
)
def test_a_search_runs_no_code_of_an_object(search: Callable[[Any], object], make: Callable[[], Any]) -> None:
    search(make())


@pytest.mark.parametrize("make", [hostile, lambda: [hostile(), jnp.ones(3)]], ids=["alone", "in a list"])
def test_a_measurement_runs_no_code_of_its_result(make: Callable[[], Any]) -> None:
    with jaxmagic.stopwatch() as watch:
        watch.result = make()
    assert watch.done


def test_the_call_of_a_jitted_function_beside_it_is_told() -> None:
    """Explaining a compilation inspects the closure of the function."""
    made = hostile()

    @jax.jit
    def f(x: Any) -> Any:
        return x + (1 if made is not None else 2)

    with jaxmagic.stopwatch() as watch:
        watch.result = f(jnp.ones(3))
    assert any(each.function == "f" for each in watch.timing.compilations)


def test_what_is_said_of_an_object_is_true() -> None:
    class Base:
        x = 1

    class Derived(Base):
        def __init__(self) -> None:
            self.y = 2

    made = Derived()
    assert around.attributes(made) == {"y": 2}
    assert [around.attribute(made, name) for name in ("x", "y", "z")] == [1, 2, None]
    assert around.is_a(made, Base)
    assert not around.is_exactly(made, Base)
    assert around.inherits(Derived, Base)
    assert not around.inherits(Base, Derived)
    assert around.member(type(made), "y") is None


def test_variables_of_a_running_function_are_read_and_not_kept() -> None:
    def run() -> None:
        held = Held()
        seen.append(variables_of(sys._getframe())["held"] is held)
        gone.append(weakref.ref(held))
        del held
        seen.append(gone[0]() is None)

    seen: list[bool] = []
    gone: list[Any] = []
    run()
    assert seen == [True, True]


def test_variables_that_somebody_has_stay_there() -> None:
    def run() -> dict[str, Any]:
        held = Held()
        mine = locals()
        return mine if variables_of(sys._getframe())["held"] is held else {}

    assert is_exactly(run()["held"], Held)


def test_variables_of_a_module_are_its_names() -> None:
    frames: list[Any] = []
    names = {"frames": frames, "sys": sys}
    exec("frames.append(sys._getframe())", names)
    assert not is_of_function(frames[0])
    assert variables_of(frames[0])["frames"] is frames
    assert names["sys"] is sys


class Held:
    """Something that a variable holds."""
