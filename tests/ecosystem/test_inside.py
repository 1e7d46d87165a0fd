"""Of an operation of a real library: the user's line, and the name under which users know the library's function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from recordings import module_of

from jaxmagic.records.inside import inside, line_of
from jaxmagic.xla.lines.callers import with_own_callers

pytestmark = pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="it tells the innermost line alone")

X = jnp.ones((4, 8))


def called(function: Callable[..., Any], *arguments: Any) -> Counter[str]:
    """How many instructions of lines in this file are in each library function; no line is a library's."""
    found: Counter[str] = Counter()
    for each in with_own_callers(module_of(function, *arguments)).instructions.values():
        line = line_of(each.stack)
        if line is not None:
            assert "site-packages" not in line.file
            found[inside(each.stack) or ""] += line.file == __file__
    return +found


def test_flax_linen() -> None:
    nn = pytest.importorskip("flax.linen")

    class Net(nn.Module):  # type: ignore[misc]
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.Dense(8)(x)
            x = nn.BatchNorm(use_running_average=False)(x)
            return nn.MultiHeadDotProductAttention(2)(x[None])

    net = Net()
    variables = net.init(jax.random.key(0), X)
    found = called(lambda variables, x: net.apply(variables, x, mutable=["batch_stats"]), variables, X)
    names = ("Dense", "BatchNorm", "MultiHeadDotProductAttention")
    assert set(found) - {""} == {f"flax.linen.{name}" for name in names}


def test_flax_nnx() -> None:
    nnx = pytest.importorskip("flax.nnx")
    rngs = nnx.Rngs(0)
    graph, state = nnx.split(nnx.Sequential(nnx.Linear(8, 8, rngs=rngs), nnx.BatchNorm(8, rngs=rngs)))
    layer, parameters = nnx.split(nnx.Linear(8, 8, rngs=rngs))
    assert "flax.nnx.Sequential" in called(lambda state, x: nnx.merge(graph, state)(x), state, X)
    assert "flax.nnx.Linear" in called(lambda state, x: nnx.merge(layer, state)(x), parameters, X)


def test_equinox() -> None:
    eqx = pytest.importorskip("equinox")
    arrays, rest = eqx.partition(eqx.nn.MLP(8, 8, 16, 2, key=jax.random.key(0)), eqx.is_array)
    found = called(lambda arrays, x: jax.vmap(eqx.combine(arrays, rest))(x), arrays, X)
    assert "equinox.nn.MLP" in found


def test_optax() -> None:
    optax = pytest.importorskip("optax")
    adam = optax.adam(1e-3)

    def update(gradient: Any, state: Any) -> Any:
        updates, state = adam.update(gradient, state)
        return optax.apply_updates(gradient, updates), state

    found = called(update, X, adam.init(X))
    assert set(found) - {""} == {"optax.chain", "optax.apply_updates"}


def test_diffrax() -> None:
    diffrax = pytest.importorskip("diffrax")

    def field(t: Any, y: Any, args: Any) -> Any:
        return -jnp.sin(y)

    def solve(y: Any) -> Any:
        steps = diffrax.PIDController(rtol=1e-3, atol=1e-3)
        term, solver = diffrax.ODETerm(field), diffrax.Tsit5()
        return diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, y, stepsize_controller=steps).ys

    module = with_own_callers(module_of(solve, X))
    sines = [each for each in module.instructions.values() if each.opcode == "sine"]
    assert sines
    for each in sines:  # the user's own, that the library calls
        line = line_of(each.stack)
        assert line is not None
        assert line.line == field.__code__.co_firstlineno + 1
        assert inside(each.stack) is None
    found = called(solve, X)
    assert max(found, key=lambda name: found[name]) == "diffrax.diffeqsolve"


def test_numpyro() -> None:
    numpyro = pytest.importorskip("numpyro")
    from numpyro.infer import NUTS

    def model(y: Any) -> None:
        mean = numpyro.sample("mean", numpyro.distributions.Normal(0, 1))
        numpyro.sample("y", numpyro.distributions.Normal(mean, 1), obs=y)

    kernel = NUTS(model)
    state = kernel.init(jax.random.key(0), 10, None, (X[0],), {})
    found = called(lambda state: kernel.sample(state, (X[0],), {}), state)
    assert max(found, key=lambda name: found[name]) == "numpyro.infer.HMC.sample"


def test_blackjax() -> None:
    blackjax = pytest.importorskip("blackjax")
    sampler = blackjax.hmc(lambda x: -(x**2).sum(), 0.1, jnp.ones(8), 3)
    state = sampler.init(jnp.ones(8))
    found = called(lambda key, state: sampler.step(key, state), jax.random.key(0), state)
    assert any(name.startswith("blackjax.") for name in found)


def test_jaxs_own_functions_are_no_library() -> None:
    assert set(called(lambda x: jnp.linalg.norm(jax.nn.softmax(x)), X)) == {""}
