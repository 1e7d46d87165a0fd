"""`rematerialise`: what a checkpoint claims to spare, compared with the compiler's plan of the program with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from gathered_evidence import evidence_of, with_memory

import jaxmagic
from jaxmagic.doctor.capture.remedies.compiled.rematerialise import propose
from jaxmagic.doctor.capture.remedies.remedy import Sizes
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules import rematerialise

MIB = 2**20


def found_in(function: Callable[..., Any], *args: Any, memory_bytes: int | None = 512 * MIB) -> list[RuleFinding]:
    diagnosis = jaxmagic.diagnose(function, *args, only=["rematerialise"], memory_bytes=memory_bytes)
    assert diagnosis.looked == ("rematerialise",)
    return list(diagnosis.findings)


def peak_bytes(function: Any, *args: Any) -> int:
    need = function.lower(*args).compile().memory_analysis()
    sums = need.argument_size_in_bytes + need.output_size_in_bytes + need.temp_size_in_bytes
    return int(sums - need.alias_size_in_bytes)


def gradient(body: Callable[..., Any]) -> Any:
    def loss(xs: Any, carry: Any) -> jax.Array:
        carry, _ = jax.lax.scan(body, carry, xs)
        return sum(jnp.mean(each**2) for each in jax.tree.leaves(carry))  # type: ignore[return-value]

    return jax.jit(jax.grad(loss))


def simulate(u: jax.Array, x: jax.Array) -> tuple[jax.Array, None]:
    u = u + x
    for _ in range(5):
        u = u - 0.1 * u * jnp.sqrt(u)
    return u, None


def layer(h: jax.Array, w: dict[str, jax.Array]) -> tuple[jax.Array, None]:
    return h + jax.nn.gelu(h @ w["up"]) @ w["down"], None


def gated(carry: tuple[jax.Array, jax.Array], x: jax.Array) -> tuple[tuple[jax.Array, jax.Array], None]:
    h, c = carry
    z = h + x
    c = jax.nn.sigmoid(z) * c + jax.nn.sigmoid(2 * z) * jnp.tanh(z)
    return (jax.nn.sigmoid(3 * z) * jnp.tanh(c), c), None


def _with_history(u: jax.Array) -> tuple[jax.Array, jax.Array]:
    def body(u: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        u = jnp.exp(-u)
        return u, jnp.stack([u * each for each in range(4)])

    u, history = jax.lax.scan(body, u, length=100)
    return u.sum(), history[:, :, :5]


FIELD = jnp.ones((256, 256))
LAYERS = {"up": jnp.full((8, 64, 1024), 0.01), "down": jnp.full((8, 1024, 64), 0.01)}
PLANTED = {
    "simulation": (simulate, jnp.zeros((20, 1)), FIELD),
    "layers": (layer, LAYERS, jnp.ones((512, 64))),
    "recurrent": (gated, jnp.zeros((50, 1)), (FIELD, FIELD)),
}


@pytest.mark.parametrize("name", PLANTED)
def test_kept_values_are_found_and_the_checkpoint_spares_what_it_claims(name: str) -> None:
    body, *args = PLANTED[name]
    (found,) = found_in(gradient(body), *args)
    assert found.source == "carry, _ = jax.lax.scan(body, carry, xs)"
    assert found.cost_bytes is not None
    spared = peak_bytes(gradient(body), *args) - peak_bytes(gradient(jax.checkpoint(body)), *args)
    assert 0.8 * spared <= found.cost_bytes <= 1.02 * spared


def test_code_names_the_users_function() -> None:
    def advance(u: jax.Array, x: jax.Array) -> tuple[jax.Array, None]:
        for _ in range(5):
            u = u + x - 0.2 * u * jnp.sqrt(u + 1)
        return u, None

    def loss(x: jax.Array) -> jax.Array:
        return jax.lax.scan(advance, x, jnp.zeros((20, 1)))[0].sum()

    (found,) = found_in(jax.jit(jax.grad(loss)), FIELD)
    # Older compilers record the innermost call only.
    known = jax.__version_info__ >= (0, 10)
    assert found.code == ("advance = jax.checkpoint(advance)" if known else None)


def test_layers_of_flax_are_found() -> None:
    nn = pytest.importorskip("flax.linen")

    class Layer(nn.Module):  # type: ignore[misc, name-defined]
        @nn.compact
        def __call__(self, h: jax.Array, _: None) -> tuple[jax.Array, None]:
            return h + nn.Dense(64)(nn.gelu(nn.Dense(1024)(h))), None

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        @nn.compact
        def __call__(self, h: jax.Array) -> jax.Array:
            layers = nn.scan(Layer, variable_axes={"params": 0}, split_rngs={"params": True}, length=8)
            return layers()(h, None)[0]

    x = jnp.ones((512, 64))
    params = Model().init(jax.random.key(0), x)
    (found,) = found_in(jax.jit(jax.grad(lambda params: Model().apply(params, x).mean())), params)
    assert found.cost_bytes is not None
    assert found.cost_bytes > 30 * MIB
    assert found.code is None


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (gradient(jax.checkpoint(simulate)), PLANTED["simulation"][1:]),
        (gradient(jax.checkpoint(layer)), PLANTED["layers"][1:]),
        (gradient(lambda u, x: (u * 1.01 + x, None)), (jnp.zeros((400, 1)), FIELD)),  # linear: keeps nothing
        (gradient(lambda u, x: (jnp.tanh(u), None)), (jnp.zeros((400, 1)), FIELD)),  # keeps its carry only
        (jax.jit(lambda u: jax.lax.scan(simulate, u, jnp.zeros((20, 1)))[0]), (FIELD,)),  # no backward pass
        (jax.jit(lambda u: jax.lax.scan(lambda u, _: (u + 1, u), u, length=400)), (FIELD,)),  # the user's own values
        (gradient(simulate), (jnp.zeros((20, 1)), FIELD[:20, :20])),  # small
        (jax.jit(jax.grad(_with_history, has_aux=True)), (FIELD,)),  # keeps its carry, and the user's own values
    ],
)
def test_clean_programs_are_left_alone(function: Any, args: tuple[Any, ...]) -> None:
    assert found_in(function, *args) == []


def test_where_the_memory_is_unknown_only_large_temporaries_count() -> None:
    body, *args = PLANTED["simulation"]
    assert found_in(gradient(body), *args, memory_bytes=None) == []
    (found,) = found_in(gradient(body), jnp.zeros((20, 1)), jnp.ones((512, 512)), memory_bytes=None)
    assert found.cost_bytes is not None
    assert found.cost_bytes > 256 * MIB


def test_large_memory_makes_it_no_finding() -> None:
    body, *args = PLANTED["simulation"]
    assert found_in(gradient(body), *args, memory_bytes=16 * 2**30) == []


def test_least_temporaries_that_count() -> None:
    body, *args = PLANTED["simulation"]
    evidence = with_memory(evidence_of(gradient(body), *args), argument_bytes=MIB, output_bytes=MIB, alias_bytes=0)

    def found(temporary: int, limit: int | None, argument: int = MIB) -> bool:
        changed = with_memory(evidence, temporary_bytes=temporary, argument_bytes=argument)
        return bool(list(rematerialise.look(replace(changed, limit_bytes=limit))))

    assert [found(64 * MIB - 1, 512 * MIB), found(64 * MIB, 512 * MIB)] == [False, True]
    assert [found(64 * MIB, 641 * MIB), found(64 * MIB, 640 * MIB)] == [False, True]
    assert [found(64 * MIB, 512 * MIB, 63 * MIB), found(64 * MIB, 512 * MIB, 62 * MIB)] == [False, True]
    assert [found(256 * MIB - 1, None), found(256 * MIB, None)] == [False, True]
    assert [found(256 * MIB, None, 127 * MIB), found(256 * MIB, None, 126 * MIB)] == [False, True]


#: Older compilers record the innermost call only.
stacks_are_known = pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="needs call stacks in programs")


def mlp(p: dict[str, jax.Array], h: jax.Array) -> jax.Array:
    return h + jax.nn.gelu(h @ p["up"]) @ p["down"]


def in_a_loop(params: Any, h: jax.Array) -> jax.Array:
    for p in params:
        h = mlp(p, h)
    return jnp.mean(h**2)


def in_a_row(params: Any, h: jax.Array) -> jax.Array:
    h = mlp(params[0], h)
    h = mlp(params[1], h)
    return jnp.mean(h**2)


def in_a_loop_of_checkpoints(params: Any, h: jax.Array) -> jax.Array:
    for p in params:
        h = jax.checkpoint(mlp)(p, h)
    return jnp.mean(h**2)


@jax.checkpoint
def decorated(p: dict[str, jax.Array], h: jax.Array) -> jax.Array:
    return h + jax.nn.gelu(h @ p["up"]) @ p["down"]


def of_a_decorated_function(params: Any, h: jax.Array) -> jax.Array:
    for p in params:
        h = decorated(p, h)
    return jnp.mean(h**2)


class Layer:
    def mlp(self, p: dict[str, jax.Array], h: jax.Array) -> jax.Array:
        return mlp(p, h)


def of_an_object(params: Any, h: jax.Array) -> jax.Array:
    own = Layer()
    for p in params:
        h = own.mlp(p, h)
    return jnp.mean(h**2)


def of_layers(function: Any) -> Any:
    params = [{"up": jnp.full((64, 1024), 0.01), "down": jnp.full((1024, 64), 0.01)} for _ in range(3)]
    return jax.jit(jax.grad(function)), params, jnp.ones((2048, 64))


@stacks_are_known
def test_layers_in_a_python_loop_are_found_and_compiled_with_a_checkpoint() -> None:
    step, *args = of_layers(in_a_loop)
    (found,) = found_in(step, *args)
    assert (found.code, found.cost_bytes) == ("mlp = jax.checkpoint(mlp)", None)
    assert found.source == "h = mlp(p, h)"
    assert found.evidence[0].facts["calls"] == 3
    kept_bytes = int(found.found.facts["kept_bytes"])
    assert 3 * 3 * 8 * MIB <= kept_bytes <= peak_bytes(step, *args) == found.found.facts["peak_bytes"]
    names = {"step": step, "params": args[0], "h": args[1]}
    sizes = propose(found, TriedCode("step(params, h)", names)).sizes
    assert isinstance(sizes, Sizes)
    by_hand = jax.jit(jax.grad(in_a_loop_of_checkpoints))
    assert (sizes.before_bytes, sizes.after_bytes) == (peak_bytes(step, *args), peak_bytes(by_hand, *args))


@pytest.mark.parametrize("function", [in_a_row, of_a_decorated_function, of_an_object])
def test_layers_that_no_assignment_checkpoints_are_left_alone(function: Any) -> None:
    step, *args = of_layers(function)
    assert found_in(step, *args) == []


def test_a_loop_around_the_program_is_no_loop_of_layers() -> None:
    step, params, h = of_layers(in_a_row)

    def train(params: Any, h: jax.Array) -> Any:
        for _ in range(2):
            last = step(params, h)
        return last

    assert found_in(train, params, h) == []
