"""What the code changes is copied for each run, also inside objects, and no code of the user's runs for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.side_effects.copied_values import contents, copied, is_copyable


class Inner:
    tools: Any

    def __init__(self) -> None:
        self.w = np.zeros(2)


class Trainer:
    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.w, self.log, self.inner = jnp.ones(3), [np.zeros(2)], Inner()
        self.step, self.act, self.kind, self.grad = 0, abs_of, Inner, jax.jit(abs_of)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was looked for")

    @property
    def lazy(self) -> Any:
        raise AssertionError("a property was read")


class Slotted(Trainer):
    __slots__ = ("more",)


class Items(dict[str, Any]):
    pass


def abs_of(x: Any) -> Any:
    return jnp.abs(x)


def test_a_copy_of_an_object_shares_nothing_that_changes() -> None:
    one = Trainer()
    assert is_copyable(one)
    made = Trainer.made
    two = copied({"it": one})["it"]
    assert (type(two), Trainer.made) == (Trainer, made)
    assert (two.act, two.kind, two.grad) == (one.act, one.kind, one.grad)
    two.log.append(1)
    two.log[0][:] = 7
    two.inner.w[:] = 7
    two.w, two.step = None, 3
    assert (len(one.log), one.log[0].tolist(), one.inner.w.tolist(), one.step) == (1, [0, 0], [0, 0], 0)
    assert one.w.tolist() == [1, 1, 1]


def holding(value: Any, depth: int = 0) -> Trainer:
    it = Trainer()
    it.inner = value if depth == 0 else holding(value, depth - 1)
    return it


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize(
    "make", [object, Slotted, Items, lambda: iter([1]), lambda: [object()], lambda: np.array([None])]
)
def test_what_may_have_more_in_it_is_not_copied(make: Callable[[], Any], depth: int) -> None:
    assert is_copyable(holding(None, 1))
    assert not is_copyable(holding(make(), depth))


def test_functions_in_the_attributes_of_an_object_are_shared() -> None:
    """As those of an optimizer of optax, which is a named tuple of functions."""
    made = Inner()
    made.tools = (abs_of, {"act": jax.nn.relu, "grad": jax.jit(abs_of)})
    assert is_copyable(made)
    assert not is_copyable(made.tools)  # it may be called by the code itself
    copy = copied(made)
    assert copy.w is not made.w
    assert jax.tree.leaves(copy.tools) == jax.tree.leaves(made.tools)


def test_an_object_that_holds_itself_is_not_copied() -> None:
    it = Trainer()
    it.inner = it
    assert not is_copyable(it)


def test_contents_have_attributes_in_place_of_objects() -> None:
    it = Trainer()
    found = contents({"it": it, "state": {"n": 1}, "gone": [it]})
    assert found["state"] == {"n": 1}
    assert found["it"]["inner"]["w"].tolist() == [0, 0]
    it.w.delete()
    assert contents({"it": it, "state": {"n": 1}}) == {"state": {"n": 1}}
