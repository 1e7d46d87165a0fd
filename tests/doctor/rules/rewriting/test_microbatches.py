"""`rematerialise`: a batch that is too large at once, compared with the compiler's plan of the rewritten function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gathered_evidence import evidence_of, with_memory

import jaxmagic
from jaxmagic.doctor.analysis.batch_temporaries import Batch, batch_of
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules import rematerialise

CAPTURED = np.linspace(0, 1, 960, dtype=np.float32)


def loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    h = x
    for w in params["layers"]:
        h = jnp.tanh(h @ w)
    return jnp.mean((h - y) ** 2)


def summed(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    h = x
    for w in params["layers"]:
        h = jnp.tanh(h @ w)
    return jnp.sum((h - y) ** 2)


def weighted(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    h = x
    for w in params["layers"]:
        h = jnp.tanh(h @ w)
    return jnp.mean(((h - y) ** 2).mean(-1) * CAPTURED)


def loss_and_outputs(params: Any, x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    return loss(params, x, y), x


def attention(params: Any, tokens: jax.Array, y: jax.Array) -> jax.Array:
    h = tokens
    for w in params["layers"]:
        score = jax.nn.softmax(jnp.einsum("bte,bse->bts", h, h))
        h = jnp.tanh(jnp.einsum("bts,bse->bte", score, h).reshape(-1, 20) @ w).reshape(tokens.shape)
    return ((h - y) ** 2).mean()


def descend(params: Any, grads: Any) -> Any:
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


@jax.jit
def step(params: Any, x: jax.Array, y: jax.Array) -> Any:
    value, grads = jax.value_and_grad(loss)(params, x, y)
    params = descend(params, grads)
    return params, value


@jax.jit
def gradient(params: Any, x: jax.Array, y: jax.Array) -> Any:
    total = 0.1
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda g: total * g, grads)


@jax.jit
def attend(params: Any, tokens: jax.Array, targets: jax.Array) -> Any:
    value, grads = jax.value_and_grad(attention)(params, tokens, targets)
    return descend(params, grads), value


@jax.jit
def step_of_sum(params: Any, x: jax.Array, y: jax.Array) -> Any:
    value, grads = jax.value_and_grad(summed)(params, x, y)
    return descend(params, grads), value


@jax.jit
def step_with_captured(params: Any, x: jax.Array, y: jax.Array) -> Any:
    value, grads = jax.value_and_grad(weighted)(params, x, y)
    return descend(params, grads), value


@jax.jit
def step_with_noise(params: Any, x: jax.Array, key: jax.Array) -> Any:
    return descend(params, jax.grad(loss)(params, x, jax.random.normal(key, x.shape)))


@jax.jit
def step_with_two(params: Any, x: jax.Array, y: jax.Array) -> Any:
    grads = jax.grad(loss)(params, x, y)
    return descend(params, grads), jax.tree.map(jnp.sin, jax.grad(summed)(params, x, y))


@jax.jit
def step_of_scaled(params: Any, x: jax.Array, y: jax.Array) -> Any:
    x = x * 2
    grads = jax.grad(loss)(params, x, y)
    return descend(params, grads)


@jax.jit
def step_with_aux(params: Any, x: jax.Array, y: jax.Array) -> Any:
    grads, aux = jax.grad(loss_and_outputs, has_aux=True)(params, x, y)
    return descend(params, grads), aux


@jax.jit
def evaluate(params: Any, x: jax.Array, y: jax.Array) -> Any:
    return loss(params, x, y)


def arguments(examples: int = 960, width: int = 20, layers: int = 16, dtype: Any = jnp.float32) -> tuple[Any, ...]:
    params = {"layers": [jnp.full((width, width), 0.01 * i, dtype) for i in range(1, layers + 1)]}
    x = jnp.linspace(0, 1, examples * width, dtype=dtype).reshape(examples, width)
    return params, x, x * 2


def tokens() -> tuple[Any, ...]:
    params, x, y = arguments(96 * 12, layers=6)
    return params, x.reshape(96, 12, 20), y.reshape(96, 12, 20)


def peak_bytes(function: Any, *args: Any) -> int:
    need = function.lower(*args).compile().memory_analysis()
    sums = need.argument_size_in_bytes + need.output_size_in_bytes + need.temp_size_in_bytes
    return int(sums - need.alias_size_in_bytes)


def found_in(function: Any, *args: Any, share: float = 1.0, **options: Any) -> list[RuleFinding]:
    """Diagnose with a memory of which a program needs a share."""
    limit = int(peak_bytes(function, *args) / share)
    diagnosis = jaxmagic.diagnose(function, *args, only=["rematerialise"], memory_bytes=limit, **options)
    assert diagnosis.looked == ("rematerialise",)
    return list(diagnosis.findings)


@pytest.mark.parametrize(
    ("function", "args", "share", "parts"),
    [
        (step, arguments(), 1.0, 2),
        (step, arguments(), 2.0, 4),
        (gradient, arguments(), 1.0, 2),
        (attend, tokens(), 1.0, 2),
    ],
)
def test_rewritten_function_needs_what_it_claims_and_computes_the_same(
    function: Any, args: tuple[Any, ...], share: float, parts: int
) -> None:
    (found,) = found_in(function, *args, share=share)
    assert f"In {parts} parts" in str(found.evidence[0])
    assert "grads = jax." in str(found.source)
    assert found.code is not None
    names = dict(globals())
    exec(found.code, names)
    rewritten = names[function.__name__]
    spared = peak_bytes(function, *args) - peak_bytes(rewritten, *args)
    assert found.cost_bytes is not None
    assert 0.8 * spared <= found.cost_bytes <= 1.2 * spared
    for ours, theirs in zip(jax.tree.leaves(rewritten(*args)), jax.tree.leaves(function(*args)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-7)


def test_verified_remedy_is_smaller_and_agrees() -> None:
    (found,) = found_in(step, *arguments(), verify=True, budget_s=600)
    assert found.verified is not None
    assert found.verified.outputs_agree
    assert found.verified.after_bytes is not None
    assert found.verified.before_bytes == peak_bytes(step, *arguments())
    assert found.verified.survives


def test_update_of_optax_is_found() -> None:
    optax = pytest.importorskip("optax")
    adam = optax.adam(1e-3)

    @jax.jit
    def update(params: Any, state: Any, x: jax.Array, y: jax.Array) -> Any:
        grads = jax.grad(loss)(params, x, y)
        changes, state = adam.update(grads, state)
        return optax.apply_updates(params, changes), state

    params, x, y = arguments()
    (found,) = found_in(update, params, adam.init(params), x, y, verify=True, budget_s=600)
    assert found.verified is not None
    assert found.verified.survives
    assert "state" not in str(found.found)


def test_sum_is_found_without_code() -> None:
    (found,) = found_in(step_of_sum, *arguments())
    assert found.code is None
    assert "If summed returns a mean over the batch" in str(found.remedy)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (evaluate, arguments()),  # no gradient
        (step, arguments(examples=961)),  # cannot be halved
        (step, arguments(dtype=jnp.bfloat16)),  # a sum of gradients would lose bits
        (step, arguments(examples=2, width=40)),  # the parameters need the memory
        (step_with_captured, arguments()),
        (step_with_noise, (*arguments()[:2], jax.random.key(0))),
        (step_with_two, arguments()),
        (step_of_scaled, arguments()),
        (step_with_aux, arguments()),
        (jax.jit(jax.grad(loss)), arguments()),  # has no statement to rewrite
    ],
)
def test_other_programs_are_left_alone(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert found_in(function, *args) == []


def test_program_that_fits_is_left_alone() -> None:
    assert found_in(step, *arguments(), share=0.88) == []
    assert len(found_in(step, *arguments(), share=0.92)) == 1


def test_without_a_limit_nothing_is_too_large() -> None:
    assert jaxmagic.diagnose(step, *arguments(), only=["rematerialise"]).findings == ()


def test_axis_that_may_be_another_than_the_batch_tells_nothing() -> None:
    def batch(examples: int) -> Batch | None:
        evidence = evidence_of(step, *arguments(examples, layers=2))
        assert evidence.programs is not None
        module = evidence.programs[0].module
        assert module is not None
        return batch_of(module, "params", ("x", "y"))

    assert batch(40) == Batch(examples=40, sizes=frozenset({20}), summed_bytes=2 * 20 * 20 * 4)
    assert batch(20) is None


def test_least_need_that_counts() -> None:
    evidence = with_memory(evidence_of(step, *arguments()), argument_bytes=0, output_bytes=0, alias_bytes=0)
    evidence = with_memory(evidence, temporary_bytes=900_000)

    def found(limit: int) -> bool:
        return bool(list(rematerialise.look(replace(evidence, limit_bytes=limit))))

    assert [found(1_000_001), found(1_000_000)] == [False, True]
