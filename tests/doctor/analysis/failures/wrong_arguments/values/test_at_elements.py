"""``x.at[i]`` that is called, computed with, or has no index."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("x.at[0] += 1", "x.at[i] is no element", "x = x.at[0].add(1)"),
        ("x.at[0, 1:] *= 2", "x.at[i] is no element", "x = x.at[0, 1:].multiply(2)"),
        ("x.at[0] //= 2", "x.at[i] is no element", None),
        ("x.at[0](3)", "x.at[i] is no element", "x = x.at[0].set(3)"),
        ("y = x.at[0](3)", "x.at[i] is no element", "y = x.at[0].set(3)"),
        ("y = x.at[0] + 1", "and x[i] is the element", "y = x[0] + 1"),
        ("y = 2 * x.at[0]", "and x[i] is the element", "y = 2 * x[0]"),
        ("x = x.at(0).set(1)", "x.at is a place for an index", "x = x.at[0].set(1)"),
        ("x = x.at.set(1)", "x.at[...] stands for all elements", None),
        ("x = x.at[0].sub(1)", "x.at[i] has no sub.", "x = x.at[0].subtract(1)"),
        ("x = x.at[0].foo(1)", "x.at[i] has no foo.", None),
    ],
)
def test_the_method_or_the_element_that_is_meant(code: str, said: str, written: str | None) -> None:
    cell = Cell(f"x = jnp.ones((2, 3))\n{code}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("index", "code"),
    [
        ("x > 2", "x = jnp.where(x > 2, 0.5, x)"),
        ("m", "x = jnp.where(m, 0.5, x)"),
        ("jnp.array([0, 1])", "x = x.at[jnp.array([0, 1])].set(0.5)"),
        ("np.array([0, 1])", "x = x.at[np.array([0, 1])].set(0.5)"),
        ("jnp.array(1)", "x = x.at[jnp.array(1)].set(0.5)"),
        ("1:2, i", "x = x.at[1:2, i].set(0.5)"),
        ("[0, 1]", "x = x.at[jnp.array([0, 1])].set(0.5)"),
        ("0.5", None),
    ],
)
def test_an_assignment_whatever_the_index_is(index: str, code: str | None) -> None:
    cell = Cell(f"x = jnp.arange(6.0).reshape(2, 3)\nm, i = x > 2, jnp.array([0, 2])\nx.at[{index}] = 0.5  # here")
    assert cell.finding.line == cell.here
    assert f"x.at[{index}] cannot be assigned" in cell.said
    assert cell.finding.code == code
    if code is not None:
        expected = {**cell.names, "x": np.arange(6.0).reshape(2, 3)}
        exec(f"x[{index}] = 0.5", expected)
        assert np.array_equal(cell.rewritten(code).names["x"], expected["x"])


@pytest.mark.parametrize(
    ("assignment", "code"),
    [
        ("x.at[i] = 7", "x = x.at[i].set(7)"),
        ("x.at[i] += 7", "x = x.at[i].add(7)"),
        ("x.at[x > i] = 7", "x = jnp.where(x > i, 7, x)"),
        ("x.at[x > i] += 7", "x = jnp.where(x > i, x + 7, x)"),
        ("x.at[i:i + 1] = 7", None),
        ("x.at[i:i + 1] += 7", None),
        ("x.at[i:] -= 7", None),
        ("x.at[1:, i] *= 7", "x = x.at[1:, i].multiply(7)"),
    ],
)
def test_an_assignment_at_a_traced_index(assignment: str, code: str | None) -> None:
    cell = Cell(
        f"@jax.jit\ndef f(x, i):\n    {assignment}  # here\n    return x\ny = f(jnp.arange(9).reshape(3, 3), 2)"
    )
    assert cell.finding.line == cell.here
    assert "return a new array" in cell.said
    assert "jnp.array(x.at)" not in cell.said
    assert cell.finding.code == code
    if code is not None:
        expected = {"x": np.arange(9).reshape(3, 3), "i": 2}
        exec(assignment.replace(".at", ""), expected)
        assert np.array_equal(cell.rewritten(code).names["y"], expected["x"])


@pytest.mark.parametrize("line", ["x.at[k][0] = 3", "x.at[k][k] = 3", "del x.at[k]"])
def test_other_assignments_say_what_at_is(line: str) -> None:
    cell = Cell(f"x, k = jnp.ones(3), jnp.array([0, 1])\n{line}  # here")
    assert "x.at[i] is no element" in cell.said
    assert cell.finding.code is None


def test_an_element_of_a_list_is_no_such_assignment() -> None:
    assert "make the list an array" in Cell("x, k = [1, 2], jnp.array([0, 1])\nx[k] = 3").said
    lines = "class A:\n    at = [1, 2]\nx, k = A(), jnp.array([0, 1])\nx.at[k] = 3"
    assert "make the list an array" in Cell(lines).said


def test_a_variable_of_another_function_is_not_assigned() -> None:
    cell = Cell("x = jnp.ones(3)\ndef f():\n    x.at[0] += 1  # here\nf()")
    assert cell.finding.line == cell.here
    assert cell.finding.code is None
    for line in ("x.at[x > 0] = 1.0", "x.at[x > 0] += 1.0", "x.at[:2] = 1.0"):
        cell = Cell(f"x = jnp.ones(3)\n@jax.jit\ndef f():\n    {line}  # here\nf()")
        assert cell.finding.code is None
    cell = Cell("def f(x):\n    x.at[0] += 1  # here\n    return x\nf(jnp.ones(3))")
    assert cell.finding.code == "x = x.at[0].add(1)"
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("p['w'].at[0, 0] = 5.0", "p['w'] = p['w'].at[0, 0].set(5.0)"),
        ("p['w'].at[0, 0] *= 5.0", "p['w'] = p['w'].at[0, 0].multiply(5.0)"),
        ("q[1].at[0] = 5.0", "q[1] = q[1].at[0].set(5.0)"),
        ("m.w.at[0] = 5.0", "m.w = m.w.at[0].set(5.0)"),
        ("m.w.at[0] += 5.0", "m.w = m.w.at[0].add(5.0)"),
        ("x[0].at[0] = 5.0", None),  # x is an array itself
        ("t.w.at[0] = 5.0", None),
        ("t[0].at[0] += 5.0", None),
    ],
)
def test_an_array_in_a_container(code: str, written: str | None) -> None:
    values = """
        import types, collections
        x = jnp.ones((2, 3))
        p, q, m = {"w": x}, [x, x], types.SimpleNamespace(w=x)
        t = collections.namedtuple("T", "w")(x)
    """
    cell = Cell("\n".join([*(each.strip() for each in values.splitlines()), f"{code}  # here"]))
    assert cell.finding.line == cell.here
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None
