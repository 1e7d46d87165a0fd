"""Static arguments are compared as their classes compare them: by value, by identity, or by class."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause


def compiled(call: Callable[[], Any]) -> list[Cause]:
    with jaxmagic.stopwatch() as watch:
        watch.result = call()
    return [each.cause for each in watch.timing.compilations if not each.eager]


def second(first: Any, then: Any) -> list[Cause]:
    """Return the causes why a call with a second static value compiled, if it did."""
    x = jnp.ones(3)
    # Whether it reads the attributes of the value is unknown. By keyword, JAX 0.8 leaves the class out.
    f = jax.jit(lambda x, value: (x + 1, value)[0], static_argnums=1)
    compiled(lambda: f(x, first))
    return compiled(lambda: f(x, then))


class Mode(enum.Enum):
    FAST = 1
    EXACT = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Name(enum.StrEnum):
    ONE = "one"
    TWO = "two"


@dataclasses.dataclass(frozen=True)
class Settings:
    layers: int
    mode: Mode = Mode.FAST
    note: str = dataclasses.field(default="", compare=False)


Pair = collections.namedtuple("Pair", "a b")


class Plain:
    def __init__(self, rate: Any) -> None:
        self.rate = rate

    def scaled(self, x: Any) -> Any:
        return x * self.rate


def scaled(rate: Any, x: Any) -> Any:
    return x * rate


class Own(Plain):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and self.rate == other.rate

    def __hash__(self) -> int:
        return hash(self.rate)


@pytest.mark.parametrize(
    ("first", "then", "before", "now"),
    [
        (Mode.FAST, Mode.EXACT, "Mode.FAST", "Mode.EXACT"),
        (Level.LOW, Level.HIGH, "Level.LOW", "Level.HIGH"),
        (Name.ONE, Name.TWO, "Name.ONE", "Name.TWO"),
        (Settings(1), Settings(2), "Settings(layers=1, mode=Mode.FAST)", "Settings(layers=2, mode=Mode.FAST)"),
        (Pair(1, 2), Pair(1, 3), "Pair(a=1, b=2)", "Pair(a=1, b=3)"),
        (np.dtype("f4"), np.dtype("i4"), "dtype('float32')", "dtype('int32')"),
        (np.float32, np.int32, "float32", "int32"),
        (jnp.float32, jnp.int32, "<class 'jax.numpy.float32'>", "<class 'jax.numpy.int32'>"),
        (frozenset({1}), frozenset({1, 2}), "frozenset({1})", "frozenset({1, 2})"),
        ((Mode.FAST, 1), (Mode.EXACT, 1), "(Mode.FAST, 1)", "(Mode.EXACT, 1)"),
    ],
)
def test_a_value_is_told_as_it_is_written(first: Any, then: Any, before: str, now: str) -> None:
    (found,) = second(first, then)
    assert (
        found.reason == f"static argument value has a different value: {now} now, {before} in an earlier measurement"
    )
    assert found.remedy is None or isinstance(first, (Settings, Pair))


def test_calls_of_one_block_are_all_seen_and_others_may_have_gone_unseen() -> None:
    x, scaled = jnp.ones(8), jax.jit(lambda x, n: x * n, static_argnums=1)
    with jaxmagic.stopwatch() as watch:
        for n in (3, 4):
            scaled(x, n)
    assert watch.timing.compilations[-1].cause.reason.endswith("4 now, 3 before")
    scaled(x, 5)  # which nobody saw
    with jaxmagic.stopwatch() as watch:
        scaled(x, 6)
    assert watch.timing.compilations[-1].cause.reason.endswith("6 now, 4 in an earlier measurement")


@pytest.mark.parametrize(
    "pair",
    [
        (Settings(1), Settings(1, note="other")),
        (Mode.FAST, Mode.FAST),
        (Own(1), Own(1)),
        (np.float32, np.float32),
        ((Pair(1, 2),), (Pair(1, 2),)),
    ],
)
def test_equal_values_are_one_program(pair: tuple[Any, Any]) -> None:
    assert second(*pair) == []


def test_nan_is_equal_to_no_other() -> None:
    (found,) = second(float("nan"), float("nan"))
    assert found.reason == "static argument value is nan, and nan does not equal nan"
    (found,) = second((1, float("nan")), (1, float("nan")))
    assert found.reason == "static argument value is (1, nan), and nan does not equal nan"
    assert found.remedy == "pass the same object in every call, such as math.nan"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: enum.Enum("Mode", "FAST").FAST, "Mode.FAST"),  # type: ignore[attr-defined]
        (lambda: enum.IntEnum("Level", "LOW").LOW, "Level.LOW"),  # type: ignore[attr-defined]
        (lambda: dataclasses.make_dataclass("Config", ["n"], frozen=True)(1), "Config(n=1)"),
        (lambda: collections.namedtuple("Two", "a b")(1, 2), "Two(a=1, b=2)"),
        (lambda: type("Layer", (), {}), "a class"),
    ],
)
def test_a_class_made_anew_is_another_one(make: Callable[[], Any], name: str) -> None:
    (found,) = second(make(), make())
    assert found.reason == f"static argument value is {name} of a different class with the same name"
    assert found.remedy == "define the class once, outside the code that runs again"


@pytest.mark.parametrize(
    ("first", "then", "reason", "remedy"),
    [
        (
            2,
            2,
            "with the same content: Plain compares by identity",
            "pass the same object again, or give its class __eq__",
        ),
        (
            2,
            3,
            "with a different value.rate: 3 now, 2 in an earlier measurement",
            "pass one object in every call, and pass value.rate as an a",
        ),
        ("a", "b", "with a different value.rate: 'b' now, 'a' in an earlier measurement", None),
        (
            len,
            [].append,
            "a different object: Plain compares by identity",
            "if they are equal, pass the same object",
        ),
    ],
)
def test_objects_that_compare_by_identity(first: Any, then: Any, reason: str, remedy: str | None) -> None:
    (found,) = second(Plain(first), Plain(then))
    assert reason in found.reason
    assert (found.remedy or "none").startswith(remedy or "none")


def test_a_class_with_its_own_equality_is_told_by_what_it_holds() -> None:
    (found,) = second(Own(1), Own(2))
    assert found.reason.endswith("have a different value: Own with a different value.rate: 2 now, 1 before") or (
        found.kind == "static value" and found.reason.endswith("Own with a different value.rate: 2 now, 1 before")
    )
    if found.kind == "static value":
        assert str(found.remedy).startswith(
            "pass value.rate as an argument of its own, or register Own as a pytree with rate as data "
            "(jax.tree_util.register_pytree_node_class) and do not declare value static"
        )


@pytest.mark.parametrize(
    ("first", "then", "field", "values", "remedy"),
    [
        (
            Settings(1),
            Settings(2),
            "value.layers",
            ("2", "1"),
            "with layers as data (jax.tree_util.register_dataclass)",
        ),
        (Pair(1, 2), Pair(1, 3), "value.b", ("3", "2"), "pass value.b as an argument, if no shape"),
        (
            Pair(Settings(1), 2),
            Pair(Settings(3), 2),
            "value.a.layers",
            ("3", "1"),
            "pass value.a.layers as an argument, ",
        ),
        (Pair(1, 2), Pair(2.0, 3), "value.a", ("2.0", "1"), "pass value.a, value.b as arrays of one dtype, if"),
    ],
)
def test_numbers_that_differ_inside_a_value_are_to_be_passed(
    first: Any, then: Any, field: str, values: tuple[str, str], remedy: str
) -> None:
    (found,) = second(first, then)
    assert (found.argument, (found.now, found.before)) == (field, values)
    assert remedy in str(found.remedy)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (Settings(1, note="a"), Settings(2, note="b", mode=Mode.EXACT)),
        (Pair(1, "a"), Pair(2, "b")),
        (Pair(1, 2), (1, 3)),
    ],
)
def test_values_that_differ_in_more_than_numbers_have_no_remedy(first: Any, then: Any) -> None:
    (found,) = second(first, then)
    assert found.remedy is None


class Layers:
    def __init__(self, rate: Any, tag: Any, scale: Any = 1.0) -> None:
        self.rate, self.tag, self.scale = rate, tag, scale

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x: Any) -> Any:
        return x * self.rate

    @functools.partial(jax.jit, static_argnums=0)
    def nothing(self, x: Any) -> Any:
        return x + 1

    @functools.partial(jax.jit, static_argnums=0)
    def by_a_method(self, x: Any) -> Any:
        return self.scaled(x) + 1

    def scaled(self, x: Any) -> Any:
        return x * self.rate

    @functools.partial(jax.jit, static_argnums=0)
    def anything(self, x: Any) -> Any:
        return x * vars(self)["rate"]


class Tagged(Layers):
    def __hash__(self) -> int:
        return hash(self.tag)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tagged) and self.tag == other.tag


ONLY_RATE = "pass one object in every call, and pass self.rate as an argument, if no shape, axis or Python if"


@pytest.mark.parametrize(
    ("method", "first", "then", "reason", "remedy"),
    [
        ("step", (2.0, 1), (3.0, 1), "with a different self.rate: 3.0 now, 2.0 in an earlier measurement", ONLY_RATE),
        ("step", (2.0, 1), (3.0, 2), "with a different self.rate: 3.0 now, 2.0 in an earlier measurement", ONLY_RATE),
        ("by_a_method", (2.0, 1), (3.0, 2), "with a different self.rate: 3.0 now, 2.0 in an earlier m", ONLY_RATE),
        ("step", (2.0, 1), (2.0, 2), "does not read what differs: self.tag", "pass the same object"),
        ("by_a_method", (2.0, 1), (2.0, 2), "does not read what differs: self.tag", "pass the same object again, or"),
        ("nothing", (2.0, 1), (3.0, 2), "does not read what differs: self.rate, self.tag", "pass the same object"),
        ("anything", (2.0, 1), (3.0, 2), "self.rate: 3.0 now", "pass one object in every call, and pass self.rate, "),
    ],
)  # fmt: skip
def test_advice_names_what_the_method_reads_of_an_object(
    method: str, first: Any, then: Any, reason: str, remedy: str
) -> None:
    jax.clear_caches()
    x = jnp.ones(3)
    compiled(lambda: getattr(Layers(*first), method)(x))
    (found,) = compiled(lambda: getattr(Layers(*then), method)(x))
    assert reason in found.reason
    assert found.remedy is not None
    assert found.remedy.startswith(remedy)


def test_a_class_that_compares_more_than_the_method_reads() -> None:
    x = jnp.ones(3)
    compiled(lambda: Tagged(2.0, "a").step(x))
    (found,) = compiled(lambda: Tagged(2.0, "b").step(x))
    if found.kind == "static value":  # else JAX gave no reason
        assert found.reason.endswith(
            "a different value: Tagged, and the function does not read what differs: self.tag"
        )
        assert str(found.remedy).startswith("let its __eq__ and __hash__ compare only what the jitted functions read")


@pytest.mark.parametrize("depth", [0, 1])
def test_a_container_of_a_class_made_anew(depth: int) -> None:
    def make() -> Any:
        pair = collections.namedtuple("Two", "a b")(one, one)
        return {"pair": pair} if depth else pair

    one = jnp.ones(3)
    f = jax.jit(lambda tree: jax.tree.leaves(tree)[0] + 1)
    compiled(lambda: f(make()))
    (found,) = compiled(lambda: f(make()))
    assert (found.kind, found.reason) == ("pytree", "argument tree is of a different class with the same name: Two")


@pytest.mark.parametrize(
    ("make", "reason", "remedy"),
    [
        (
            lambda rate: functools.partial(scaled, rate),
            "a re-created partial of the same function: scaled (",
            "make the partial once, outside, and pass the same object as value in every call",
        ),
        (
            lambda rate: Plain(rate).scaled,
            "a method of a re-created object: Plain.scaled (",
            "make the object once, outside, and pass its method as value in every call",
        ),
        (
            lambda _: jax.jit(scaled),
            "a re-created PjitFunction of the same function: scaled (",
            "make it once, outside, and pass the same object as value in every call",
        ),
    ],
)
def test_what_is_re_created_around_a_function_is_named(make: Callable[[Any], Any], reason: str, remedy: str) -> None:
    (found,) = second(make(2), make(2))
    assert found.reason.startswith(f"static argument value is {reason}test_causes_of_static_values.py:")
    assert found.reason.endswith(")")
    assert found.remedy == remedy


@pytest.mark.parametrize(
    ("make", "reason", "remedy"),
    [
        (
            lambda rate: functools.partial(scaled, rate),
            "with a different args[0]: 3 now, 2 in an earlier measurement",
            "pass its function instead of the partial, and pass args[0] as an argument of it and of the jitted",
        ),
        (
            lambda rate: Plain(rate).scaled,
            "with a different self.rate: 3 now, 2 in an earlier measurement",
            "make the object once, and pass self.rate as an argument of the method and of the jitted function",
        ),
    ],
)
def test_a_value_that_differs_in_it_is_to_be_an_argument(
    make: Callable[[Any], Any], reason: str, remedy: str
) -> None:
    (found,) = second(make(2), make(3))
    assert found.reason.endswith(reason)
    assert found.remedy is not None
    assert found.remedy.startswith(remedy)


@pytest.mark.parametrize("make", [lambda rate: functools.partial(scaled, rate), lambda rate: lambda x: x * rate])
def test_a_function_that_holds_several_values_is_not_to_be_made_once(make: Callable[[Any], Any]) -> None:
    """Each of them was passed before, in another object; with one object, one of the values would be used for all."""
    jitted = jax.jit(lambda x, value: x + 1, static_argnums=1)
    for _ in range(2):
        first, *others = compiled(lambda: [jitted(jnp.ones(3), make(rate)) for rate in (2.0, 3.0, 4.0)])
    assert "re-created" in first.reason
    assert [each.reason[-21:] for each in others] == [": 3.0 now, 2.0 before", ": 4.0 now, 3.0 before"]
    assert all(each.remedy and "as an argument" in each.remedy for each in others)


def test_a_jitted_function_that_closes_over_several_values_is_not_to_be_made_once() -> None:
    def make(rate: float) -> Any:
        return jax.jit(lambda x: x * rate)

    for _ in range(2):
        _, *others = compiled(lambda: [make(rate)(jnp.ones(3)) for rate in (2.0, 3.0, 4.0)])
    assert [each.kind for each in others] == ["new function"] * 2
    assert all(each.remedy and "rate" in each.remedy for each in others)


def test_a_function_that_closes_over_another_value() -> None:
    def make(rate: Any) -> Any:
        return lambda x: x * rate

    (found,) = second(make(2.0), make(3.0))
    assert found.reason.endswith(", with a different rate: 3.0 now, 2.0 in an earlier measurement")
    assert found.remedy is not None
    assert found.remedy.startswith("define the function once, and pass rate as an argument of it and of the jitted")
    (found,) = second(make("a"), make("b"))
    assert found.remedy is None


@functools.partial(jax.tree_util.register_dataclass, data_fields=["weight"], meta_fields=["name", "act"])
@dataclasses.dataclass
class Layer:
    weight: Any
    name: str
    act: Any = None


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (lambda w: Layer(w, "a"), lambda w: Layer(w, "b"), "static field tree.name has a different value: 'b' now"),
        (lambda w: {"l": [Layer(w, "a")]}, lambda w: {"l": [Layer(w, "b")]}, "static field tree['l'][0].name has"),
        (lambda w: Layer(w, "a", lambda x: x + 1), lambda w: Layer(w, "a", lambda x: x + 1),
         "static field tree.act is the same function, re-created: <lambda> ("),
        (lambda w: Layer(w, "a", (Plain(1),)), lambda w: Layer(w, "a", (Plain(1),)),
         "static field tree.act has the same content in new objects, which compare by identity: (Plain,)"),
    ],
)  # fmt: skip
def test_static_fields_of_a_pytree_are_told(one: Any, other: Any, reason: str) -> None:
    w = jnp.ones(3)
    f = jax.jit(lambda tree: jax.tree.leaves(tree)[0] + 1)
    compiled(lambda: f(one(w)))
    (found,) = compiled(lambda: f(other(w)))
    assert found.kind == "static value"
    assert found.reason.startswith(reason)


def test_what_is_too_long_is_told_by_what_differs_in_it() -> None:
    (found,) = second(Settings(1, note="x"), Settings(layers=(*range(900), 7)))  # type: ignore[arg-type]
    assert found.reason == (
        "static argument value has a different value: "
        "Settings with a different value.layers: a tuple of 901 now, 1 in an earlier measurement"
    )
    (found,) = second(tuple(range(990)), (*range(989), 0))
    assert found.reason.startswith("static argument value has a different value: ")


def test_two_functions_of_one_source_are_told_apart_by_their_addresses() -> None:
    def made() -> Any:
        return lambda x: x**2

    first, then = made(), made()
    (cause,) = second(first, then)
    assert "the same function, re-created" in cause.reason
    assert (cause.before or "").endswith(f"(object {id(first):#x})")
    assert (cause.now or "").endswith(f"(object {id(then):#x})")
