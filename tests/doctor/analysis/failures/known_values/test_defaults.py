"""``a or default`` returns one of two values; in a test, or between conditions, ``or`` is a logical operator."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from failing_cells import Cell


def _cell(line: str, given: str, decorator: str = "@jax.jit") -> Cell:
    return Cell(f"""
        {decorator}
        def f(x, mask=None, *, scale=None):
            m = mask
            {line}  # here
            return m
        f(jnp.arange(4.0), {given})
    """)


@pytest.mark.parametrize("decorator", ["@jax.jit", ""])
@pytest.mark.parametrize(
    ("line", "given", "code"),
    [
        ("m = mask or jnp.ones_like(x)", "jnp.arange(4) > 1", "m = jnp.ones_like(x) if mask is None else mask"),
        ("m = mask or jnp.ones_like(x)", "jnp.ones(4)", "m = jnp.ones_like(x) if mask is None else mask"),
        ("m = x * (scale or 1.0)", "scale=jnp.ones(4)", "m = x * (1.0 if scale is None else scale)"),
        ("m = mask and mask * 2", "jnp.ones(4)", "m = mask if mask is None else mask * 2"),
        ("m = jnp.sum(mask or x)", "jnp.ones(4)", "m = jnp.sum(x if mask is None else mask)"),
    ],
)
def test_a_parameter_that_is_none_by_default_is_compared_with_none(
    line: str, given: str, code: str, decorator: str
) -> None:
    cell = _cell(line, given, decorator)
    assert cell.finding.code == code
    assert "is None by default: write" in cell.said
    assert "logical_" not in cell.said
    corrected = cell.rewritten(code)
    assert corrected.error is None


@pytest.mark.parametrize(
    ("decorator", "given"), [("@jax.jit", "2.0"), ("@jax.jit", "jnp.ones(4)"), ("", "jnp.ones(4)")]
)
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("m = x * scale if scale else x", "m = x * scale if scale is not None else x"),
        ("m = x if not scale else x * scale", "m = x if scale is None else x * scale"),
        ("if scale: m = x * scale", "if scale is not None:\n    m = x * scale"),
        ("if not scale: m = x", "if scale is None:\n    m = x"),
    ],
)
def test_an_if_asks_whether_a_parameter_is_given_that_is_none_by_default(
    line: str, code: str, decorator: str, given: str
) -> None:
    """A choice between two values would compute with None where it is left out."""
    cell = _cell(line, f"scale={given}", decorator)
    assert cell.finding.code == code
    assert "scale is None by default. To ask whether it is given, write scale is " in cell.said
    corrected = cell.rewritten(f"{code}\n# end")
    assert corrected.error is None
    corrected.names["f"](jnp.arange(4.0))


def test_a_condition_of_such_a_parameter_is_one_of_its_value() -> None:
    assert "is None by default" not in _cell("m = x if scale > 1 else -x", "scale=jnp.float32(2.0)").said


@pytest.mark.parametrize(
    "line",
    [
        "m = (x > 1) or jnp.ones_like(x)[0]",
        "m = x if mask or jnp.ones_like(x) else -x",
        "m = [x for _ in range(2) if mask or jnp.ones_like(x)]",
    ],
)
def test_a_test_or_a_comparison_is_no_default(line: str) -> None:
    assert "is None" not in _cell(line, "jnp.ones(4)").said


@pytest.mark.parametrize(
    "line",
    [
        "m = (x > 1) or (x > 2)",
        "m = not (mask or jnp.ones_like(x))",
        "m = jnp.where(mask or jnp.ones_like(x), 1, 2)",
        "a, b = x > 1, x > 2; m = a or b",
        "m = (x[0] > 0) or jnp.isnan(x[1])",
    ],
)
def test_conditions_are_joined_element_by_element(line: str) -> None:
    cell = _cell(line, "jnp.ones(4)")
    assert "Write jnp.logical_or(…) in place of or" in cell.said or "logical_not" in cell.said
    assert "is None" not in cell.said


def test_a_variable_may_be_a_value_whatever_its_type() -> None:
    said = _cell("b = x > 1; m = b or jnp.ones_like(x)", "None").said
    assert "To test for None, write jnp.ones_like(x) if b is None else b." in said
