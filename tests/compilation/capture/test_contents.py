"""Values that functions and static arguments hold are recorded without running their code."""

from __future__ import annotations

import enum
import functools
from collections import deque
from random import Random
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from callables import Scaled, Twice

from jaxmagic.compilation.capture.contents import contents, contents_of
from jaxmagic.compilation.record.events import CUT


class Loud:
    """An object whose special methods must not be run."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def _fail(self, *_: object) -> Any:
        raise RuntimeError("do not run")

    __repr__ = __eq__ = __getattr__ = _fail  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    @property
    def noise(self) -> Any:
        return self._fail()


class Rate(float):
    """A value that only its C code could read."""


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def step(self, x: Any) -> Any:
        return x * self.rate


def around(value: Any) -> Any:
    return lambda x: x * value


def words(function: Any) -> dict[str, str]:
    return {path: each.words for path, each in contents(function).items()}


def test_closures_defaults_partials_and_objects_have_paths() -> None:
    def f(x: Any, scale: float = 2.0, *, shift: int = 1) -> Any:
        return x * scale + shift

    assert words(around({"a": [1]})) == {"value": "a dict of 1", "value['a']": "a list of 1", "value['a'][0]": "1"}
    assert words(f) == {"scale": "2.0", "shift": "1"}
    assert words(functools.partial(f, 3, shift=4)) == {"args[0]": "3", "shift": "4", "scale": "2.0"}
    assert words(Slotted(0.5).step) == {"self": "a Slotted", "self.rate": "0.5"}
    assert words(Scaled(3)) == {"self": "a Scaled", "self.factor": "3"}
    assert words(around(Loud(0.5))) == {"value": "a Loud", "value.rate": "0.5"}


def test_globals_are_found_and_attributes_of_the_same_name_are_not() -> None:
    made = eval("lambda x: x.rate * scale", {"scale": 2, "rate": 3})
    assert words(made) == {"scale": "2"}


@pytest.mark.parametrize(
    ("same", "other"),
    [
        (lambda: 1.5, lambda: 2.5),
        (lambda: "a", lambda: "b"),
        (lambda: np.ones(3), lambda: np.zeros(3)),
        (lambda: {"a": (1, [2])}, lambda: {"a": (1, [3])}),
        (lambda: Loud(1.0), lambda: Loud(2.0)),
        (lambda: Slotted(1.0), lambda: Slotted(2.0)),
        (lambda: jnp.float32, lambda: jnp.int32),
        (lambda: around(1), lambda: around(2)),
        (lambda: jax.jit(around(1)), lambda: jax.jit(around(2))),
        (lambda: Twice(around(1)), lambda: Twice(around(2))),
        (lambda: functools.partial(jnp.sum, axis=0), lambda: functools.partial(jnp.sum, axis=1)),
        (lambda: enum.Enum("E", "A B").A, lambda: enum.Enum("E", "A B").B),  # type: ignore[attr-defined]
        (lambda: SimpleNamespace(rate=1), lambda: SimpleNamespace(rate=2)),
        (lambda: {1, 2}, lambda: {1, 3}),
        (lambda: jax.vmap(around(1), in_axes=0), lambda: jax.vmap(around(1), in_axes=1)),
    ],
)  # fmt: skip
def test_values_are_the_same_by_content(same: Any, other: Any) -> None:
    def tokens(value: Any) -> list[int | None]:
        found = [each.token for each in contents(around(value)).values()]
        assert None not in found
        return found

    assert tokens(same()) == tokens(same())
    assert tokens(same()) != tokens(other())


def test_an_array_is_the_same_if_it_is_the_same_object() -> None:
    one, other = jnp.ones(3), jnp.ones(3)
    tokens = [contents(around(each))["value"] for each in (one, other, one)]
    assert tokens[0] == tokens[2]
    assert tokens[0].token != tokens[1].token
    assert tokens[0].form == tokens[1].form != contents(around(jnp.ones(4)))["value"].form


@pytest.mark.parametrize(
    "value",
    [np.random.default_rng(0), Rate(0.5), Random(0), deque([1])],
    ids=["Generator", "Rate", "Random", "deque"],
)
def test_what_only_c_code_could_read_has_no_token(value: Any) -> None:
    found = contents(around(value))["value"]
    assert (found.kind, found.token) == ("unknown", None)


def test_the_way_is_bounded_and_ends_in_cycles() -> None:
    many = contents(around([0] * 1000))
    assert len(many) < 110
    assert many[CUT].token is None
    endless: list[Any] = []
    endless.append(endless)
    assert list(contents(around(endless))) == ["value"]


def test_numbers_of_a_library_are_no_arguments_of_the_users() -> None:
    found = contents(around(functools.partial(jax.nn.gelu, approximate=True)))
    assert found["value.approximate"].kind == "number"  # the user has given it
    assert contents(jax.vmap(around(1), in_axes=1))["value"].kind == "number"
    in_axes = [each for path, each in contents(jax.vmap(around(1), in_axes=1)).items() if path.endswith("in_axes")]
    assert {each.kind for each in in_axes} == {"value"}


def test_a_static_value_has_its_name() -> None:
    assert {path: each.words for path, each in contents_of(Loud(2.0), "cfg").items()} == {
        "cfg": "a Loud",
        "cfg.rate": "2.0",
    }
