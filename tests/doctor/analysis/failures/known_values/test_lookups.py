"""A number by which Python looks up an item becomes static, or the choice becomes one that JAX can make."""

from __future__ import annotations

import pytest
from failing_cells import Cell

TABLES = """
    by_number = {0: jnp.sin, 1: jnp.cos}
    by_code = {10: jnp.sin, 20: jnp.cos}
    functions = [jnp.sin, jnp.cos]
    numbers = (1.0, 2.0)
"""


def _cell(line: str, given: str) -> Cell:
    return Cell(f"""{TABLES}
    @jax.jit
    def f(x, i):
        {line}  # here
    f(jnp.arange(4.0), {given})
    """)


@pytest.mark.parametrize(
    "line",
    [
        "return by_number[int(i)](x)",
        "return by_number.get(int(i))(x)",
        "return functions[int(i)](x)",
        "return functions[int(i) - 1](x)",
        "return x * numbers[int(i)]",
        "return {1: x, 2: -x}[int(i)]",
        "return [x, -x][int(i)]",
    ],
)
def test_a_python_number_that_chooses_an_item_becomes_static(line: str) -> None:
    cell = _cell(line, "1")
    assert "i is a Python int where f is called: declare it static." in cell.said
    assert cell.finding.code is not None
    assert cell.rewritten(cell.finding.code).error is None


def test_a_number_that_chooses_a_function_in_a_later_line_becomes_static() -> None:
    cell = Cell(f"""{TABLES}
    @jax.jit
    def f(x, i):
        which = int(i)  # here
        return by_number[which](x)
    f(jnp.arange(4.0), 1)
    """)
    assert cell.finding.code is not None
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("return by_number[int(i)](x)", "lax.switch(i, [by_number[0], by_number[1]], x)"),
        ("return by_number[i.item()](x)", "lax.switch(i, [by_number[0], by_number[1]], x)"),
        ("return by_code[int(i)](x)", "lax.switch(position, list(by_code.values()), x)"),
        ("return functions[int(i)](x)", "lax.switch(i, functions, x)"),
        ("return functions[int(i) - 1](x)", "lax.switch(i - 1, functions, x)"),
        ("return x * numbers[int(i)]", "jnp.array(numbers)[i]"),
    ],
)
def test_an_array_that_chooses_an_item_chooses_it_in_jax(line: str, advice: str) -> None:
    cell = _cell(line, "jnp.int32(1)")
    assert advice in cell.said
    assert "leave out" not in cell.said


@pytest.mark.parametrize("given", ["1", "jnp.int32(1)"])
def test_an_index_of_an_array_stays_an_array(given: str) -> None:
    assert "Keep it an array: leave out int." in _cell("return x[int(i)]", given).said
