"""Functions that change arrays of NumPy in place: the line as JAX takes it, which assigns the new array."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("line", "written", "result"),
    [
        ("jnp.fill_diagonal(x, 9)", "x = jnp.fill_diagonal(x, 9, inplace=False)", [[9, 2], [3, 9]]),
        ("jnp.put(x, 1, 9)", "x = jnp.put(x, 1, 9, inplace=False)", [[1, 9], [3, 4]]),
        ("jnp.place(x, x > 1, m)", "x = jnp.place(x, x > 1, m, inplace=False)", [[1, 7], [7, 7]]),
        ("x = jnp.put(x, 1, 9)", "x = jnp.put(x, 1, 9, inplace=False)", [[1, 9], [3, 4]]),
    ],
)
def test_the_new_array_is_assigned(line: str, written: str, result: list[list[int]]) -> None:
    cell = Cell(f"x, m = jnp.array([[1, 2], [3, 4]]), jnp.array([7])\n{line}  # here")
    assert "cannot change x in place" in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).names["x"].tolist() == result


@pytest.mark.parametrize("line", ["jnp.put(x + 1, 1, 9)", "jnp.put(d['x'], 1, 9)"])
def test_nothing_is_written_without_a_variable(line: str) -> None:
    cell = Cell(f"x = jnp.ones(3)\nd = dict(x=x)\n{line}  # here")
    assert "Pass inplace=False" in cell.said
    assert cell.finding.code is None


def test_a_variable_of_the_module_is_not_replaced_in_a_function() -> None:
    cell = Cell("x = jnp.ones(3)\ndef f():\n    jnp.put(x, 1, 9)  # here\nf()")
    assert cell.finding.code is None
