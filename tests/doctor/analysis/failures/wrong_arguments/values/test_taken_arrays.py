"""An array that was taken from another one is replaced alone: the other one keeps its elements, unlike in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

LOOP = """
def f(x):
    for {target} in {items}:
        {before}
        {element} = 9  # here
        {after}
    return x
f({given})
"""


@pytest.mark.parametrize(
    ("taken", "back"),
    [
        ("x[0]", "x = x.at[0].set(row)"),
        ("x[:, 1]", "x = x.at[:, 1].set(row)"),
        ("parts['w']", "parts['w'] = row"),
        ("rows[1]", "rows[1] = row"),
    ],
)
def test_a_row_is_written_back(taken: str, back: str) -> None:
    source = f"""
        x = jnp.zeros((2, 2))
        parts = {{"w": jnp.zeros(2)}}
        rows = [jnp.zeros(2), jnp.zeros(2)]
        row = {taken}
        row[1] = 9  # here
    """
    cell = Cell(source)
    assert (
        f"{taken}, from which row was taken, stays as it is. To change that as well, write {back} after" in cell.said
    )
    assert cell.finding.code == "row = row.at[1].set(9)"
    again = cell.rewritten(f"{cell.finding.code}\n{back}")
    np.testing.assert_array_equal(eval(taken, again.names), [0, 9])


@pytest.mark.parametrize("taken", ["x", "x.T", "x[rows()]"])
def test_nothing_is_written_back_where_it_is_unknown_how(taken: str) -> None:
    cell = Cell(f"""
        def rows():
            return 0
        def f(x):
            row = {taken}
            row[1] = 9
        f(jnp.zeros((2, 2)))
    """)
    assert f"{taken}, from which row was taken, stays as it is." in cell.said
    assert "write x" not in cell.said


@pytest.mark.parametrize(
    ("target", "items", "given", "whole"),
    [
        ("row", "x", "jnp.zeros((2, 2))", "x = x.at[i, …].set(…), where i is the position of row in it."),
        ("i, row", "enumerate(x)", "jnp.zeros((2, 2))", "x = x.at[i, …].set(…)"),
        ("row, i", "zip(x, range(2))", "jnp.zeros((2, 2))", "x = x.at[i, …].set(…)"),
        ("row", "x", "[jnp.zeros(2)]", "Keep each new one, for example in a list."),
    ],
)
def test_a_row_of_a_loop_that_nothing_reads_is_lost(target: str, items: str, given: str, whole: str) -> None:
    source = LOOP.format(target=target, items=items, element="row[0]", given=given, before="pass", after="pass")
    cell = Cell(source)
    assert "A new row would be lost: nothing in the loop reads it, and x stays as it is." in cell.said
    assert whole in cell.said
    assert cell.finding.code is None


def test_a_row_of_a_loop_that_is_read_again_is_replaced() -> None:
    cell = Cell("""
        kept = []
        for row in jnp.zeros((2, 2)):
            row[0] = 9  # here
            kept.append(row)
    """)
    assert "jnp.zeros((2, 2)), from which row was taken, stays as it is." in cell.said
    again = cell.rewritten(str(cell.finding.code))
    np.testing.assert_array_equal(np.stack(again.names["kept"]), [[9, 0], [9, 0]])


def test_an_array_of_its_own_was_taken_from_nothing() -> None:
    source = LOOP.format(
        target="i", items="range(2)", element="row[i]", given="1", before="row = jnp.zeros(2)", after="pass"
    )
    assert "taken" not in Cell(source).said
    assert "lost" not in Cell(source).said
