"""Tests for functions whose results are as long as the values say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
@jax.jit
def f(x):
    {lines}
result = f({value})
"""

VALUES = "jnp.array([3.0, 0.0, -1.0, 3.0, 0.0, -2.0])"


def failed(lines: str, value: str = VALUES) -> Cell:
    return Cell(SOURCE.format(lines=lines, value=value))


@pytest.mark.parametrize(
    "value",
    [VALUES, "jnp.array([jnp.inf, 1.0, jnp.inf, jnp.nan, jnp.nan])", "jnp.array([[True, False], [True, True]])"],
)
@pytest.mark.parametrize(
    "length",
    [
        "len(jnp.unique(x))",
        "jnp.unique(x * 2).size",
        "jnp.unique(x).shape[0]",
        "jnp.nonzero(x)[0].shape[0]",
        "len(x.nonzero()[0])",
        "jnp.flatnonzero(x > 0).size",
        "len(jnp.argwhere(x))",
        "len(jnp.where(x > 0)[0])",
        "jnp.extract(x > 0, x).size",
    ],
)
def test_a_length_that_alone_is_used_is_counted(length: str, value: str) -> None:
    cell = failed(f"return 1 + {length}  # here", value)
    assert cell.finding.line == cell.here
    count = re.search(r"To count them, write (.*) in place of (.*)\. With size=, (.*) would be that size", cell.said)
    assert count is not None
    assert count[2] == count[3] == length
    again = cell.rewritten(f"return 1 + {count[1]}")
    assert again.error is None
    x = np.asarray(eval(value, again.names))
    assert int(again.names["result"]) == 1 + eval(length.replace("jnp", "np"), {"np": np, "x": x, "len": len})


@pytest.mark.parametrize("length", ["len(u)", "u.size", "u.shape[0]"])
def test_the_length_of_a_variable_is_counted(length: str) -> None:
    cell = failed(f"u = jnp.unique(x)  # here\n    return {length} + {length}")
    assert cell.finding.line == cell.here
    count = re.search(rf"To count them, write (.*) in place of {re.escape(length)}\.", cell.said)
    assert count is not None
    assert failed(f"return {count[1]}").names["result"] == 4


@pytest.mark.parametrize(
    "lines",
    [
        "return jnp.unique(x)  # here",
        "return len(jnp.nonzero(x))  # here",  # how many axes there are
        "return jnp.argwhere(x).size  # here",
        "return len(jnp.unique(x, return_counts=True)[0])  # here",
        "u = jnp.unique(x)  # here\n    return u.sum() / len(u)",
        "u = jnp.unique(x)  # here\n    return u.size + len(u)",
        "u = jnp.unique(x)  # here\n    u = u + 1\n    return len(u)",
        "u = v = jnp.unique(x)  # here\n    return len(u), v",
    ],
)
def test_a_result_that_is_used_otherwise_gets_a_size(lines: str) -> None:
    said = failed(lines).said
    assert "Give it size=, a number known during tracing, and fill_value= for the padding" in said
    assert "count" not in said.replace("return_counts", "")
    assert "is then that size" not in said


@pytest.mark.parametrize("length", ["len(jnp.union1d(x, x))", "jnp.setdiff1d(x, x + 1).size"])
def test_a_length_that_nothing_counts_is_the_size_that_is_given(length: str) -> None:
    cell = failed(f"return {length}  # here")
    assert f"for the padding. {length} is then that size, whatever the values are." in cell.said


def test_a_count_that_decides_a_size_is_no_array() -> None:
    said = failed("return jnp.zeros(len(jnp.unique(x)))  # here").said
    assert "for the padding. len(jnp.unique(x)) is then that size" in said
    assert "count" not in said


@pytest.mark.parametrize(
    ("call", "size", "given"),
    [
        ("np.bincount(x, minlength=10)", "length", 10),
        ("np.unique(x)", "size", 3),
        ("np.nonzero(x)[0]", "size", 3),
        ("np.flatnonzero(x > 1)", "size", 2),
        ("np.argwhere(x)", "size", 3),
        ("np.where(x > 1)[0]", "size", 2),
        ("np.repeat(x, x)", "total_repeat_length", 5),
        ("np.repeat(np.arange(4), repeats=x)", "total_repeat_length", 5),
        ("np.setdiff1d(x, x + 1)", "size", 1),
        ("np.union1d(x, x + 1)", "size", 4),
        ("np.intersect1d(x, x + 1)", "size", 2),
        ("np.extract(x > 1, x)", "size", 2),
        ("np.compress(x > 1, x)", "size", 2),
    ],
)
def test_a_function_of_numpy_is_replaced_with_a_size(call: str, size: str, given: int) -> None:
    cell = failed(f"return {call}  # here", "jnp.array([2, 0, 1, 2])")
    function = call.partition("(")[0]
    assert cell.finding.line == cell.here
    assert f"Use jnp{function[2:]} in place of {function}. jnp{function[2:]} returns as many" in cell.said
    assert f"{size}=, a number known during tracing" in cell.said
    assert cell.finding.code is None  # it would fail without the size
    place = call.index(")") if "[0]" in call else len(call) - 1
    new = f"{call[:place]}, {size}={given}{call[place:]}".replace(function, f"jnp{function[2:]}")
    again = cell.rewritten(f"return {new}")
    assert again.error is None
    expected = eval(call, {"np": np, "x": np.array([2, 0, 1, 2])})
    np.testing.assert_array_equal(again.names["result"], expected)


@pytest.mark.parametrize("length", ["len(np.unique(x))", "np.nonzero(x)[0].size", "len(np.argwhere(x))"])
def test_a_length_that_numpy_counts_is_counted_by_jax(length: str) -> None:
    cell = failed(f"return {length}  # here")
    count = re.search(r"To count them, write (.*) in place of (.*)\. With size=", cell.said)
    assert count is not None
    assert count[2] == length
    assert cell.rewritten(f"return {count[1]}").names["result"] == 4


@pytest.mark.parametrize("call", ["np.where(x > 0, x, 0)", "np.repeat(np.sin(x), 2)"])
def test_results_of_known_size_get_code(call: str) -> None:
    cell = failed(f"return {call}  # here")
    assert "as many elements as the values say" not in cell.said
    assert cell.finding.code is not None
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize("call", ["np.sin(x) + np.repeat(x, y)", "np.sin(x)[np.where(x > 0)]"])
def test_code_would_fail_that_leaves_out_a_size_in_another_call(call: str) -> None:
    cell = failed(f"y = jnp.ones(6, int) + (x > 9)\n    return {call}  # here")
    assert cell.finding.line == cell.here
    assert cell.finding.code is None
