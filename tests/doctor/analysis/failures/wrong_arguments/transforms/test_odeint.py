"""Tests for functions that take the time first, although odeint passes it second."""

import pytest
from failing_cells import Cell

CELL = """
    from jax.experimental.ode import odeint
    def motion(t, y, a):
        {body}
    {before}
    odeint({function}, {state}, jnp.linspace(0, 5, 20), 0.5)
"""

DICT = "{'x': 1.0, 'v': 0.5}"


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("return {'x': a * y['x'], 'v': y['v']}  # here", DICT),
        ("return jnp.array([y[0] * a, y[1]])  # here", "jnp.ones(2)"),
        ("u, v = y; return u, v  # here", "(1.0, 2.0)"),
    ],
)
def test_the_order_of_parameters_is_explained(body: str, state: str) -> None:
    cell = Cell(CELL.format(body=body, state=state, before="", function="motion"))
    assert cell.finding.line == cell.here
    assert cell.said.startswith(
        "odeint calls motion with the state first and the time second, so y is the time here."
    )
    assert "let it be the first parameter of motion: (y, t, …) in place of (t, y, …)." in cell.said
    right = CELL.replace("motion(t, y, a)", "motion(y, t, a)")
    assert Cell(right.format(body=body, state=state, before="", function="motion")).error is None


@pytest.mark.parametrize(
    ("body", "before", "function"),
    [
        ("y = y + 1; return y[0]", "", "motion"),  # not what odeint passed
        ("return t['x'][0]", "", "motion"),
        ("return y['x']", "", "lambda y, t, a: motion(t, t, a)"),  # not called by odeint
        ("return y['x']", "motion(1.0, jnp.ones(2), 2.0)", "motion"),
    ],
)
def test_other_causes_are_not_blamed_on_the_order(body: str, before: str, function: str) -> None:
    cell = Cell(CELL.format(body=body, state=DICT, before=before, function=function))
    assert cell.error is not None
    assert "odeint calls" not in cell.said
