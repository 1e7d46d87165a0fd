"""Tests for mapped axes of different sizes."""

import pytest
from failing_cells import Cell

CELL = """
    def f(p, t, x): return p * t + x
    t, x = jnp.arange(5.0), jnp.ones((2, 7))
    y = {call}  # here
"""


@pytest.mark.parametrize(
    ("call", "pairs"),
    [
        (
            "jax.vmap(f, in_axes=(None, 0, 1))(2.0, t, x)",
            "jax.vmap(jax.vmap(f, in_axes=(None, None, 1)), in_axes=(None, 0, None))(2.0, t, x)",
        ),
        (
            "jax.vmap(f, (0, 0, -1))(t, t, x)",
            "jax.vmap(jax.vmap(f, in_axes=(None, None, -1)), in_axes=(0, 0, None))(t, t, x)",
        ),
    ],
)
def test_a_function_is_mapped_for_all_pairs(call: str, pairs: str) -> None:
    cell = Cell(CELL.format(call=call))
    assert cell.finding.line == cell.here
    assert f"map it twice: {pairs}, of which the result begins with the axes (5, 7)." in cell.said
    assert "of t with x" in cell.said or "of t and t with x" in cell.said
    assert cell.finding.code is None  # equal sizes may be meant
    assert Cell(CELL.format(call=pairs)).names["y"].shape == (5, 7, 2)


@pytest.mark.parametrize(
    "call",
    [
        "jax.vmap(f, in_axes=axes)(2.0, t, x)",
        "jax.vmap(f, in_axes=(None, 0, 1), out_axes=1)(2.0, t, x)",
        "jax.vmap(f)(t, jnp.ones(5), x)",
        "jax.vmap(f, in_axes=(0, 0, 1))(jnp.ones(3) * 2, t, x)",
        "jax.vmap(f, in_axes=(None, 0, 1))(*(2.0, t, x))",
        "g(2.0, t, x)",
    ],
)
def test_other_calls_get_an_example(call: str) -> None:
    source = CELL.replace("y =", "axes = (None, 0, 1); g = jax.vmap(f, in_axes=axes); y =")
    cell = Cell(source.format(call=call))
    assert "The mapped axes have different sizes" in cell.said
    assert "as in jax.vmap(jax.vmap(f, in_axes=(None, 0)), in_axes=(0, None))(a, b)." in cell.said
