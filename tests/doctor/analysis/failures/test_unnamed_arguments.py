"""Arguments that JAX calls unknown, as inside ``jax.custom_vjp``: named if all of them are meant."""

from __future__ import annotations

import pytest
from failing_cells import Cell

CELL = """
    @jax.custom_vjp
    def cv(a, b):
        if {condition}:  # here
            return a * 2.0
        return b
    cv.defvjp(lambda a, b: (cv(a, b), None), lambda r, g: (g, g))
    jax.jit(lambda x, y: cv(x, {passed}))(2.0, 3.0)
"""


@pytest.mark.parametrize(
    ("condition", "passed", "said"),
    [
        ("a > b", "y", "It depends on the arguments a, b of cv"),
        ("a > 0", "y", "It does not say on which of its arguments the value depends."),
        ("a > 0", "1.0", "It does not say on which of its arguments the value depends."),
    ],
)
def test_an_argument_of_custom_vjp_is_named_if_it_is_sure(condition: str, passed: str, said: str) -> None:
    cell = Cell(CELL.format(condition=condition, passed=passed))
    assert "unknown" in str(cell.error), "JAX knows no name for it"
    assert said in cell.said
    assert "unknown" not in cell.said
    assert "depends on none" not in cell.said


def test_a_single_argument_of_custom_vjp_is_named() -> None:
    cell = Cell("""
        @jax.custom_vjp
        def cv(a):
            return a * 2.0 if a > 0 else a  # here
        cv.defvjp(lambda a: (cv(a), None), lambda r, g: (g,))
        jax.jit(lambda x: cv(x))(2.0)
    """)
    assert "It depends on the argument a of cv" in cell.said


def test_an_argument_with_the_name_unknown_is_the_users() -> None:
    cell = Cell("""
        @jax.jit
        def f(unknown):
            return 1.0 if unknown > 0 else 2.0  # here
        f(1.0)
    """)
    assert "It depends on the argument unknown of f" in cell.said
