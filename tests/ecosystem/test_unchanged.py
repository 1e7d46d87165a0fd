"""``nnx.jit`` puts all variables of its modules back: only those with other contents count as changed."""

from __future__ import annotations

from typing import Any

import pytest
from shells import Session

import jaxmagic

CODE = """
import jax, jax.numpy as jnp, optax
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(8, 16, rngs=rngs)
        self.norm = nnx.BatchNorm(16, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 16, rngs=rngs, decode=False)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.dropout(self.attention(self.norm(nnx.relu(self.first(x)))[None]))

def loss(net, x):
    return (net(x) ** 2).mean()

@nnx.jit
def forward(net, x):
    return net(x)

@nnx.jit
def gradients(net, x):
    return nnx.grad(loss)(net, x)

@nnx.jit
def loss_of_optimizer(net, optimizer, x):
    return loss(net, x) * optimizer.step[...]

@nnx.jit
def train(net, optimizer, x):
    optimizer.update(net, nnx.grad(loss)(net, x))

@nnx.jit
def update(metric, x):
    metric.update(values=x)

@nnx.jit
def compute(metric):
    return metric.compute()

def normed():
    net = Net(nnx.Rngs(0))
    net.train()
    net.dropout.deterministic = True
    return net

def dropping():
    net = Net(nnx.Rngs(0))
    net.eval()
    net.dropout.deterministic = False
    return net

net, batch_norm, dropout = Net(nnx.Rngs(0)), normed(), dropping()
net.eval()
optimizer = nnx.Optimizer(net, optax.adam(1e-3), wrt=nnx.Param)
still = nnx.Optimizer(net, optax.sgd(0.0), wrt=nnx.Param)
metric = nnx.metrics.Average()
x = jax.random.normal(jax.random.key(1), (4, 8))
update(metric, x)
"""


@pytest.fixture
def magics(session: Session) -> Session:
    pytest.importorskip("flax.nnx")
    pytest.importorskip("optax")
    session.run(CODE)
    return session


def diagnosed(magics: Session, statement: str) -> jaxmagic.Diagnosis:
    magics.run(f"%jaxdoctor -q -v found {statement}")
    found: Any = magics.shell.user_ns["found"]
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "forward(net, x)",
        "[forward(net, x) for _ in range(3)]",
        "gradients(net, x)",
        "loss_of_optimizer(net, optimizer, x)",
        "compute(metric)",
    ],
)
def test_what_only_computes_runs_several_times(magics: Session, statement: str) -> None:
    found = diagnosed(magics, statement)
    assert not [each for each in found.notes if each.kind.startswith(("doctor.once_", "doctor.twice_"))]
    assert found.warm


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("forward(batch_norm, x)", "batch_norm.norm.mean"),
        ("forward(dropout, x)", "dropout.dropout.rngs.count"),
        ("train(net, optimizer, x)", "optimizer"),
        ("train(net, still, x)", "still"),
        ("update(metric, x)", "metric"),
    ],
)
def test_what_has_other_contents_then_is_changed(magics: Session, statement: str, name: str) -> None:
    found = diagnosed(magics, statement)
    noted = [each.facts["names"] for each in found.notes if each.kind == "doctor.once_changed"]
    assert len(found.runs) == 1
    assert len(noted) == 1
    assert str(noted[0]).startswith(name)
