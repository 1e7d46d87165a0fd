"""`precision`: double precision is found where it comes from, and left alone where it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gathered_evidence import evidence_of

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules import precision


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    """Let JAX compute in double precision."""
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def found_in(function: Callable[..., Any], *args: Any) -> list[RuleFinding]:
    diagnosis = jaxmagic.diagnose(jax.jit(function), *args, only=["precision"])
    assert diagnosis.looked == ("precision",)
    return list(diagnosis.findings)


def arrays(count: int = 2) -> list[jax.Array]:
    return [jnp.full((700, 700), 0.01, jnp.float32) for _ in range(count)]


HALF = np.float64(0.5)


def test_number_of_numpy_is_found_in_its_line() -> None:
    def f(x: jax.Array, w: jax.Array) -> jax.Array:
        y = jnp.tanh(x @ w)
        z = y * HALF
        return z @ w

    (found,) = found_in(f, *arrays())
    assert found.source == "z = y * HALF"
    assert [each.facts["argument"] for each in found.evidence] == [""]  # x and w are not what it multiplies
    assert found.basis == "estimated"


TABLE, ZEROS = np.linspace(0, 1, 700), np.zeros((2, 2))


def test_a_captured_array_is_named_and_not_an_argument_of_another_line() -> None:
    def f(p: jax.Array, x: jax.Array, s: jax.Array) -> jax.Array:
        y = x + TABLE
        return jnp.tanh(y @ p) * s + ZEROS.sum()

    (found,) = found_in(f, *arrays(3))
    captured, inputs = found.evidence
    assert found.source == "y = x + TABLE"
    assert str(captured) == "TABLE is float64[700]."
    assert str(inputs).startswith("x is f32[700,700]. ")
    assert str(found.remedy) == "If float32 is accurate enough, convert TABLE once, with .astype(np.float32)."


def test_new_array_is_found() -> None:
    def f(x: jax.Array) -> jax.Array:
        t = jnp.linspace(0, 1, 700)
        return jnp.exp(x * t) @ x

    (found,) = found_in(f, *arrays(1))
    # Newer versions of JAX do not record the line of what `linspace` does inside.
    assert found.source in ("t = jnp.linspace(0, 1, 700)", "return jnp.exp(x * t) @ x")


def test_argument_is_found() -> None:
    def f(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ params["v"]) @ params["w"]

    v, w = arrays()
    (found,) = found_in(f, {"v": v, "w": w}, np.ones((600, 700)))
    assert str(found.found) == "f computes in float64 because x is f64[600,700]."


def test_learning_rate_of_optax_is_found() -> None:
    optax = pytest.importorskip("optax")

    def f(params: jax.Array, grads: jax.Array) -> jax.Array:
        for _ in range(20):
            grads = jnp.sin(grads) * np.float64(0.1)
        return optax.apply_updates(params, grads)

    (found,) = found_in(f, *arrays())
    assert found.source == "grads = jnp.sin(grads) * np.float64(0.1)"


def _asks(x: jax.Array, w: jax.Array) -> jax.Array:
    return x.astype(jnp.float64) @ w


def _asks_later(x: jax.Array, w: jax.Array) -> jax.Array:
    y = x * HALF
    return y @ w.astype(jnp.float64)


def _asks_by_dtype(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.sum(x @ w, dtype=np.float64) + jnp.sum(jnp.sin(x), dtype=np.float64)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x, w: jnp.tanh(x @ w) * 0.5 @ w, arrays),  # numbers of Python do not convert
        (lambda x, w: jnp.tanh(x @ w) * float(HALF) @ w, arrays),
        (lambda x, w: jnp.linspace(0, 1, 700, dtype=x.dtype) * x @ w, arrays),
        (lambda x, w, s: x * s @ w, lambda: [*arrays(), 0.5]),
        (_asks, arrays),
        (_asks_later, arrays),
        (_asks_by_dtype, arrays),
        (lambda x, w: jnp.tanh(x @ w) @ w, lambda: [each.astype(jnp.float64) for each in arrays()]),
        (lambda x, w: x @ w, lambda: [arrays(1)[0][:10], arrays(1)[0].astype(jnp.float64)]),  # mostly double
        (lambda x, w: (x @ w @ w @ w).sum() * HALF, arrays),  # one number
        (lambda key: jax.random.normal(key, (700, 700)), lambda: [jax.random.key(0)]),
    ],
)
def test_clean_programs_are_left_alone(function: Callable[..., Any], args: Callable[[], list[Any]]) -> None:
    assert found_in(function, *args()) == []


def test_least_time_that_counts() -> None:
    evidence = evidence_of(jax.jit(lambda x, w: x * HALF @ w), *arrays())
    assert evidence.profile is not None
    double = [each for each in evidence.profile.operation_times if "f64" in each.shape]

    def found(share: float) -> list[RuleFinding]:
        assert evidence.profile is not None
        recorded_ns = evidence.run_ns * (evidence.profile.runs or 1)
        timed = (replace(double[0], time_ns=int(share * recorded_ns)),)
        profile = replace(evidence.profile, operation_times=timed, device_uses=(), recorded_ns=recorded_ns)
        return list(precision.look(replace(evidence, profile=profile)))

    assert found(0.039) == []
    (finding,) = found(0.041)
    assert finding.cost_ns == pytest.approx(0.0205 * evidence.run_ns, rel=1e-3)
    (finding,) = found(3)
    assert finding.cost_ns == 0.5 * evidence.run_ns
