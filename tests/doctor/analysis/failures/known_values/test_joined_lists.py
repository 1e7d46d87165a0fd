"""Tests for lists that a traced value chooses, and that + joins."""

import numpy as np
import pytest
from failing_cells import Cell

BEAM = """
    def beam(x, k):
        scores, paths = jnp.zeros(k), {start}
        for row in x:
            scores, best = lax.top_k((scores[:, None] + row).ravel(), k)
            {statement}
        return paths
    x = jnp.array([[1.0, 2.0, 0.0], [0.5, 3.0, 1.0]])
    paths = {call}
"""


def beam(
    statement: str, start: str = "[[] for _ in range(k)]", call: str = "jax.jit(beam, static_argnums=1)"
) -> Cell:
    return Cell(BEAM.format(statement=f"{statement}  # here", start=start, call=f"{call}(x, 2)"))


def test_lists_that_are_joined_become_one_array() -> None:
    cell = beam("paths = [paths[i // x.shape[1]] + [i % x.shape[1]] for i in best]")
    assert cell.finding.line == cell.here
    code = "paths = jnp.concatenate([paths[best // x.shape[1]], (best % x.shape[1])[:, None]], axis=1)"
    assert f"Keep one array with a row for each list: {code}." in cell.said
    assert "Arrays in their place would be added, without an error." in cell.said
    assert "Make the sequence an array" not in cell.said
    assert cell.said.endswith("To go on now, call beam without jit.")
    again = beam(code, "jnp.zeros((k, 0), int)")
    plain = beam("paths = [paths[i // x.shape[1]] + [i % x.shape[1]] for i in best]", call="beam")
    np.testing.assert_array_equal(again.names["paths"], np.array(plain.names["paths"]))


@pytest.mark.parametrize(
    "statement",
    [
        "paths = [paths[i // 3] + (i % 3,) for i in best]",
        "paths = [paths[i // 3] + [i % 3, 0] for i in best]",
        "paths = [[0] + paths[i // 3] for i in best]",
        "paths = [paths[-i % 3] + [i] for i in best]",
        "paths = [paths[i // 3] + [i] for i in best if k]",
        "paths = [paths[i * i] + [i] for i in best]",
        "paths = [paths[i // 3] + [i] for i in [*best]]",
        "new = [paths[i // 3] + [i] for i in best]",
        "first = paths[best[0]] + [0]",
        "first = paths[best[0]] + paths[0]",
    ],
)
def test_other_joins_are_only_described(statement: str) -> None:
    cell = beam(statement)
    assert "Arrays in their place would be added" in cell.said
    assert "jnp.concatenate()." in cell.said
    assert "To go on now, call beam without jit." in cell.said


def test_the_call_without_jit_is_named_once() -> None:
    said = beam(
        "paths = [paths[i // 3] + [i % 3] for i in best]", call="f = jax.jit(beam, static_argnums=1); y = f"
    ).said
    assert said.count("To go on now") == 1
    assert "f.__wrapped__(x, 2)" in said


def test_lists_of_different_lengths() -> None:
    said = beam("first = paths[best[0]]", start="[[1], [2, 3]]").said
    assert "lists of different lengths, or empty, so they make no array. Pad them to one length" in said
    assert "Make the sequence an array" in beam("first = paths[best[0]]", start="[[1, 2], [2, 3]]").said


def test_an_array_and_a_list_are_joined_by_a_function() -> None:
    said = beam("paths = [jnp.array(paths)[i // 3] + [i % 3] for i in best]").said
    assert "write jnp.concatenate([jnp.array(paths)[i // 3], jnp.array([i % 3])]): + of arrays adds" in said
    assert "one of a fixed size is better" in said
    for code in ("x + [1]", "x + [1, 2, 3, 4]", "[1, 2, 3, 4] + x"):
        cell = Cell(f"x = jnp.ones(3)\ny = {code}  # here")
        assert "To join them, write jnp.concatenate([" in cell.said
        assert "under jit" not in cell.said
        assert cell.finding.code is None
    cell = Cell("x = jnp.ones(3)\ny = x + [1, 2, 3]  # here")
    assert cell.said.endswith("added element by element; jnp.concatenate([x, jnp.array([1, 2, 3])]) joins.")
    assert "concatenate" not in Cell("x = jnp.ones((2, 3))\ny = x + [1, 2, 3]").said
    assert "concatenate" not in Cell("x = jnp.ones(3)\ny = x - [1, 2, 3]").said
