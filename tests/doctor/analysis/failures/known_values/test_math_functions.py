"""Functions of ``math`` and NumPy whose arguments or results differ in JAX: the remedy works as it stands."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("written", "replacement"),
    [
        ("math.log(x, 2)", "jnp.log(x) / jnp.log(2)"),
        ("math.log(x + 1, n)", "jnp.log(x + 1) / jnp.log(n)"),
        ("math.floor(x)", "jnp.floor(x).astype(int)"),
        ("math.ceil(-x)", "jnp.ceil(-x).astype(int)"),
        ("math.trunc(-x)", "jnp.trunc(-x).astype(int)"),
    ],
)
def test_a_function_of_math_is_replaced_with_its_arguments(written: str, replacement: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x, n):
            return {written}  # here
        result = f(jnp.float32(2.75), jnp.float32(3))
    """)
    assert cell.finding.line == cell.here
    assert "is traced, so it has no value yet, but math." in cell.said
    assert f"Use {replacement} in place of {written}." in cell.said
    narrows = replacement.endswith("astype(int)")  # Python integers have no largest one, unlike JAX's
    assert cell.finding.code == (None if narrows else f"return {replacement}")
    result = cell.rewritten(f"return {replacement}").names["result"]
    expected = eval(written, {**cell.names, "x": 2.75, "n": 3.0})
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert (result.dtype.kind == "i") == isinstance(expected, int)


def test_bounds_of_clip_have_their_names_in_jax() -> None:
    cell = Cell("""
        @jax.jit
        def f(x):
            return np.clip(x, a_min=0, a_max=1)  # here
        result = f(jnp.arange(3.0))
    """)
    assert cell.finding.code == "return jnp.clip(x, min=0, max=1)"
    np.testing.assert_array_equal(cell.rewritten(cell.finding.code).names["result"], [0, 1, 1])


def test_other_keywords_are_to_be_checked() -> None:
    cell = Cell("""
        @jax.jit
        def f(x):
            return np.sqrt(x, casting="unsafe")
        f(jnp.arange(3.0))
    """)
    assert "Check the arguments of jnp.sqrt: not all have the names that they have in NumPy." in cell.said
    assert cell.finding.code is None
