"""A number where a function of JAX takes a dtype, as in ``jax.random.normal(key, shape, 0.5)``."""

from __future__ import annotations

import pytest
from failing_cells import Cell

VALUES = "key, s, v = jax.random.key(0), jnp.float32(0.5), jnp.ones(3)\ndef f(x): return x\n"


@pytest.mark.parametrize(
    ("call", "value", "advice"),
    [
        ("jax.random.normal(key, (3,), 0.5)", "0.5", "shift + scale * jax.random.normal(…)."),
        ("jax.random.normal(key, (3,), 2)", "2", "shift + scale * jax.random.normal(…)."),
        ("jax.random.normal(key, (3,), 1e-3)", "0.001", "shift + scale * jax.random.normal(…)."),
        ("jax.random.normal(key, v.shape, s)", "s", "shift + scale * jax.random.normal(…)."),
        ("jax.random.normal(key, v.shape, v)", "v", "shift + scale * jax.random.normal(…)."),
        ("jax.random.laplace(key, (3,), dtype=0.5)", "0.5", "shift + scale * jax.random.laplace(…)."),
        ("jax.random.truncated_normal(key, -1, 1, (3,), 0.5)", "0.5", "shift + scale * "),
        (
            "jax.random.uniform(key, (3,), -1.0, 1.0)",
            "-1.0",
            "jax.random.uniform(key, shape, minval=low, maxval=high).",
        ),
        ("jnp.zeros((3,), 0.5)", "0.5", "Pass a dtype, such as jnp.float32, or leave it out."),
    ],
)
def test_a_number_is_no_dtype(call: str, value: str, advice: str) -> None:
    cell = Cell(f"{VALUES}y = {call}  # here")
    if value in "sv" and cell.error is None:
        pytest.skip("this JAX takes the dtype of an array")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{value} is passed as the dtype of {call.partition('(')[0]}, which takes "), (
        cell.said
    )
    assert advice in cell.said


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("uniform(key, 3, 0, 1)", "uniform(key, (3,), minval=0, maxval=1)"),
        ("uniform(key, (3,), -2, -1)", "uniform(key, (3,), minval=-2, maxval=-1)"),
        ("uniform(key, v.shape, -2.0, -1)", "uniform(key, v.shape, minval=-2.0, maxval=-1)"),
        ("uniform(key, 3, low, high)", "uniform(key, (3,), minval=low, maxval=high)"),
        ("uniform(key, 3, 1, 0)", None),
        ("uniform(key, 3, 1, 5)", None),
        ("uniform(key, 0, 1)", None),
        ("uniform(key, 3, 0, 1, 2)", None),
    ],
)
def test_bounds_after_a_shape(call: str, written: str | None) -> None:
    cell = Cell(f"{VALUES}low, high = -2, -1\ny = jax.random.{call}  # here")
    assert " is passed as the dtype of jax.random.uniform, which takes " in cell.said
    assert "jax.random.uniform(key, shape, minval=low, maxval=high)." in cell.said
    assert cell.finding.code == (None if written is None else f"y = jax.random.{written}")
    if written is not None:
        y = cell.rewritten(cell.finding.code).names["y"]
        low, high = (-2, -1) if "2" in written or "low" in written else (0, 1)
        assert y.shape == (3,)
        assert low <= y.min() < y.max() < high


@pytest.mark.parametrize(
    ("call", "sizes"),
    [
        ("normal(key, 2, 3)", "(2, 3)"),
        ("normal(key, 5, 2, 3)", "(5, 2, 3)"),
        ("normal(key, v.shape[0], 3)", "(v.shape[0], 3)"),
        ("gamma(key, 2.0, 3, 4)", "(3, 4)"),
        ("uniform(key, 3, 1, 5)", "(3, 1, 5)"),
        ("normal(key, 3, 0.0, 1.0)", ""),
        ("normal(key, 0, 1, (3,))", ""),
    ],
)
def test_numbers_that_may_be_sizes_or_a_scale(call: str, sizes: str) -> None:
    cell = Cell(f"{VALUES}y = jax.random.{call}  # here")
    assert " is passed as the dtype of jax.random." in cell.said
    assert cell.finding.code is None
    if not sizes:
        assert "For a shape" not in cell.said
        return
    assert f"For a shape, pass its sizes as one tuple: {sizes}." in cell.said
    y = cell.rewritten(f"y = jax.random.{call.replace(sizes[1:-1], sizes)}").names["y"]
    assert y.shape == eval(sizes, {"v": cell.names["v"]})


def test_a_traced_scale_and_an_argument_of_a_function_around() -> None:
    cell = Cell(f"{VALUES}def g(key, s): return jax.random.normal(key, (3,), s) * s  # here\ny = g(key, 0.5)")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("s is passed as the dtype of jax.random.normal, which takes key, shape, dtype.")


@pytest.mark.parametrize(
    ("call", "said"), [("jnp.zeros(2, 3)", "takes a shape as one tuple"), ("v.view(-1)", "view")]
)
def test_numbers_with_another_meaning_keep_their_explanation(call: str, said: str) -> None:
    assert said in Cell(f"{VALUES}{call}").said
