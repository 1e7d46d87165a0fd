"""Who holds an array of a real library's object, as its user would write it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.memory_use.capture.holders import find_holders


def shortest(namespace: dict[str, Any]) -> set[str]:
    found = find_holders(jax.live_arrays(), namespace, limit_s=60, everywhere=False)
    assert found.complete
    return {names[0] for names in found.names.values()}


def test_a_train_state_and_a_frozen_dictionary() -> None:
    optax, train_state = pytest.importorskip("optax"), pytest.importorskip("flax.training.train_state")
    from flax.core import freeze

    parameters = freeze({"w": jnp.ones(3)})
    assert shortest({"parameters": parameters}) == {"parameters['w']"}
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
    state = train_state.TrainState.create(apply_fn=None, params={"w": jnp.ones(3)}, tx=tx)
    adam = "state.opt_state[1][0]"
    assert shortest({"state": state}) == {f"{adam}.count", f"{adam}.mu['w']", f"{adam}.nu['w']", "state.params['w']"}


def test_an_nnx_model_and_its_optimizer_in_a_closure() -> None:
    nnx, optax = pytest.importorskip("flax.nnx"), pytest.importorskip("optax")
    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(1e-3), wrt=nnx.Param)

    def step(x: Any) -> Any:
        return model(x), optimizer

    assert {"step (closure: model.kernel)", "step (closure: optimizer.step)"} <= shortest({"step": step})


def test_an_equinox_module() -> None:
    eqx = pytest.importorskip("equinox")
    model = eqx.nn.MLP(2, 3, 4, 1, key=jax.random.key(1))
    names = {f"model.layers[{layer}].{part}" for layer in (0, 1) for part in ("weight", "bias")}
    assert shortest({"model": model}) == names
