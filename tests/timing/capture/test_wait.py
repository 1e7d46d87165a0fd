"""Waiting for the value of one call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.timing.capture.wait import search_and_wait, waiter_for

pytestmark = pytest.mark.clock


@pytest.mark.parametrize(
    "put",
    [
        lambda y: y,
        lambda y: (1, {"a": [y]}, None),
        lambda y: SimpleNamespace(inner=SimpleNamespace(y=y)),
        lambda y: {"key": jax.random.key(0), "object": SimpleNamespace(y=y)},
    ],
    ids=["array", "pytree", "object", "object in a pytree"],
)
def test_values_of_every_kind_are_waited_for(work: Any, put: Any) -> None:
    wait = waiter_for(put(work()))
    jax.effects_barrier()
    assert not work.is_left_running_by(lambda y: wait(put(y)))


def test_a_value_of_another_kind_than_the_first_is_waited_for(work: Any) -> None:
    wait = waiter_for(jnp.ones(3))
    assert not work.is_left_running_by(lambda y: wait(SimpleNamespace(y=y)))
    wait(None)


def test_a_plain_array_and_a_pytree_are_not_searched() -> None:
    assert waiter_for(jnp.ones(3)) is not search_and_wait
    assert waiter_for({"w": jnp.ones(3), "n": 3}) is jax.block_until_ready
    assert waiter_for(SimpleNamespace(y=jnp.ones(3))) is search_and_wait


def test_a_value_without_arrays_is_looked_at_once(work: Any, monkeypatch: Any) -> None:
    wait = waiter_for(list(range(100_000)))
    monkeypatch.setattr("jaxmagic.timing.capture.wait.find_arrays", None)  # calling it would fail
    wait(list(range(100_000)))
    monkeypatch.undo()
    assert not work.is_left_running_by(lambda y: wait((y,)))


def test_a_value_that_holds_itself_ends() -> None:
    loop: list[Any] = [jnp.ones(3)]
    loop.append(loop)
    waiter_for(loop)(loop)


def test_nothing_is_waited_for_where_there_is_nothing() -> None:
    for value in (None, 3, "text", object()):
        waiter_for(value)(value)
