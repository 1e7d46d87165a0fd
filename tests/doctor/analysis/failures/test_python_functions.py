"""Python's functions on traced values: the function of JAX that takes their place computes the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from failing_cells import Cell


def _line(line: str, result: str) -> Cell:
    return Cell(f"@jax.jit\ndef f(x, y=None):\n    {line}  # here\n    return z\nresult = {result}")


@pytest.mark.parametrize(
    ("line", "result", "code", "expected"),
    [
        ("z = sorted(x)", "f(jnp.array([2, 1]))", "z = jnp.sort(x)", [1, 2]),
        ("z = 2 in x", "f(jnp.arange(3))", "z = (x == 2).any()", True),
        ("z = 2 not in x", "f(jnp.arange(3))", "z = jnp.logical_not((x == 2).any())", False),
        ("z = x in [1, 2]", "f(2)", "z = jnp.isin(x, jnp.array([1, 2]))", True),
        ("z = x not in (1, 2)", "f(2)", "z = jnp.logical_not(jnp.isin(x, jnp.array([1, 2])))", False),
        ("z = np.sum([x, x])", "f(3.0)", "z = jnp.sum(jnp.array([x, x]))", 6),
        ("z = np.max([v + 1 for v in x])", "f(jnp.arange(3))", "z = jnp.max(jnp.array([v + 1 for v in x]))", 3),
        ("z = np.dot([1, 2], x)", "f(jnp.arange(2))", "z = jnp.dot(jnp.array([1, 2]), x)", 2),
        ("z = np.stack([x, x])", "f(3.0)", "z = jnp.stack([x, x])", [3, 3]),
        ("z = math.pow(x, 3)", "f(2.0)", "z = jnp.power(x, 3)", 8),
        ("z = math.log1p(x)", "f(0.0)", "z = jnp.log1p(x)", 0),
        ("z = math.exp(-x) / math.sqrt(math.pi * x + 1)", "f(0.0)", "z = jnp.exp(-x) / jnp.sqrt(math.pi * x + 1)", 1),
        ("z = math.exp(math.log(x)) + math.sqrt(4)", "f(3.0)", "z = jnp.exp(jnp.log(x)) + math.sqrt(4)", 5),
        ("z = math.isnan(x)", "f(1.0)", "z = jnp.isnan(x)", False),
        ("z = math.copysign(1.5, x)", "f(-2.0)", "z = jnp.copysign(1.5, x)", -1.5),
        ("z = math.atanh(x)", "f(0.0)", "z = jnp.arctanh(x)", 0),
        ("z = math.fmod(x, 3)", "f(-4.0)", "z = jnp.fmod(x, 3)", -1),
        ("z = np.zeros(x)", "f(2)", '@functools.partial(jax.jit, static_argnames="x")', [0, 0]),
    ],
)
def test_the_rewritten_line_computes_the_same(line: str, result: str, code: str, expected: object) -> None:
    cell = _line(line, result)
    assert cell.finding.line == cell.here
    assert cell.finding.code == code
    again = cell.rewritten(code)
    assert again.error is None
    np.testing.assert_array_equal(again.names["result"], expected)


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("z = sorted(x, reverse=True)", "f(jnp.arange(2))"),
        ("z = sorted([x, y])", "f(1, 2)"),
        ("z = 1 if x in [1, 2] else 0", "f(jnp.int32(1))"),
        ("z = not x in [1, 2]", "f(jnp.int32(1))"),
        ("z = x in [1, y]", "f(1, 2)"),
        ("y = [x, x]; z = np.sum(y)", "f(1)"),
        ("z = math.floor(x)", "f(2.5)"),
        ("z = math.exp(x) + math.floor(x)", "f(2.5)"),
        ("z = math.exp(x) + math.gamma(x)", "f(2.5)"),
    ],
)
def test_a_line_that_might_compute_something_else_is_not_rewritten(line: str, result: str) -> None:
    cell = _line(line, result)
    assert cell.finding.line == cell.here
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("line", "result", "remedy"),
    [
        ("z = sorted([x, y], key=lambda v: -v)", "f(1, 2)", "use jnp.sort(x) in place of sorted"),
        ("z = [x, y]; z.sort()", "f(1, 2)", "use jnp.sort(x) in place of z.sort"),
        ("z = [1, 2].index(x)", "f(1)", "jnp.argmax(items == x) is the position of the first"),
        ("z = [1, 2].count(x)", "f(1)", "jnp.sum(items == x) is how many are"),
        ("z = math.floor(x)", "f(2.5)", "Use jnp.floor(x).astype(int) in place of math.floor(x)"),
        (
            "z = math.exp(x) / math.sin(x)",
            "f(2.5)",
            "jnp.exp in place of math.exp and jnp.sin in place of math.sin.",
        ),
        ("z = math.lgamma(x)", "f(2.5)", "Use jax.scipy.special.gammaln in place of math.lgamma"),
        (
            "z = lax.cond(x > 0, lambda: x, lambda: None)",
            "f(2.5)",
            "cond returns a single value, and false_fun None.",
        ),
        ("z = lax.fori_loop(0, 3, lambda i, c: None, x)", "f(2.5)", "begins as a single value and ends as None."),
        ("z = jnp.compress(x > 0, x)", "f(jnp.arange(2))", "jnp.compress returns as many elements as"),
        ("z = jnp.extract(x > 0, x)", "f(jnp.arange(2))", "Give it size=, a number known"),
        ("z = x.at[y:y + 2].set(0)", "f(jnp.arange(4), jnp.array(1))", "lax.dynamic_update_slice(x, values"),
        ("z = x[y:y + 2]", "f(jnp.arange(4), jnp.array(1))", "write lax.dynamic_slice_in_dim(x, y, 2)"),
    ],
)
def test_the_function_of_jax_that_does_this(line: str, result: str, remedy: str) -> None:
    cell = _line(line, result)
    assert cell.finding.line == cell.here
    assert remedy in cell.said


def test_the_functions_of_scipy_for_those_of_math_compute_the_same() -> None:
    cell = Cell("s = jax.scipy.special; result = [s.erf(0.5), s.erfc(0.5), s.gamma(2.5), s.gammaln(2.5)]")
    expected = [math.erf(0.5), math.erfc(0.5), math.gamma(2.5), math.lgamma(2.5)]
    np.testing.assert_allclose(cell.names["result"], expected, rtol=1e-5)


def test_the_bounds_of_an_updated_slice_are_not_called_a_shape() -> None:
    said = _line("z = x.at[:y].set(x[0])", "f(jnp.arange(4), jnp.array(1))").said
    assert "bounds of a slice" in said
    assert "It depends on the argument y of f" in said
