"""``x.at[i]`` that is called, computed with, or has no index."""

from __future__ import annotations

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


def test_a_variable_of_another_function_is_not_assigned() -> None:
    cell = Cell("x = jnp.ones(3)\ndef f():\n    x.at[0] += 1  # here\nf()")
    assert cell.finding.line == cell.here
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
