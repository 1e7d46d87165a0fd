"""Errors of each kind inside a flax module, and inside the body of a scan: the line, and the argument behind it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import jax
import pytest
from failing_cells import Cell

BEFORE = """
@functools.partial(jax.jit, static_argnames="by")
def scaled(x, by):
    return x * by[0]
kept = []
jax.jit(lambda v: kept.append(v))(jnp.ones(()))
gone = jnp.zeros(())
gone.delete()
"""

MODULE = """
import flax.linen as nn
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3)(x)
{lines}
        return x
params = {{"params": {{"Dense_0": {{"kernel": jnp.ones((2, 3)), "bias": jnp.zeros(3)}}}}}}
net = Net()
@jax.jit
def predict(params, x):
    return net.apply(params, x)
predict(params, jnp.ones((1, 2)))
"""

SCAN = """
@jax.jit
def run(w):
    def body(x, t):
{lines}
        return x, t
    return lax.scan(body, w, jnp.arange(3.0))
run(jnp.ones(3))
"""

TRACED = {
    "bool": "if x.sum() > 0:  # here\n    x = -x",
    "number": "x = x * float(x.sum())  # here",
    "index": "x = x * [1.0, 2.0][x.astype(int).sum()]  # here",
    "numpy": "x = x + np.sin(x)  # here",
    "mask": "x = x[x > 0]  # here",
}

OTHERS = {
    "static": ("x = scaled(x, [2.0])  # here", "by of scaled is static, but the list passed for it"),
    "branches": ("x = lax.cond(x.sum() > 0, lambda v: v, lambda v: (v, v), x)  # here", "returns a single value"),
    "carry": ("x, _ = lax.scan(lambda v, t: (v[..., :1], t), x, jnp.arange(2))  # here", "the shapes differ"),
    "nan": ("x = jnp.log(x - 9)  # here", "log"),
}

#: JAX raises these where the compiled function is called: its line is the last of the user's in the traceback.
AT_CALL = {
    "leak": ("x = x + kept[0]", "was traced by <lambda>"),
    "deleted": ("x = x + gone", "gone"),
}


@pytest.fixture(autouse=True)
def as_in_ipython() -> Iterator[None]:
    """JAX marks its own frames as hidden, and flags of its debugging are put back."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "tracebackhide")
    yield
    jax.config.update("jax_traceback_filtering", before)
    jax.config.update("jax_debug_nans", False)


def cell_of(around: str, lines: str, *, nans: bool = False) -> Cell:
    if around is MODULE:
        pytest.importorskip("flax")
    jax.config.update("jax_debug_nans", nans)
    return Cell(BEFORE + around.format(lines=textwrap.indent(lines, " " * 8)))


@pytest.mark.parametrize("kind", TRACED)
@pytest.mark.parametrize(
    ("around", "argument"),
    [
        (MODULE, "params['params']['Dense_0']['kernel'], x of predict"),
        (SCAN, "argument x of body"),
    ],
    ids=["module", "scan"],
)
def test_a_traced_value(around: str, argument: str, kind: str) -> None:
    cell = cell_of(around, TRACED[kind])
    assert cell.failure.kind == kind
    assert cell.finding.line == cell.here
    assert argument in cell.said


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("around", [MODULE, SCAN], ids=["module", "scan"])
def test_another_error(around: str, kind: str) -> None:
    lines, words = OTHERS[kind]
    cell = cell_of(around, lines, nans=kind == "nan")
    assert cell.failure.kind == kind
    assert words in cell.said
    assert cell.finding.line == cell.here


@pytest.mark.parametrize("kind", AT_CALL)
@pytest.mark.parametrize("around", [MODULE, SCAN], ids=["module", "scan"])
def test_an_error_of_a_value_from_outside(around: str, kind: str) -> None:
    lines, words = AT_CALL[kind]
    cell = cell_of(around, lines)
    assert cell.failure.kind == kind
    assert words in cell.said
    last = len(cell.source.splitlines())
    inside = next(number for number, line in enumerate(cell.source.splitlines(), 1) if lines in line)
    assert cell.finding.line in {f"{cell.file}:{number}" for number in (last, last - 1, inside)}
