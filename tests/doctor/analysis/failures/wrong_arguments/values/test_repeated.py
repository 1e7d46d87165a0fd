"""A list that is multiplied by an integer of JAX is to be repeated, or its items are to be multiplied."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
{decorator}
def f(x, n):
    result = {written}  # here
    return jnp.stack(result)
result = f(2.0, {n})
"""


@pytest.mark.parametrize("written", ["[x] * n", "n * [x]", "n * (x,)"])
def test_the_number_of_repetitions_is_made_static(written: str) -> None:
    cell = Cell(SOURCE.format(decorator="@jax.jit", written=written, n="3"))
    assert cell.finding.line == cell.here
    assert cell.said.startswith("n (i32[]) is traced, so it has no value yet, but it is used as the length of a list")
    assert "depends on the argument n of f" in cell.said
    assert cell.finding.code == '@functools.partial(jax.jit, static_argnames="n")'
    np.testing.assert_array_equal(cell.rewritten(cell.finding.code).names["result"], [2, 2, 2])


@pytest.mark.parametrize(("written", "n"), [("[x] * n", "jnp.int32(3)"), ("[x] * (n + 1)", "3")])
def test_another_number_has_to_be_one_of_python(written: str, n: str) -> None:
    cell = Cell(SOURCE.format(decorator="@jax.jit", written=written, n=n))
    assert "To repeat the list, the number has to be a Python int, which is known when the function is" in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize("written", ["[1, 2] * x", "x * [1, 2]"])
def test_items_are_multiplied_by_a_float(written: str) -> None:
    cell = Cell(SOURCE.format(decorator="@jax.jit", written=written, n="3"))
    assert "[1, 2] is a list, but * of JAX takes arrays and numbers." in cell.said
    assert cell.finding.code is not None
    np.testing.assert_array_equal(cell.rewritten(cell.finding.code).names["result"], [2, 4])


def test_an_array_of_one_integer_is_converted() -> None:
    cell = Cell(SOURCE.format(decorator="", written="[x] * n", n="jnp.int32(3)"))
    assert "the number has to be a Python int, int(n)." in cell.said
    again = Cell(SOURCE.format(decorator="", written="[x] * int(n)", n="jnp.int32(3)"))
    np.testing.assert_array_equal(again.names["result"], [2, 2, 2])
