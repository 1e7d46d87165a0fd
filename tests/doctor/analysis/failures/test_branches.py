"""An ``if`` whose branches only assign, or return, becomes a choice for each result, and computes the same."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
    def f(x, y, n):
        total, done = 0.0, False
        {body}
    def python(*given):
        return f(*given)
    inputs = [(-1.5, 0.5, 2), (0.25, -2.0, 3), (2.0, 2.0, 4), (3.0, 1.0, -1)]
    expected = [f(*each) for each in inputs]
    got = [jax.jit(f)(*each) for each in inputs]
"""

ASSIGNED = {
    "several names": (
        "if x >= y:  # here\n    x = x + 1\n    n = n * 2  # end\nreturn x + n",
        "x = jnp.where(x >= y, x + 1, x)",
    ),
    "one that the condition reads": (
        "if x > y:  # here\n    y = x\n    n += 1  # end\nreturn y, n",
        "n = jnp.where(x > y, n + 1, n)\ny = jnp.where(x > y, x, y)",
    ),
    "two that the condition reads": (
        "if x > y:  # here\n    x = x - 1\n    y = y + 1  # end\nreturn x, y",
        "condition = x > y\nx = jnp.where(condition, x - 1, x)\ny = jnp.where(condition, y + 1, y)",
    ),
    "the same with a variable of that name": (
        "condition = x\nif x > y:  # here\n    x = x - 1\n    y = y + 1  # end\nreturn x, y, condition",
        "x, y = jnp.where(x > y, x - 1, x), jnp.where(x > y, y + 1, y)",
    ),
    "exchanged": (
        "if x > y:  # here\n    x, y = y, x  # end\nreturn x, y",
        "x, y = jnp.where(x > y, y, x), jnp.where(x > y, x, y)",
    ),
    "exchanged with a temporary variable": (
        "if x > y:  # here\n    t = x\n    x = y\n    y = t  # end\nreturn x, y",
        "x, y = jnp.where(x > y, y, x), jnp.where(x > y, x, y)",
    ),
    "computed of what was assigned before": (
        "if x > 0:  # here\n    y = x * 2\n    n = y + 1  # end\nreturn y, n + 0.0",
        "y = jnp.where(x > 0, x * 2, y)\nn = jnp.where(x > 0, x * 2 + 1, n)",
    ),
    "in the other order": (
        "if x > 0:  # here\n    a = x\n    b = a + y\nelse:\n    b = y\n    a = b - x  # end\nreturn a, b",
        "a = jnp.where(x > 0, x, y - x)\nb = jnp.where(x > 0, x + y, y)",
    ),
    "elif": (
        "if x < 0:  # here\n    a = 0.0\nelif x > 1:\n    a = 1.0\nelse:\n    a = x  # end\nreturn a",
        "a = jnp.where(x < 0, 0.0, jnp.where(x > 1, 1.0, x))",
    ),
    "an if inside": (
        "if x > 0:  # here\n    y = y + 1\n    if y > 1:\n        x = x * y  # end\nreturn x, y",
        "condition = x > 0\nx = jnp.where(condition, jnp.where(y + 1 > 1, x * (y + 1), x), x)\ny = jnp.where(",
    ),
    "a number of Python before": ("if x < 0:  # here\n    total += x  # end\nreturn total", "total = jnp.where("),
    "a flag": ("if x < y:  # here\n    done = True  # end\nreturn done", "done = jnp.where(x < y, True, done)"),
    "a comparison": (
        "if x < y:  # here\n    done = x > 0  # end\nreturn done",
        "done = jnp.where(x < y, x > 0, done)",
    ),
    "and": (
        "if jnp.mean(x) > 0 and y > 0:  # here\n    y = y * 0.5  # end\nreturn y",
        "y = jnp.where(jnp.logical_and(jnp.mean(x) > 0, y > 0), y * 0.5, y)",
    ),
    "not": (
        "if not x > 0:  # here\n    x = jnp.zeros_like(x)  # end\nreturn x",
        "x = jnp.where(jnp.logical_not(x > 0), jnp.zeros_like(x), x)",
    ),
    "returned tuples": (
        "if x > y:  # here\n    return x, n + 1\nreturn y, n  # end",
        "return (jnp.where(x > y, x, y), jnp.where(x > y, n + 1, n))",
    ),
    "returned in three branches": (
        "if x < 0:  # here\n    return 0.0\nelif x > 1:\n    y = y + 1\n    return y\nelse:\n    return x  # end",
        "return jnp.where(x < 0, 0.0, jnp.where(x > 1, y + 1, x))",
    ),
}


@pytest.mark.parametrize("case", ASSIGNED)
def test_the_code_computes_what_python_computes(case: str) -> None:
    body, code = ASSIGNED[case]
    cell = Cell(SOURCE.format(body=body.replace("\n", "\n        ")))
    assert cell.finding.line == cell.here
    assert code in str(cell.finding.code)
    new = cell.rewritten(str(cell.finding.code))
    assert new.error is None, repr(new.error)
    for expected, got in zip(cell.names["expected"], new.names["got"], strict=True):
        jax.tree.map(np.testing.assert_allclose, got, expected)


@pytest.mark.parametrize(
    "body",
    [
        "if x > y:  # here\n    n = n + len(print('called') or '')\nreturn n",
        "if x > y:  # here\n    x = jnp.sqrt(x)\nreturn x",  # NaN in the other branch
        "if x > y:  # here\n    x = jnp.stack([x, x])\nreturn jnp.sum(x)",
        "if x > y:  # here\n    x = x + 1\n    assert True\nreturn x",
        "if x > y:  # here\n    z = x\n    y = z\nif n == 2:\n    y = y + (z if x > y else 0)\nreturn y",
        "steps = 2\nif x > y:  # here\n    steps = 3\nfor _ in range(steps): x = x + 1\nreturn x",
        "table, at = [x, y], 0\nif x > y:  # here\n    at = 1\nreturn table[at]",
        "if x > y:  # here\n    return x\nelif y > 0:\n    y = y + 1\nreturn y",
    ],
)
def test_nothing_else_is_rewritten(body: str) -> None:
    cell = Cell(SOURCE.format(body=body.replace("\n", "\n        ")))
    assert cell.finding.line == cell.here
    assert cell.finding.code is None


def test_a_carry_keeps_its_types() -> None:
    cell = Cell("""
        def step(carry, x):
            best, at = carry
            if x > best:  # here
                best = x
                at = at + 1  # end
            return (best, at), best
        result = lax.scan(step, (0.0, 0), jnp.array([1.0, 0.5, 2.0]))
    """)
    assert cell.finding.code is not None
    new = cell.rewritten(cell.finding.code)
    result: Any = new.names["result"]
    assert result[0] == (2.0, 2)
    assert jnp.array_equal(result[1], jnp.array([1.0, 1.0, 2.0]))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("s = s if not done else jnp.zeros_like(s)", "jnp.where(jnp.logical_not(done), s, jnp.zeros_like(s))"),
        ("s = (s if not done else 0.0) + 1", "jnp.where(jnp.logical_not(done), s, 0.0) + 1"),
        ("s = s + 1 if not s > 1 else s", "jnp.where(jnp.logical_not(s > 1), s + 1, s)"),
    ],
)
def test_an_expression_that_chooses_by_what_is_not_true(line: str, code: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(s):
            done = s > 2
            {line}  # here
            return s
        y = f(jnp.float32(1)), f(jnp.float32(3))
    """)
    assert cell.finding.code == f"s = {code}"
    values = {"jnp": jnp, "s": jnp.float32(1), "done": False}, {"jnp": jnp, "s": jnp.float32(3), "done": True}
    expected = [eval(line.removeprefix("s = "), each) for each in values]
    assert [float(each) for each in cell.rewritten(f"s = {code}").names["y"]] == [float(each) for each in expected]


@pytest.mark.parametrize(
    ("test", "code"),
    [
        (
            "jnp.isnan(g).any() or not jnp.isfinite(g).all()",
            "jnp.logical_or(jnp.isnan(g).any(), jnp.logical_not(jnp.isfinite(g).all()))",
        ),
        ("jnp.any(jnp.isnan(g)) and g.sum() > 1", "jnp.logical_and(jnp.any(jnp.isnan(g)), g.sum() > 1)"),
        ("jnp.all(g > 0) or own(g)", None),
        ("jnp.isnan(g).any() or jnp.all([1, 2])", None),
        ("jnp.isnan(g).any(axis=0) or g.sum() > 1", None),
    ],
)
def test_a_branch_by_the_reductions_of_several_conditions(test: str, code: str | None) -> None:
    cell = Cell(f"""
        own = lambda x: x.sum() > 0
        @jax.jit
        def f(g):
            if {test}:  # here
                g = jnp.zeros_like(g)  # end
            return g
        y = f(jnp.array([1.0, jnp.nan]))
    """)
    written = None if code is None else f"g = jnp.where({code}, jnp.zeros_like(g), g)"
    assert cell.finding.code == written
    if written is not None:
        expected = [0.0, 0.0] if " or " in test else [1.0, jnp.nan]
        np.testing.assert_array_equal(cell.rewritten(written).names["y"], expected)
