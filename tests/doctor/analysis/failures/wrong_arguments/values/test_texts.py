"""A number in quotes among operands, and an array where Python needs one integer."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
rate, name = "0.5", "relu"
{decorator}
def f(x):
    z = {line}  # here
    return z
result = f(jnp.array([1.0, 2.0]))
"""


@pytest.mark.parametrize("decorator", ["", "@jax.jit"])
@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("x - rate * x", "z = x - float(rate) * x", [0.5, 1]),
        ("x * rate", "z = x * float(rate)", [0.5, 1]),
        ("x + rate", "z = x + float(rate)", [1.5, 2.5]),
        ("rate + x", "z = float(rate) + x", [1.5, 2.5]),
        ("x ** '2'", "z = x ** int('2')", [1, 4]),
        ("x / rate", "z = x / float(rate)", [2, 4]),
    ],
)
def test_a_number_in_quotes_is_converted(decorator: str, line: str, code: str, expected: list[float]) -> None:
    cell = Cell(SOURCE.format(decorator=decorator, line=line))
    assert cell.finding.line == cell.here
    assert "is a str, but" in cell.said
    assert "of JAX takes arrays and numbers." in cell.said
    assert cell.finding.code == code
    np.testing.assert_allclose(cell.rewritten(code).names["result"], expected)


@pytest.mark.parametrize("line", ["x - name", "name * x", "name + x"])
def test_another_text_is_not_converted(line: str) -> None:
    cell = Cell(SOURCE.format(decorator="@jax.jit", line=line))
    assert cell.finding.line == cell.here
    assert "name is a str, but" in cell.said
    assert "A number in a text, as from a file, is converted with float()." in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize("line", ["[5, 6][x]", "[5, 6][x[0]]", "list(range(x[0]))"])
def test_an_array_is_no_index_of_a_list(line: str) -> None:
    cell = Cell(SOURCE.format(decorator="", line=line))
    assert cell.finding.line == cell.here
    assert "An array is used where Python needs one integer, but it has an axis, or holds no integer." in cell.said
    assert "make the list an array: jnp.array(items)[i]" in cell.said
