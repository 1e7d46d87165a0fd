"""What the round of an eager loop computes is written as a jitted function, and tried."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding

planted = pytest.mark.clock

X = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
XS = jnp.asarray(X)
MANY = jnp.tile(XS, (60, 1))  # more rounds than jit unrolls


def momentum(w: Any, m: Any, g: Any) -> Any:
    m = 0.9 * m + g
    return w - 0.01 * m, m


def descend(w: Any) -> Any:
    m, kept = jnp.zeros_like(w), []
    for i in range(60):
        r = X @ w - 1
        g = X.T @ r / 8
        w, m = momentum(w, m, g)
        if i % 30 == 0:
            kept.append(i)
        kept.append(float(jnp.mean(r)))
    return w, kept


def loss(w: Any) -> Any:
    return jnp.mean((jnp.tanh(XS @ w) - 1) ** 2)


def train(w: Any) -> Any:
    losses = []
    for _ in range(40):
        value, g = jax.value_and_grad(loss)(w)
        w = w - 0.1 * g
        losses.append(float(value))
    return w, losses


@jax.jit
def shift(w: Any, x: Any) -> Any:
    return w - 0.01 * x.T @ (x @ w - 1)


def batches(w: Any, size: int = 2) -> Any:
    for start in range(0, 480, size):
        w = shift(w, MANY[start : start + size])
    return w


def the_one(function: Any) -> RuleFinding:
    w = jnp.ones(8)
    (found,) = jaxmagic.diagnose(function, w, only="not-jitted", verify=True, budget_s=600).findings
    return found


@planted
@pytest.mark.parametrize(("function", "statements"), [(descend, 4), (train, 2), (batches, 1)])
def test_the_code_computes_the_same_and_is_faster(function: Any, statements: int) -> None:
    found = the_one(function)
    assert found.code is not None
    assert f"def {function.__name__}_step(" in found.code
    assert found.code.partition("    return ")[0].count("\n    ") == statements
    verified = found.verified
    assert verified is not None
    assert "doctor.pasted" in [each.kind for each in verified.notes]
    assert verified.outputs_agree is True
    assert verified.speedup is not None
    assert verified.speedup > 1.5


@planted
def test_only_the_time_in_these_lines_counts() -> None:
    """A fifth of the operations is called outside of the loop, and stays as it is."""

    def both(w: Any) -> Any:
        for _ in range(240):
            w = jnp.sin(w) * w + 1
            w = w / jnp.abs(w).max()
        return rest(w)

    def rest(w: Any) -> Any:
        return sum([jnp.cos(w * n) + n for n in range(100)])

    diagnosis = jaxmagic.diagnose(both, jnp.ones(8), only="not-jitted")
    (found,) = diagnosis.findings
    assert found.code is not None
    assert found.code.startswith("@jax.jit\ndef both_step(w):")
    assert found.cost_ns is not None
    assert found.cost_ns < 0.9 * min(each.wall_ns for each in diagnosis.runs)


class Trainer:
    """It is trained by steps, in which nothing is jitted."""

    def __init__(self, w: Any) -> None:
        self.w, self.m, self.rate, self.count = w, jnp.zeros_like(w), 0.1, 0

    def penalized(self, w: Any) -> Any:
        return jnp.mean((jnp.tanh(XS @ w) - 1) ** 2) + self.rate * jnp.sum(w**2)

    def step(self) -> Any:
        value, gradient = jax.value_and_grad(self.penalized)(self.w)
        self.m = 0.9 * self.m + gradient
        self.w = self.w - self.rate * self.m
        self.count += 1
        return value


def train_by_steps(trainer: Trainer) -> Any:
    return [trainer.step() for _ in range(20)]


@planted
def test_the_step_of_an_object_is_jitted_with_its_attributes_as_arguments() -> None:
    trainer = Trainer(jnp.ones(8))
    diagnosis = jaxmagic.diagnose(train_by_steps, trainer, only="not-jitted", verify=True, budget_s=600, repeat=True)
    (found,) = diagnosis.findings
    assert found.code is not None
    assert "def jitted_step(w, m, rate, cls):" in found.code
    assert found.code.endswith(" = jitted_step(self.w, self.m, self.rate, type(self))")
    verified = found.verified
    assert verified is not None
    assert verified.outputs_agree is True
    assert verified.speedup is not None
    assert verified.speedup > 1.5
