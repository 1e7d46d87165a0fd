"""An operand that lacks an axis gets it where its sizes fit at one place alone."""

from __future__ import annotations

import pytest
from failing_cells import Cell

SOURCE = """
    x, y, z = jnp.ones((5, 3)), jnp.arange(15.0).reshape(5, 3), jnp.ones((2, 4, 6))
    m, n, pair = jnp.arange(5) > 2, jnp.ones(3), jnp.ones((2, 6))
    def f(x, y, z, m):
        {line}  # here
        return x
    got = jax.jit(f)(x, y, z, m)
    def wanted(x, y, z, m):
        {wanted}
        return x
"""

LINES = [
    ("return m * x", "return m[:, None] * x"),
    ("return jnp.where(m, x, 0)", "return jnp.where(m[:, None], x, 0)"),
    ("return jnp.where(m, x, y)", "return jnp.where(m[:, None], x, y)"),
    ("return jnp.where(m, x, n)", "return jnp.where(m[:, None], x, n)"),
    ("return jnp.where(~m, 0, x).sum()", "return jnp.where((~m)[:, None], 0, x).sum()"),
    ("return jnp.where(y.sum(1) > 9, x, y)", "return jnp.where((y.sum(1) > 9)[:, None], x, y)"),
    ("x = y - y.mean(1)", "x = y - y.mean(1)[:, None]"),
    ("x += y.mean(1)", "x += y.mean(1)[:, None]"),
    ("return jnp.maximum(y.mean(1), y)", "return jnp.maximum(y.mean(1)[:, None], y)"),
    ("return y > y.mean(1)", "return y > y.mean(1)[:, None]"),
    ("return z * pair", "return z * pair[:, None]"),
    ("return z * z.sum((1, 2))", "return z * z.sum((1, 2))[:, None, None]"),
]


@pytest.mark.parametrize(("line", "code"), LINES)
def test_the_axis_is_written_in_its_place(line: str, code: str) -> None:
    cell = Cell(SOURCE.format(line=line, wanted=code))
    assert cell.finding.line == cell.here
    assert cell.finding.code == code
    assert cell.said.splitlines()[-1].startswith("Fits in shape: ")
    new = cell.rewritten(code)
    assert new.error is None
    assert new.names["jnp"].array_equal(new.names["got"], new.names["wanted"](*map(new.names.get, "xyzm")))


@pytest.mark.parametrize(
    "line",
    [
        "return jnp.ones((5, 5, 3)) * m",  # two axes have its size
        "return x * jnp.ones(4)",  # none has
        "m = m * 1.0; m += x; return m",  # the variable keeps its shape
        "return jnp.where(m, x, jnp.ones(4))",
    ],
)
def test_nothing_is_written_without_one_place(line: str) -> None:
    cell = Cell(SOURCE.format(line=line, wanted="pass"))
    assert cell.finding.line == cell.here
    assert cell.finding.code is None


def test_inside_vmap_the_shapes_are_those_of_one_element() -> None:
    cell = Cell("""
        def f(x, m):
            return jnp.where(m, x, 0)  # here
        result = jax.vmap(f)(jnp.ones((2, 5, 3)), jnp.ones((2, 5), bool))
    """)
    assert cell.finding.code == "return jnp.where(m[:, None], x, 0)"
    assert cell.rewritten(cell.finding.code).names["result"].shape == (2, 5, 3)
