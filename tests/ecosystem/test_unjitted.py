"""Training loops of Equinox and Flax without jit: ``%%jaxdoctor`` jits what they transform, and proves it."""

from __future__ import annotations

import pytest
from shells import open_shell

from jaxmagic.doctor.capture import verify
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.rules.host import host_time

pytestmark = [pytest.mark.slow, pytest.mark.clock]

DATA = """
import jax, jax.numpy as jnp, optax
x = jax.random.normal(jax.random.key(1), (64, 8))
y = x.sum(1)
"""
EQUINOX = """
import equinox as eqx
model = eqx.nn.MLP(8, 1, 16, 2, key=jax.random.key(0))
opt = optax.sgd(1e-2)
state = opt.init(eqx.filter(model, eqx.is_array))

def loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)
"""
EQUINOX_LOOP = """
for _ in range(5):
    value, grads = eqx.filter_value_and_grad(loss)(model, x, y)
    updates, state = opt.update(grads, state)
    model = eqx.apply_updates(model, updates)
"""
NNX = """
from flax import nnx

class MLP(nnx.Module):
    def __init__(self, rngs):
        self.up, self.down = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        for _ in range(4):
            x = x + jnp.tanh(x) * jax.nn.sigmoid(x)
        return self.down(jax.nn.relu(self.up(x)))[:, 0]

model = MLP(nnx.Rngs(0))
opt = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)

def loss(model, x, y):
    return jnp.mean((model(x) - y) ** 2)
"""
NNX_LOOP = """
for _ in range(5):
    value, grads = nnx.value_and_grad(loss)(model, x, y)
    opt.update(model, grads)
"""
LINEN = """
import flax.linen as nn
from flax.training.train_state import TrainState

class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(16)(x)))[:, 0]

model = MLP()
params = model.init(jax.random.key(0), x)
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(1e-2))

def train_step(state, x, y):
    def loss(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)
    value, grads = jax.value_and_grad(loss)(state.params)
    return state.apply_gradients(grads=grads), value
"""
LINEN_LOOP = """
for _ in range(5):
    state, value = train_step(state, x, y)
"""


@pytest.mark.parametrize(
    ("library", "cell", "loop", "code"),
    [
        ("equinox", EQUINOX, EQUINOX_LOOP, "loss_value_and_grad = eqx.filter_jit(eqx.filter_value_and_grad(loss))"),
        ("flax", NNX, NNX_LOOP, "loss_value_and_grad = nnx.jit(nnx.value_and_grad(loss))"),
        ("flax", LINEN, LINEN_LOOP, "train_step = jax.jit(train_step)"),
    ],
)
def test_the_loss_or_the_step_is_jitted_by_its_library(
    library: str, cell: str, loop: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library)
    pytest.importorskip("optax")
    monkeypatch.setattr(host_time, "LEAST_IDLE", 0.0)
    monkeypatch.setattr(host_time, "LEAST_NS", 0)
    monkeypatch.setattr(verify, "_MOST_RUNS", 2)
    with open_shell() as session:
        for each in ("%load_ext jaxmagic", DATA, cell):
            session.run(each)
        session.run(f"%%jaxdoctor --only not-jitted --verify --budget 5min -q -v found\n{loop}")
        found: Diagnosis = session.shell.user_ns["found"]
    (finding,) = found.findings
    assert finding.code == code
    assert finding.verified is not None, str(found)
    assert finding.verified.outputs_agree
    assert finding.verified.before_ns is not None
    assert finding.verified.after_ns is not None
