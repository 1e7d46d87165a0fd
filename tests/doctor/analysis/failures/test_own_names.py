"""Explanations in the user's own names: sizes that depend on values, chained comparisons, indexed sequences."""

from __future__ import annotations

import pytest
from failing_cells import Cell

SOURCE = """
table, functions = [1.0, 2.0, 3.0], [jnp.sin, jnp.cos]
settings = {{"rates": (1.0, 2.0)}}
@jax.jit
def f(x, t, i, s):
    {line}  # here
    return y
result = f(jnp.arange(6.0), 3.0, jnp.int32(1), 2.0)
"""


def _cell(line: str) -> Cell:
    cell = Cell(SOURCE.format(line=line))
    assert cell.finding.line == cell.here
    return cell


@pytest.mark.parametrize("line", ["y, = jnp.where(x > t)", "y = jnp.where(x > t)[0]", "(y,) = jnp.where(x > t)"])
def test_a_size_that_depends_on_values_is_the_problem(line: str) -> None:
    said = _cell(line).said
    assert said.startswith("How many elements jnp.where returns depends on traced values")
    assert "Give it size=" in said
    assert "three arguments" in said
    assert "i32[]" not in said


@pytest.mark.parametrize(
    ("line", "also"),
    [
        ("y = 1 if 0 < x.sum() < 10 else 2", "jnp.where(condition, a, b)"),
        ("y = table if 0 < x.sum() < 10 else None", ""),
        ("y = -x\n    while 0 < x.sum() < 10: x = x - 1", "lax.while_loop"),
        ("y = 0 < x.sum() < 10", "where(), cond() or while_loop()"),
        ("y = jnp.where(0 < x.sum() < 10, 1, 2)", "where(), cond() or while_loop()"),
    ],
)
def test_a_chained_comparison_is_written_out(line: str, also: str) -> None:
    said = Cell(SOURCE.format(line=line)).said
    assert also in said
    assert not also or "Write 0 < x.sum() < 10 as (0 < x.sum()) & (x.sum() < 10)." in said


def test_a_comparison_of_lists_is_not_written_with_an_operator_of_arrays() -> None:
    assert " & " not in _cell("y = x if [s] == [s + 1] == [t] else -x").said


@pytest.mark.parametrize(
    ("line", "advised"),
    [
        ("y = table[i]", "jnp.array(table)[i]"),
        ("y = settings['rates'][i + 1]", "jnp.array(settings['rates'])[i + 1]"),
        ("y = functions[i](x)", "lax.switch(i, functions, x)"),
    ],
)
def test_a_sequence_is_advised_under_its_own_name(line: str, advised: str) -> None:
    assert advised in _cell(line).said
    assert Cell(SOURCE.format(line=f"y = {advised}")).error is None
