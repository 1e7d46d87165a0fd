"""The condition of a loop that reads what the loop changes belongs into ``lax.while_loop``."""

from __future__ import annotations

import ast

import pytest
from failing_cells import Cell

from jaxmagic.doctor.analysis.failures.conditions import use_of
from jaxmagic.doctor.analysis.failures.expression import Expression, whole_test

SOURCE = """
@jax.jit
def f(x, done):
    k = 0
    while {test}:  # here
        x = x / 2
        {step}
    return x
f(jnp.arange(9.0), False)
"""


@pytest.mark.parametrize("test", ["x.sum() > 1 and k < 10", "k < 10 and x.sum() > 1"])
def test_a_counter_is_a_part_of_the_condition_of_the_loop(test: str) -> None:
    cell = Cell(SOURCE.format(test=test, step="k += 1"))
    assert cell.finding.line == cell.here
    first, last = test.split(" and ")
    assert f"Write {test} as ({first}) & ({last}). Use lax.while_loop(condition, body, state)" in cell.said
    assert "Python if" not in cell.said


def test_a_python_condition_that_stays_the_same_is_tested_around_the_loop() -> None:
    cell = Cell(SOURCE.format(test="x.sum() > 1 and k < 10", step="pass"))
    assert "Test k < 10 with a Python if around the rest" in cell.said
    assert "Within it, use lax.while_loop() for the traced part." in cell.said


def test_a_negated_operand_is_negated_as_an_array() -> None:
    test = ast.parse("a > 1 and not (b or c)", mode="eval").body
    assert whole_test(test, "jnp") == "(a > 1) & (jnp.logical_not((b) | (c)))"


@pytest.mark.parametrize("test", ["not jnp.isnan(x).any()", "not x.sum()", "x.sum() > 3"])
def test_an_assertion_is_checked_when_the_function_runs(test: str) -> None:
    cell = Cell(f"@jax.jit\ndef f(x):\n    assert {test}  # here\n    return x\nf(jnp.ones(3))")
    assert cell.finding.line == cell.here
    assert "Check values with jax.experimental.checkify.check()" in cell.said
    assert "logical_not" not in cell.said


def test_the_operand_of_not_in_an_assertion_is_asserted() -> None:
    """From Python 3.12 on, a traceback tells that ``not`` needs the condition."""
    statement = ast.parse("assert not x").body[0]
    assert isinstance(statement, ast.Assert)
    assert isinstance(statement.test, ast.UnaryOp)
    assert use_of(Expression(statement, statement.test, statement)) == "assert"
    assert use_of(Expression(statement, statement.test.operand, statement.test)) == "assert"


def test_pytrees_are_chosen_leaf_by_leaf() -> None:
    cell = Cell("""
        @jax.jit
        def fit(params, tolerance):
            for _ in range(3):
                params = {"w": params["w"] / 2}
                if params["w"].sum() < tolerance:  # here
                    break
            return params
        fit({"w": jnp.ones(3)}, 1.0)
    """)
    assert (
        "each assignment as x = jnp.where(done, x, new_x), for a dict or another pytree within jax.tree.map"
        in cell.said
    )
