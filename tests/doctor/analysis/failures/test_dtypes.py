"""Choices in Python keep the dtype of what they choose; ``where()`` has one for both, which the advice says."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from failing_cells import Cell


def choice(values: str, first: str, other: str) -> Cell:
    return Cell(f"""
        @jax.jit
        def f(a, b):
            if a > b:  # here
                d = {first}
            else:
                d = {other}  # end
            return d
        result = f({values})
    """)


BECOMES = {
    "int32 becomes float32, and integers beyond 2**24 are rounded.": ("jnp.int32(5), 3", "a", "0.5"),
    "int16 becomes float32.": ("jnp.int16(5), 3", "a / 2", "a"),
    "int8 becomes float32.": ("jnp.int8(5), 3", "jnp.sin(a)", "a"),
    "uint8 becomes float16.": ("jnp.uint8(5), jnp.float16(3)", "a", "b"),
}


@pytest.mark.parametrize("said", BECOMES)
def test_an_operand_that_becomes_another_dtype_is_named(said: str) -> None:
    cell = choice(*BECOMES[said])
    assert f"The result has one dtype in both cases: {said}" in cell.said
    assert cell.finding.code is not None
    result = cell.rewritten(cell.finding.code).names["result"]
    assert result.dtype == said.partition("becomes ")[2].strip(".").split(",")[0]


UNFIT = {
    "-1 does not fit into uint8": ("jnp.uint8(9), jnp.uint8(4)", "a - b", "-1"),
    "100 * 3 does not fit into uint8": ("jnp.uint8(9), jnp.uint8(4)", "100 * 3", "b"),
    "1000000.0 does not fit into float16": ("jnp.float16(9), jnp.float16(4)", "a", "1e6"),
    "The values are int32 and uint8: convert both": ("jnp.uint8(9), -4", "a", "b"),
    "The values are bfloat16 and float16: convert both": ("jnp.float16(9), jnp.bfloat16(4)", "a", "b"),
}


@pytest.mark.parametrize("said", UNFIT)
def test_a_value_that_another_dtype_may_not_hold_has_no_code(said: str) -> None:
    cell = choice(*UNFIT[said])
    assert said in cell.said
    assert cell.finding.code is None


def test_numbers_that_fit_are_chosen_as_they_are() -> None:
    cell = choice("jnp.uint8(9), jnp.uint8(4)", "a - b", "3 * 5")
    assert "dtype" not in cell.said
    assert cell.finding.code is not None
    result = cell.rewritten(cell.finding.code).names["result"]
    assert (int(result), result.dtype) == (5, jnp.uint8)


def test_extremes_have_the_dtype_of_both_values_together() -> None:
    cell = Cell("""
        @jax.jit
        def f(a):
            return max(a, -1)  # here
        f(jnp.uint8(3))
    """)
    assert "-1 does not fit into uint8, the dtype of the other value: convert that first." in cell.said
    assert cell.finding.code is None
