"""Integers that do not fit into their dtype."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("jnp.array(2**40)", "The integer 1099511627776 does not fit into int32.\nIntegers have 64 bits after"),
        ("jnp.array([2**40])", "The integer 1099511627776 does not fit into int32."),
        ("jnp.arange(3) + 2**40", "does not fit into the dtype that JAX gives it, int32 by default."),
        ("jnp.uint8(300)", "The integer 300 does not fit into uint8.\nConvert the array to a dtype that holds it"),
    ],
)
def test_an_integer_that_is_too_large(call: str, said: str) -> None:
    cell = Cell(f"y = {call}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said


def test_the_advice_on_large_integers_works() -> None:
    assert Cell("jnp.arange(3) + float(2**40)").error is None
    assert Cell("jnp.uint8(0).astype(jnp.int32) + 300").error is None


def test_numpy_has_the_same_words() -> None:
    error = Cell("np.uint8(300)").error
    assert error is None or recognize(error) is None  # NumPy 1 wraps around
