"""Steps with modules of Equinox and flax.nnx, from the run to the code that is advised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from gathered_evidence import evidence_of

from jaxmagic.doctor.rules.host.jitting.advice import compile_called
from jaxmagic.doctor.rules.rewriting.called_function import called_function

eqx = pytest.importorskip("equinox")
nnx = pytest.importorskip("flax.nnx")


def advice(step: Callable[..., Any], given: Mapping[str, Any]) -> str | None:
    """Return the code for a step that is called with these arguments, whatever it costs."""
    evidence = evidence_of(step, *given.values(), names={step.__name__: step, **given})
    evidence = replace(evidence, code=step.__name__)
    called = called_function(evidence, 100, most_unrolled=200)
    return None if called is None else compile_called(called, evidence)[1]


def loss(model: Any, x: Any) -> Any:
    return jnp.mean(jax.vmap(model)(x) ** 2)


def eqx_step(model: Any, x: Any) -> Any:
    value, grads = eqx.filter_value_and_grad(loss)(model, x)
    return eqx.apply_updates(model, grads), value


def nnx_loss(model: Any, x: Any) -> Any:
    return jnp.mean(model(x) ** 2)


def nnx_step(model: Any, x: Any) -> Any:
    value, grads = nnx.value_and_grad(nnx_loss)(model, x)
    return value, grads


def activated(act: Any, x: Any) -> Any:
    return act(jnp.cos(x) @ x.T)


def test_a_step_of_equinox() -> None:
    model = eqx.nn.MLP(19, 7, 11, 1, key=jax.random.key(0))  # sizes that no other test compiles
    assert advice(eqx_step, {"model": model, "x": jnp.ones((23, 19))}) == "eqx_step = eqx.filter_jit(eqx_step)"


def test_a_step_of_nnx() -> None:
    model = nnx.Linear(19, 7, rngs=nnx.Rngs(0))
    assert advice(nnx_step, {"model": model, "x": jnp.ones((29, 19))}) == "nnx_step = nnx.jit(nnx_step)"


def test_a_function_as_an_argument() -> None:
    code = 'activated = jax.jit(activated, static_argnames="act")'
    assert advice(activated, {"act": jax.nn.silu, "x": jnp.ones((31, 19))}) == code
