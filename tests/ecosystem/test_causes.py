"""Causes behind libraries that jit a function of their own around the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic

eqx = pytest.importorskip("equinox")


def compiled(call: Callable[[], Any]) -> jaxmagic.Compilation:
    with jaxmagic.stopwatch() as watch:
        watch.result = call()
    (one,) = (each for each in watch.timing.compilations if not each.eager)
    return one


@pytest.fixture
def step() -> Any:
    @eqx.filter_jit
    def step(model: Any, batch: Any, *, scale: Any = 1.0) -> Any:
        return jax.vmap(model)(batch) * scale

    return step


def mlp(width: int, activation: Any = jnp.tanh) -> Any:
    return eqx.nn.MLP(3, 2, width, 1, activation=activation, key=jax.random.key(0))


def test_arguments_have_their_own_names(step: Any) -> None:
    model, wide, one, other = mlp(4), mlp(5), jnp.ones((4, 3)), jnp.ones((5, 3))
    first = compiled(lambda: step(model, one))
    assert (first.function, first.cause.kind) == ("step", "first call")
    assert first.location is not None
    assert "test_causes.py" in first.location
    assert compiled(lambda: step(model, other)).cause.reason == (
        "argument batch has a different shape: f32[5,3] now, f32[4,3] before"
    )
    assert compiled(lambda: step(wide, other)).cause.argument == "model.layers[0].weight"


def test_what_is_no_array_is_static(step: Any) -> None:
    model, x, scale = mlp(4), jnp.ones((4, 3)), jnp.float32(2)
    compiled(lambda: step(model, x))
    number = compiled(lambda: step(model, x, scale=2.0)).cause
    assert number.reason == "static argument scale has a different value: 2.0 now, 1.0 in an earlier measurement"
    assert number.remedy is not None
    assert "pass an array in every call" in number.remedy
    array = compiled(lambda: step(model, x, scale=scale)).cause
    assert array.reason.startswith(
        "argument scale is a different kind of value: an array f32[] now, the static value "
    )


def test_a_static_field_that_differs_is_named(step: Any) -> None:
    class Scaled(eqx.Module):
        net: Any
        temperature: float = eqx.field(static=True)

        def __call__(self, x: Any) -> Any:
            return self.net(x) / self.temperature

    x, net = jnp.ones((4, 3)), mlp(4)
    compiled(lambda: step(Scaled(net, 2.0), x))
    cause = compiled(lambda: step(Scaled(net, 0.5), x)).cause
    reason = "static field model.temperature has a different value: 0.5 now, 2.0 in an earlier measurement"
    assert (cause.kind, cause.reason) == ("static value", reason)
    assert cause.remedy is not None
    assert cause.remedy.startswith("do not declare it static, and pass it as an array")
    wide = compiled(lambda: step(Scaled(mlp(5), 0.5), x)).cause
    assert (wide.kind, wide.argument, wide.remedy) == ("shape", "model.net.layers[0].weight", None)


def test_a_function_made_anew_within_a_module() -> None:
    class Net(eqx.Module):
        weight: jax.Array
        act: Any

        def __call__(self, x: Any) -> Any:
            return self.act(x @ self.weight)

    apply = eqx.filter_jit(lambda net, x: net(x))
    x = jnp.ones((3, 3))
    causes = [compiled(lambda: apply(Net(x, lambda y: y + 1), x)).cause for _ in range(2)]
    assert causes[1].reason.startswith("static field net.act is the same function, re-created: <lambda> (")


def test_a_module_that_is_called_is_its_class() -> None:
    x = jnp.ones(3)
    model = mlp(4)
    assert compiled(lambda: eqx.filter_jit(model)(x)).cause.kind == "first call"
    assert compiled(lambda: eqx.filter_jit(mlp(6))(x)).cause.kind == "shape"


def test_a_function_jitted_anew(step: Any) -> None:
    def make() -> Any:
        @eqx.filter_jit
        def g(x: Any) -> Any:
            return x * 2.125

        return g

    x = jnp.ones(3)
    found = [compiled(lambda: make()(x)) for _ in range(2)]
    assert [each.cause.kind for each in found] == ["first call", "new function"]
    assert found[0].function == "g"


def test_modes_of_an_nnx_module_are_told() -> None:
    nnx = pytest.importorskip("flax.nnx")
    net, x = nnx.Dropout(0.5, rngs=nnx.Rngs(0)), jnp.ones(3)
    f = nnx.jit(lambda net, x: net(x))
    net.train()
    compiled(lambda: f(net, x))
    net.eval()
    cause = compiled(lambda: f(net, x)).cause
    reason = "static field net.deterministic has a different value: True now, False in an earlier measurement"
    assert (cause.reason, cause.remedy) == (reason, None)


def test_a_number_of_an_nnx_module_is_told() -> None:
    nnx = pytest.importorskip("flax.nnx")

    class Inner(nnx.Module):
        def __init__(self, rate: float) -> None:
            self.rate = rate

    class Net(nnx.Module):
        def __init__(self, rate: float, width: int) -> None:
            self.w = nnx.Param(jnp.ones(width))
            self.width, self.inner = width, Inner(rate)

    x, f = jnp.ones(3), nnx.jit(lambda net, x: (x.sum() * net.w[...] / net.inner.rate).sum())
    compiled(lambda: f(Net(2.0, 4), x))
    number = compiled(lambda: f(Net(0.5, 4), x)).cause
    reason = "static field net.inner.rate has a different value: 0.5 now, 2.0 in an earlier measurement"
    assert (number.kind, number.reason) == ("static value", reason)
    assert number.remedy is not None
    assert number.remedy.startswith("hold it as an array, in an nnx.Variable")
    size = compiled(lambda: f(Net(0.5, 5), x)).cause
    assert size.kind == "shape"
    assert size.remedy is None


def test_another_linen_module_is_told_by_its_fields() -> None:
    nn = pytest.importorskip("flax.linen")
    x = jnp.ones(3)

    def make(features: int) -> Any:
        module = nn.Dense(features)
        return jax.jit(lambda key: module.init(key, x))

    key = jax.random.key(0)
    compiled(lambda: make(4)(key))
    assert compiled(lambda: make(4)(key)).cause.reason.endswith("as a different function object")
    assert compiled(lambda: make(5)(key)).cause.reason.endswith("with a different module.features: 5 now, 4 before")
    assert compiled(lambda: make(6)(key)).cause.remedy is None


def test_another_optimizer_is_told_by_its_rate() -> None:
    optax = pytest.importorskip("optax")
    x = jnp.ones(3)

    def make(rate: float) -> Any:
        optimizer = optax.sgd(rate)
        return jax.jit(lambda x: optimizer.update(x, optimizer.init(x))[0])

    compiled(lambda: make(0.25)(x))
    cause = compiled(lambda: make(0.5)(x)).cause
    assert cause.reason.endswith("step_size: -0.5 now, -0.25 before")
    assert cause.remedy is None
