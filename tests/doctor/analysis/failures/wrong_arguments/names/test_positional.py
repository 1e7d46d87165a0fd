"""Positional arguments that methods have in PyTorch alone: the line that computes what PyTorch computes."""

from __future__ import annotations

import pytest
from failing_cells import Cell

VALUES = "x, n = jnp.array([[1.0, 5.0], [7.0, 2.0]]), 1\n"


@pytest.mark.parametrize(
    ("code", "written", "result"),
    [
        ("y = x.sum(1, True)", "y = x.sum(1, keepdims=True)", [[6.0], [9.0]]),
        ("y = jnp.mean(x, 0, True)", "y = jnp.mean(x, 0, keepdims=True)", [[4.0, 3.5]]),
        ("y = x.any(1, True)", "y = x.any(1, keepdims=True)", [[True], [True]]),
        ("_, y = x.max(1, True)", "y = x.argmax(1, keepdims=True)", [[1], [0]]),
        ("y = x[None].flatten(1)", "y = x[None].reshape(*x[None].shape[:1], -1)", [[1.0, 5.0, 7.0, 2.0]]),
        ("y = x.flatten(start_dim=-1)", "y = x.reshape(*x.shape[:-1], -1)", [[1.0, 5.0], [7.0, 2.0]]),
        ("y = x[0].repeat(2, 1)", "y = jnp.tile(x[0], (2, 1))", [[1.0, 5.0], [1.0, 5.0]]),
        ("y = x[0].repeat((2, 1))", "y = jnp.tile(x[0], (2, 1))", [[1.0, 5.0], [1.0, 5.0]]),
        ("y = x[0].repeat(1, 1, 2)", "y = jnp.tile(x[0], (1, 1, 2))", [[[1.0, 5.0, 1.0, 5.0]]]),
        ("y = x[0]; del y[0]", "y = jnp.delete(y, 0, axis=0)", [5.0]),
        ("y = x; del y[n]", "y = jnp.delete(y, n, axis=0)", [[1.0, 5.0]]),
    ],
)
def test_the_line_computes_what_pytorch_computes(code: str, written: str, result: object) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.error is not None
    assert cell.finding.code == written
    before = code.partition("; ")[0] + "; " if "; " in code else ""
    assert cell.rewritten(before + written).names["y"].tolist() == result


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("y = x.std(1, True)", "x.std takes no keepdims by position: its next argument is dtype."),
        ("y = x.std(1, True)", "PyTorch divides by n - 1 by default"),
        ("y = (x + 1).flatten(1)", "Write x.reshape(*x.shape[:1], -1)."),
        ("y = x.repeat(2, 3)", "To repeat the whole array, write jnp.tile(x, (2, 3))."),
        ("del x[:1]", "Make an array without it: x = jnp.delete(x, index, axis=0)."),
        ("y = x.max(1, x)", ""),
    ],
)
def test_what_is_said(code: str, said: str) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    if said:
        assert said in cell.said
