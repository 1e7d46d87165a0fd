"""A size that JAX computed of shapes alone is traced, although Python knows it."""

from __future__ import annotations

import pytest
from failing_cells import Cell

SOURCE = """
n = 1
@jax.jit
def f(x):
    {first}
    {line}  # here
    return x
f(jnp.arange(6.0).reshape(2, 3))
"""


@pytest.mark.parametrize(
    ("first", "line"),
    [
        ("n = jnp.array(x.shape[0]) // 2", "x = x[:n]"),
        ("n = jnp.prod(jnp.array(x.shape))", "x = x.reshape(n)"),
        ("pass", "for i in range(jnp.array(x.shape[0])): x = x + i"),
        ("n = jnp.array(x.size)", "x = jnp.zeros(int(n))"),
    ],
)
def test_a_size_of_shapes_alone_is_computed_in_python(first: str, line: str) -> None:
    cell = Cell(SOURCE.format(first=first, line=line))
    assert cell.finding.line == cell.here
    assert "The value depends on none of its arguments." in cell.said
    assert "Compute it with Python or NumPy, for example x.shape[0] // 2 or math.prod(x.shape)." in cell.said
    assert "dynamic_slice" not in cell.said


@pytest.mark.parametrize(
    ("first", "line"),
    [
        ("n = jnp.argmax(x)", "x = x[:n]"),
        ("n = x.sum().astype(int)", "x = jnp.zeros(n)"),
        ("pass", "x = x * int(jnp.array(2))"),  # here an array does as well
    ],
)
def test_other_values_are_not_to_be_computed_in_python(first: str, line: str) -> None:
    assert "Compute it with Python" not in Cell(SOURCE.format(first=first, line=line)).said
