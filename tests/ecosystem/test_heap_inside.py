"""Which function of a real library put arrays into memory, beside the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.memory_use.analysis.heap import stacks
from jaxmagic.memory_use.capture.heap_snapshots import HeapWatch
from jaxmagic.records.call_stack import owner

X = jnp.ones((4, 8))


def put_by(act: Callable[[], Any]) -> dict[str, set[str]]:
    """The library functions, by the name of the user's function that called them for new arrays."""
    watch = HeapWatch()
    watch.start()
    result = jax.block_until_ready(act())
    found = watch.stop()
    del result
    assert found is not None
    names: dict[str, set[str]] = {}
    for row in stacks(found):
        line = owner(row.stack)
        if line is not None and line.file == __file__ and (row.change_bytes or 0) > 0:
            names.setdefault(line.function, set()).update(row.inside)
    return names


def test_flax_linen() -> None:
    nn = pytest.importorskip("flax.linen")

    class Net(nn.Module):  # type: ignore[misc]
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.BatchNorm(use_running_average=False)(nn.Dense(64)(x))

    def init() -> Any:
        return Net().init(jax.random.key(0), X)

    def init_one() -> Any:
        return nn.Dense(64).init(jax.random.key(0), X)

    assert put_by(init)["__call__"] == {"flax.linen.Dense", "flax.linen.BatchNorm"}
    assert put_by(init_one) == {"init_one": {"flax.linen.Dense"}}


def test_flax_nnx() -> None:
    nnx, optax = pytest.importorskip("flax.nnx"), pytest.importorskip("optax")
    rngs = nnx.Rngs(0)

    def layer() -> Any:
        return jax.tree.leaves(nnx.state(nnx.Linear(8, 64, rngs=rngs)))

    model = nnx.Linear(8, 64, rngs=rngs)

    def optimizer() -> Any:
        return jax.tree.leaves(nnx.state(nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)))

    assert "flax.nnx.Linear" in put_by(layer)["layer"]
    assert put_by(optimizer)["optimizer"] == {"flax.nnx.Optimizer"}


def test_optax_and_a_train_state() -> None:
    optax = pytest.importorskip("optax")
    parameters = {"w": jnp.ones((64, 64))}

    def state() -> Any:
        return optax.adam(1e-3).init(parameters)

    assert put_by(state) == {"state": {"optax.chain"}}
    train_state = pytest.importorskip("flax.training.train_state")

    def create() -> Any:
        tx = optax.sgd(1e-2, momentum=0.9)
        return train_state.TrainState.create(apply_fn=None, params=parameters, tx=tx)

    assert put_by(create) == {"create": {"flax.training.train_state.TrainState.create"}}


def test_equinox() -> None:
    eqx = pytest.importorskip("equinox")
    jitted = eqx.filter_jit(lambda x: x + 1)

    def layers() -> Any:
        return jax.tree.leaves(eqx.filter(eqx.nn.MLP(8, 8, 16, 2, key=jax.random.key(0)), eqx.is_array))

    def own_function() -> Any:
        return jitted(X)

    assert "equinox.nn.MLP" in put_by(layers)["layers"]
    assert put_by(own_function) == {"own_function": set()}  # the library has only jitted it
