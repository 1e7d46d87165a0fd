"""The inputs of some code: arrays by their paths, and what was deleted of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.inputs import deleted, inputs_of


def test_arrays_are_listed_by_their_paths() -> None:
    held: dict[str, Any] = {
        "params": {"w": jnp.ones((2, 3)), "b": [np.zeros(4, np.int8)]},
        "f": jax.jit(lambda x: x),
        "rate": 0.1,
        "batches": iter([1]),
    }
    found = {each.path: (each.kind, each.type, each.size_bytes) for each in inputs_of(held)}
    assert found["params['w']"] == ("jax array", "float32[2,3]", 24)
    assert found["params['b'][0]"] == ("numpy array", "int8[4]", 4)
    assert {name: found[name][0] for name in held} == {
        "params": "other",
        "f": "function",
        "rate": "number",
        "batches": "iterator",
    }


class Config:
    rate = 0.1


class Sizes:
    def __init__(self) -> None:
        self.size, self.name, self.deeper = 3, "a", Config()


class Trainer:
    def __init__(self) -> None:
        self.w, self.rate, self.wide, self.act = jnp.ones(2), 0.1, True, jnp.tanh
        self.state, self.config = {"v": np.zeros(3)}, Sizes()


class Lazy:
    def __init__(self) -> None:
        self.n = 1

    @property
    def w(self) -> Any:
        raise AssertionError("a property was read")


class Pair(NamedTuple):
    first: Any
    second: Any


@jax.tree_util.register_dataclass
@dataclass
class Known:
    w: Any


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("relu", "object"),
        (Config(), "object"),
        ({"w": jnp.ones(2), "name": "a"}, "object"),
        ([1, (Config(),)], "object"),
        ({"w": jnp.ones(2), "rates": [0.1, None]}, "other"),
        (Pair(1, 2), "other"),
        (Known(jnp.ones(2)), "other"),
        (None, "other"),
    ],
)
def test_what_jit_does_not_take_is_an_object(value: Any, kind: str) -> None:
    (found, *_) = inputs_of({"value": value})
    assert found.kind == kind


@pytest.mark.parametrize("kind", [Trainer, type("Slots", (Trainer,), {"__slots__": ("momentum",)})])
def test_numbers_and_containers_in_the_attributes_of_objects(kind: type[Trainer]) -> None:
    found = {each.path: (each.kind, each.type) for each in inputs_of({"trainer": kind(), "all": [kind()]})}
    assert {path: each for path, each in found.items() if path.startswith("trainer.")} == {
        "trainer.w": ("jax array", "float32[2]"),
        "trainer.rate": ("number", "float"),
        "trainer.wide": ("number", "bool"),
        "trainer.state": ("other", "dict"),
        "trainer.state['v']": ("numpy array", "float64[3]"),
        "trainer.config.size": ("number", "int"),
        "trainer.act": ("function", "PjitFunction"),
    }
    assert not [path for path in found if path.startswith("all[0].") and "rate" in path]


def test_attributes_that_are_no_inputs_are_named_with_where_their_classes_are_from() -> None:
    made = Trainer()
    made.__dict__ |= {"rng": np.random.default_rng(0), "own": Lazy(), "tanh": jax.nn.relu, "old": made.w}
    found = {each.name: each for each in inputs_of({"trainer": made})[0].members}
    assert {"rng", "own", "tanh", "old"} <= found.keys()
    assert not {"w", "rate", "state"} & found.keys()
    assert found["rng"].home == "numpy.random._generator"
    assert found["own"].home == "builtins"
    assert (found["tanh"].public, found["tanh"].same_as) == ("jax.nn.relu", "")
    assert found["old"].same_as == "trainer.w"


def test_no_property_is_read() -> None:
    assert [each.path for each in inputs_of({"it": Lazy()})] == ["it", "it.n"]


def test_donated_arrays_are_found() -> None:
    held = {"state": {"a": jnp.ones(8), "b": jnp.ones(8)}}
    assert deleted(held) == []
    jax.jit(lambda a: a + 1, donate_argnums=0)(held["state"]["a"])
    assert [each.path for each in deleted(held)] == ["state['a']"]


def test_a_thousand_inputs_are_enough() -> None:
    assert len(inputs_of({"many": [np.zeros(1) for _ in range(1500)]})) == 1000


def of_module(x: Any) -> Any:
    return x


def test_functions_are_known_by_where_they_are_from() -> None:
    found = {each.path: each for each in inputs_of({"f": of_module, "g": jnp.tanh, "h": lambda x: x, "n": 1})}
    own, lambda_ = found["f"].function, found["h"].function
    assert own is not None
    assert (own.function, own.line) == ("of_module", of_module.__code__.co_firstlineno)
    assert lambda_ is not None
    assert lambda_.function == "<lambda>"
    assert (found["g"].public, found["g"].function, found["f"].public) == ("jax.numpy.tanh", None, "")


def test_a_named_tuple_of_functions_is_nothing_that_jit_takes() -> None:
    found = {each.path: each.kind for each in inputs_of({"a": Pair(jnp.tanh, 1), "b": Pair(1, jnp.ones(3))})}
    assert (found["a"], found["b"]) == ("object", "other")


def test_modules_of_libraries_are_found_in_containers() -> None:
    class Module:
        pass

    class Pytree:
        pass

    Module.__module__, Pytree.__module__ = "equinox._module", "flax.nnx.pytreelib"
    equinox, nnx = type("MLP", (Module,), {})(), type("Optimizer", (Pytree,), {})()
    variables = {"m": equinox, "s": (1, {"m": [equinox]}), "p": Pair(1, equinox), "o": nnx, "f": of_module, "l": [1]}
    found = {each.path: each.library for each in inputs_of(variables)}
    assert [found[each] for each in "mspofl"] == ["equinox", "equinox", "equinox", "nnx", None, None]


def test_a_module_of_equinox_with_arrays_only_is_a_pytree_like_others() -> None:
    """``eqx.partition`` makes one of what ``jax.jit`` takes: it needs no jit of its own."""

    class Module:
        def __init__(self, *leaves: Any) -> None:
            self.leaves = leaves

        def __call__(self) -> None:
            pass

    Module.__module__ = "equinox._module"
    jax.tree_util.register_pytree_node(Module, lambda it: (it.leaves, None), lambda _, leaves: Module(*leaves))
    variables = {"params": Module(jnp.ones(2), np.ones(2), None), "model": Module(jnp.ones(2), jnp.tanh)}
    found = {each.path: (each.library, each.kind) for each in inputs_of(variables)}
    assert (found["params"], found["model"]) == ((None, "module of arrays"), ("equinox", "function"))
