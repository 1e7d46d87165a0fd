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
from jaxmagic.doctor.record.evidence import Evidence
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


def test_double_data_in_a_training_step_of_single_precision_is_found() -> None:
    def step(params: list[jax.Array], x: jax.Array, y: jax.Array) -> list[jax.Array]:
        def loss(params: list[jax.Array]) -> jax.Array:
            v, w = params
            return jnp.mean((jnp.tanh(x @ v) @ w - y) ** 2)

        return [each - 0.1 * slope for each, slope in zip(params, jax.grad(loss)(params), strict=True)]

    evidence = evidence_of(jax.jit(step), arrays(), np.ones((2000, 700)), np.ones((2000, 700)))
    (found,) = found_all_double(evidence)
    assert str(found.found) == "step computes in float64 because x is f64[2000,700]."
    assert str(found.remedy) == (
        "If float32 is accurate enough, convert all 2 arguments that are float64 before the call: x, y."
    )


def test_double_data_of_a_model_of_single_precision_is_found() -> None:
    def predict(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ params["v"]) @ params["w"][:, :5]

    v, w = arrays()
    (found,) = found_all_double(evidence_of(jax.jit(predict), {"v": v, "w": w}, np.ones((3000, 700))))
    assert str(found.found) == "predict computes in float64 because x is f64[3000,700]."


def _updates_the_double(y: jax.Array, table: dict[str, jax.Array]) -> jax.Array:
    return y + 0.1 * jnp.tanh(y @ table["v"] @ table["w"])


def _asks_of_a_model(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return jnp.sum(jnp.tanh(x @ params["v"]).astype(jnp.float64) @ params["w"])


def _trains_double(params: jax.Array, batch: dict[str, jax.Array]) -> jax.Array:
    return params - 0.1 * jax.grad(lambda params: jnp.sum((batch["x"] @ params - batch["y"]) ** 2))(params)


def _solves(a: jax.Array, b: jax.Array, c: jax.Array) -> jax.Array:
    return jnp.tanh(a @ b) @ c


LARGE, FEW = np.ones((3000, 700)), np.ones((10, 700), np.float32)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (_updates_the_double, lambda: [LARGE, dict(zip("vw", arrays(), strict=True))]),
        (_asks_of_a_model, lambda: [dict(zip("vw", arrays(), strict=True)), LARGE]),
        (_trains_double, lambda: [np.ones((700, 700)), {"x": FEW, "y": FEW}]),
        (_solves, lambda: [np.ones((900, 700)), arrays()[0], arrays()[1][0]]),
        (lambda p, x: jnp.tanh(x @ p["v"]).sum(), lambda: [{"v": arrays()[0]}, LARGE]),  # one array may be anything
    ],
)
def test_programs_that_mean_double_precision_are_left_alone(
    function: Callable[..., Any], args: Callable[[], list[Any]]
) -> None:
    assert found_all_double(evidence_of(jax.jit(function), *args())) == []


def found_all_double(evidence: Evidence) -> list[RuleFinding]:
    """Return the findings for a device that spends the run on one operation in double precision."""
    profile = evidence.profile
    assert profile is not None
    (module,) = {each.module for each in profile.operation_times if "f64" in each.shape}
    first = next(each for each in profile.operation_times if each.module == module and "f64" in each.shape)
    recorded_ns = evidence.run_ns * (profile.runs or 1)
    timed = (replace(first, time_ns=int(recorded_ns)),)
    profile = replace(profile, operation_times=timed, device_uses=(), recorded_ns=recorded_ns)
    return list(precision.look(replace(evidence, profile=profile)))


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
