"""Logarithms of what has underflowed: nothing takes its place, and the logarithm is computed without it."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from failing_cells import Cell

STABLE = {
    "jnp.log(jnp.sum(jnp.exp(z), axis=1))": "jax.nn.logsumexp(z, axis=1)",
    "jnp.log(jnp.sum(jnp.exp(-z ** 2), 1, keepdims=True))": "jax.nn.logsumexp(-z ** 2, 1, keepdims=True)",
    "jnp.log(jnp.exp(z).sum(-1))": "jax.nn.logsumexp(z, -1)",
    "jnp.log(jax.nn.softmax(z))": "jax.nn.log_softmax(z)",
    "jnp.log(jax.nn.softmax(z, axis=0))": "jax.nn.log_softmax(z, axis=0)",
    "jnp.log(jax.nn.sigmoid(z))": "jax.nn.log_sigmoid(z)",
}

WORDS = (
    "jnp.log(jnp.sum(w * jnp.exp(z), axis=1))",
    "jnp.log(jnp.mean(jnp.exp(z), axis=1))",
    "jnp.log(jnp.prod(jnp.exp(z), axis=1))",
    "jnp.log2(jnp.exp(z).sum(-1))",
)

HEAD = """
w = 0.5
def f(z):
    y = {line}  # here
    return jnp.sum(y)
z = {z}
with jax.debug_nans(True), jax.debug_infs(True):
    result = {called}(z)
"""

FAR = "jnp.array([[-500.0, -400.0], [-300.0, 0.0], [-500.0, 200.0]]) - 200.0"


def _cell(line: str, called: str, z: str = FAR) -> Cell:
    return Cell(HEAD.format(line=line, called=called, z=z))


@pytest.mark.parametrize("called", ["f", "jax.jit(f)", "jax.grad(f)", "jax.jit(jax.grad(f))"])
@pytest.mark.parametrize("line", STABLE)
def test_the_logarithm_is_computed_without_what_underflows(line: str, called: str) -> None:
    cell = _cell(line, called)
    assert f"compute the logarithm without it: {STABLE[line]}." in cell.said
    assert "jnp.where" not in cell.said
    assert cell.finding.code is None
    assert _cell(STABLE[line], called).error is None


@pytest.mark.parametrize("line", STABLE)
def test_it_is_the_same_where_nothing_underflows(line: str) -> None:
    near = "jnp.array([[-1.0, 0.5], [2.0, 0.0]])"
    results = [_cell(each, "jax.value_and_grad(f)", near).names["result"] for each in (line, STABLE[line])]
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6), *results)


@pytest.mark.parametrize("line", WORDS)
def test_without_code_no_guard_is_offered(line: str) -> None:
    cell = _cell(line, "jax.jit(f)")
    assert "jax.nn.logsumexp(z, b=w) is the logarithm of sum(w * exp(z))" in cell.said
    assert "jnp.where" not in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize("line", ["jnp.log(z)", "jnp.log(1 - jnp.exp(z + 300))", "jnp.log(jnp.sum(z, 1))"])
def test_what_can_be_negative_is_kept_in_the_domain(line: str) -> None:
    assert "compute the logarithm without it" not in _cell(line, "jax.jit(f)").said
