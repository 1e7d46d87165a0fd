"""A function that Python calls within another one, as in ``list(map(float, x))``, is what needs a number."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
@jax.jit
def f(x):
    return {returned}
result = f(jnp.arange(4.0))
"""


@pytest.mark.parametrize(
    ("returned", "function", "old", "new"),
    [
        ("jnp.array(list(map(float, x)))", "float", "map(float, x)", "x"),
        ("sum(map(float, x))", "float", "map(float, x)", "x"),
        ("jnp.array([*map(int, x / 2)])", "int", "map(int, x / 2)", "(x / 2).astype(int)"),
        ("jnp.array(list(map(math.sqrt, x)))", "math.sqrt", "math.sqrt", "jnp.sqrt"),
    ],
)
def test_the_mapped_function_is_named_and_replaced(returned: str, function: str, old: str, new: str) -> None:
    cell = Cell(SOURCE.format(returned=returned))
    assert cell.said.startswith(f"A value (f32[]) is traced, so it has no value yet, but {function} needs one.")
    assert f"{new} in place of {old}." in cell.said
    again = Cell(SOURCE.format(returned=returned.replace(old, new)))
    assert cell.fallback is not None
    np.testing.assert_allclose(again.names["result"], eval(cell.fallback, cell.names))


def test_mapped_items_of_a_list_become_one_array() -> None:
    source = SOURCE.format(returned="x[0] * list(map(float, x))[1]").replace("f(jnp.arange(4.0))", "f([2, 3])")
    cell = Cell(source)
    assert "jnp.asarray(x, dtype=float) in place of map(float, x)" in cell.said
    again = Cell(source.replace("list(map(float, x))", "jnp.asarray(x, dtype=float)"))
    assert again.names["result"] == 6


@pytest.mark.parametrize("returned", ["jnp.array(sorted(x, key=float))", "jax.tree.map(float, [x[0]])"])
def test_a_function_that_is_passed_otherwise_is_named(returned: str) -> None:
    cell = Cell(SOURCE.format(returned=returned))
    assert "but float needs one." in cell.said
    assert "float needs numbers, not traced values." in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("returned", "function"),
    [
        ("jnp.array(list(filter(lambda each: each > 1, x)))", "filter"),
        ("sum(filter(None, x))", "filter"),
        ("all(map(bool, x))", "bool"),
        ("any(x > 3)", "any"),
    ],
)
def test_the_function_that_needs_a_condition_is_named(returned: str, function: str) -> None:
    cell = Cell(SOURCE.format(returned=returned))
    assert isinstance(cell.error, jax.errors.TracerBoolConversionError)
    assert f"no value that is true or false yet, but {function} needs one." in cell.said
