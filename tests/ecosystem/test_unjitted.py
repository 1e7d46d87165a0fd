"""Training loops of Equinox and Flax without jit: ``%%jaxdoctor`` jits what they transform, and proves it."""

from __future__ import annotations

import pytest
from shells import open_shell

from jaxmagic.doctor.capture import verify
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.finding import RuleFinding
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


def the_finding(cells: list[str], loop: str, options: str, monkeypatch: pytest.MonkeyPatch) -> RuleFinding:
    monkeypatch.setattr(host_time, "LEAST_IDLE", 0.0)
    monkeypatch.setattr(host_time, "LEAST_NS", 0)
    monkeypatch.setattr(verify, "_MOST_RUNS", 2)
    with open_shell() as session:
        for each in ("%load_ext jaxmagic", DATA, *cells):
            session.run(each)
        session.run(f"%%jaxdoctor --only not-jitted {options} --verify --budget 5min -q -v found\n{loop}")
        found: Diagnosis = session.shell.user_ns["found"]
    (finding,) = found.findings
    assert finding.verified is not None, str(found)
    assert finding.verified.outputs_agree, str(found)
    return finding


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
    finding = the_finding([cell], loop, "", monkeypatch)
    assert finding.code == code
    assert finding.verified is not None
    assert finding.verified.before_ns is not None
    assert finding.verified.after_ns is not None


LINEN_TRAINER = """
import flax.linen as nn
import optax

class Trainer:
    def __init__(self, x):
        self.model, self.tx, self.count = nn.Dense(1), optax.adam(1e-2), 0
        self.params = self.model.init(jax.random.key(0), x)
        self.state = self.tx.init(self.params)

    def step(self, x, y):
        def loss_of(params):
            return jnp.mean((self.model.apply(params, x)[:, 0] - y) ** 2)
        value, grads = jax.value_and_grad(loss_of)(self.params)
        updates, self.state = self.tx.update(grads, self.state, self.params)
        self.params = optax.apply_updates(self.params, updates)
        self.count += 1
        return float(value)

trainer = Trainer(x)
"""

EQUINOX_TRAINER = """
import equinox as eqx
import optax

class Trainer:
    def __init__(self, x):
        self.model, self.tx = eqx.nn.MLP(x.shape[1], 1, 8, 1, key=jax.random.key(0)), optax.adamw(1e-2)
        self.state = self.tx.init(eqx.filter(self.model, eqx.is_array))

    def loss(self, model, x, y):
        return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)

    def step(self, x, y):
        value, grads = eqx.filter_value_and_grad(self.loss)(self.model, x, y)
        params = eqx.filter(self.model, eqx.is_array)
        updates, self.state = self.tx.update(grads, self.state, params)
        self.model = eqx.apply_updates(self.model, updates)
        return value

trainer = Trainer(x)
"""
STEPS = "for _ in range(9):\n    value = trainer.step(x, y)"


@pytest.mark.parametrize(
    ("library", "cell", "code"),
    [
        ("flax", LINEN_TRAINER, 'jitted_step = jax.jit(jitted_step, static_argnames=("model", "tx"))'),
        ("equinox", EQUINOX_TRAINER, "@eqx.filter_jit\ndef jitted_step("),
    ],
)
def test_the_step_of_a_trainer_gets_its_attributes(
    library: str, cell: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library)
    pytest.importorskip("optax")
    finding = the_finding([cell], STEPS, "--repeat", monkeypatch)
    assert finding.code is not None
    assert code in finding.code
