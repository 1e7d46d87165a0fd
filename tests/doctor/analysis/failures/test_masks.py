"""A traced mask selects with ``jnp.where``: neither ``x[mask]`` nor ``x.at[mask]`` takes it."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
@jax.jit
def f(x, y, m):
    {line}  # here
    return x
x, y, m = jnp.arange(-3.0, 3.0), jnp.ones(6), jnp.arange(6) > 3
result = f(x, y, m)
"""


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x[x < 0] = 0", "x = jnp.where(x < 0, 0, x)"),
        ("x[m] = -2.5", "x = jnp.where(m, -2.5, x)"),
        ("x[~m & (y > x)] = 2 * y", "x = jnp.where(~m & (y > x), 2 * y, x)"),
    ],
)
def test_elements_of_a_traced_mask_are_chosen(line: str, code: str) -> None:
    cell = Cell(SOURCE.format(line=line))
    assert cell.finding.line == cell.here
    assert "Use jnp.where(), which works with and without jit" in cell.said
    assert cell.finding.code == code
    again = cell.rewritten(code)
    assert again.error is None
    whole = eval(code.removeprefix("x = "), {**cell.names})
    np.testing.assert_allclose(again.names["result"], whole)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x[m] += 1", "x = jnp.where(m, x + 1, x)"),
        ("x[x < 0] *= -1", "x = jnp.where(x < 0, x * -1, x)"),
        ("x[m] -= y[m]", "x = jnp.where(m, x - y, x)"),
        ("x[m] /= 2 * y[m]", "x = jnp.where(m, x / (2 * y), x)"),
        ("x[m] = y[m]", "x = jnp.where(m, y, x)"),
        ("x[x < 0] = 2 * y[x < 0]", "x = jnp.where(x < 0, 2 * y, x)"),
    ],
)
def test_what_is_changed_where_a_mask_is_true_is_what_numpy_changes(line: str, code: str) -> None:
    cell = Cell(SOURCE.format(line=line))
    assert cell.finding.line == cell.here
    assert cell.finding.code == code
    names = {name: np.array(cell.names[name]) for name in "xym"}
    exec(line, names)
    np.testing.assert_allclose(cell.rewritten(code).names["result"], names["x"])


@pytest.mark.parametrize(
    "line",
    [
        "x[m] = y[m][0]",
        "x[m] = jnp.flip(y[m])",
        "x[m] += y[:2]",
        "x[m] += y[~m]",
        "x = x.astype(int); x[m] /= 2",
    ],
)
def test_other_changes_get_no_code(line: str) -> None:
    cell = Cell(SOURCE.format(line=line))
    assert cell.failure.kind == "mask"
    assert cell.finding.code is None


@pytest.mark.parametrize(
    "line",
    [
        "x[m] = y[:2]",
        "x[m, None] = 0",
        "x = x.astype(int); x[x > 1] = 0.5",  # the result would hold floats
        "x = jnp.stack([x, x]); x[:, m] = 0",
        "x[m] = y.sum()",
    ],
)
def test_other_values_and_masks_get_no_code(line: str) -> None:
    cell = Cell(SOURCE.format(line=line))
    assert "x.at[…].set(…) takes no mask that is traced." in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (
            "x = jnp.sum(x[x > 0]) / jnp.sum(x > 0) + x[x > 0].std()",
            "x = jnp.sum(x, where=x > 0) / jnp.sum(x > 0) + x.std(where=x > 0)",
        ),
        (
            "x = x[m].sum() + jnp.max(y[y > 0]) - x[~m].mean()",
            "x = jnp.where(m, x, 0).sum() + jnp.max(y, where=y > 0, initial=-jnp.inf) - x.mean(where=~m)",
        ),
        ("x = x[m].sum() + y[:2].sum() + y[jnp.argmax(y)]", None),
    ],
)
def test_each_masked_read_of_a_line_is_mended(line: str, code: str | None) -> None:
    cell = Cell(SOURCE.format(line=line))
    assert cell.finding.code == code
    if code is not None:
        names = {name: np.array(cell.names[name]) for name in "xym"}
        exec(line, {**cell.names, **names, "jnp": np}, names)
        np.testing.assert_allclose(cell.rewritten(code).names["result"], names["x"], rtol=1e-5)


@pytest.mark.parametrize(
    "line",
    [
        "x = x[m].sum() + y[y > 0].size",
        "x = x[m].sum() + x[jnp.isnan(x)].sum()",
        "x = x[m].sum() + x[m].ravel()[0]",
        "x = x[m].sum() + x[m & jnp.isnan(x)].sum()",
    ],
)
def test_without_code_for_each_masked_read_there_is_none(line: str) -> None:
    assert Cell(SOURCE.format(line=line)).finding.code is None


def on_numpy(line: str, names: dict[str, object]) -> np.ndarray:
    """The array ``x`` that NumPy has after a line."""
    arrays = {name: np.array(value) if isinstance(value, jax.Array) else value for name, value in names.items()}
    exec(line, arrays | {"jnp": np}, arrays)
    return np.asarray(arrays["x"])


VALUES = """
x, y, m = {x}, jnp.linspace(1, 2, 6).reshape(6), jnp.arange(6) % 2 == 0
k, n, row = 2.5, 3, jnp.array([7.0, 8.0])
"""
FLOATS, INTS, ROWS = "jnp.arange(-3.0, 3.0)", "jnp.arange(-3, 3)", "jnp.arange(12.0).reshape(6, 2)"


@pytest.mark.parametrize(
    ("x", "line", "code"),
    [
        (FLOATS, "x[m] = -x[m]", "x = jnp.where(m, -x, x)"),
        (FLOATS, "x[x > 0] = 0", "x = jnp.where(x > 0, 0, x)"),
        (FLOATS, "x[~m & (y > x)] = k", "x = jnp.where(~m & (y > x), k, x)"),
        (FLOATS, "x[m] = y[m]", "x = jnp.where(m, y, x)"),
        (FLOATS, "x[m] += 1", "x = jnp.where(m, x + 1, x)"),
        (FLOATS, "x[m] *= n * y[m]", "x = jnp.where(m, x * (n * y), x)"),
        (FLOATS, "x[m] = jnp.sin(y[m])", "x = jnp.where(m, jnp.sin(y), x)"),
        (INTS, "x[m] = -x[m]", "x = jnp.where(m, -x, x)"),
        (INTS, "x[x < n] -= n", "x = jnp.where(x < n, x - n, x)"),
        ("jnp.arange(6) > 3", "x[m] = True", "x = jnp.where(m, True, x)"),
        (ROWS, "x[m] = 0", "x = jnp.where(m[:, None], 0, x)"),
        (ROWS, "x[m] = row", "x = jnp.where(m[:, None], row, x)"),
        (ROWS, "x[m] = -x[m]", "x = jnp.where(m[:, None], -x, x)"),
        (ROWS, "x[y > 1.5] += 1", "x = jnp.where((y > 1.5)[:, None], x + 1, x)"),
        (ROWS, "x[x > 4] = 4", "x = jnp.where(x > 4, 4, x)"),
        ("jnp.ones((6, 3, 2))", "x[m] = 0", "x = jnp.where(m[:, None, None], 0, x)"),
    ],
)
def test_an_assignment_at_a_mask_gets_code_that_runs_with_and_without_jit(
    x: str, line: str, code: str | None
) -> None:
    begin = VALUES.format(x=x)
    cell = Cell(f"{begin}{line}  # here")
    assert cell.finding.code == code
    assert "Use jnp.where(), which works with and without jit" in cell.said
    given = {each: cell.names[each] for each in ("x", "y", "m", "k", "n", "row")}
    expected = on_numpy(line, given)
    got = cell.rewritten(code).names["x"]
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert got.dtype == cell.names["x"].dtype
    jitted = Cell(f"""
        {begin.splitlines()[1]}
        {begin.splitlines()[2]}
        @jax.jit
        def f(x, y, m, row):
            {code}
            return x
        result = f(x, y, m, row)
    """)
    np.testing.assert_allclose(jitted.names["result"], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "line"),
    [
        (FLOATS, "x[m] = y[:3]"),
        (FLOATS, "x[m] = y[~m]"),
        (INTS, "x[m] = 0.5"),
        (INTS, "x[m] = k"),
        (ROWS, "x[:, m[:2]] = 0"),
        (ROWS, "x[jnp.isnan(x)] = 0"),
        ("jnp.ones((2, 6, 3, 2))", "x[jnp.ones((2, 6)) > 0] = 0"),
        ("jnp.ones((6, 3, 2))", "x[m] = row"),
        (ROWS, "x[m] = y[m][:, None]"),
        ("jnp.ones((6, 6))", "x[m] = y[m][:, None]"),
    ],
)
def test_other_values_keep_an_update_that_jit_may_not_take(x: str, line: str) -> None:
    cell = Cell(f"{VALUES.format(x=x)}{line}  # here")
    assert "XLA can update it in place" not in cell.said
    assert "Under jit, this raises an error if the mask is traced." in cell.said
    assert cell.finding.code is not None
    again = cell.rewritten(cell.finding.code)
    np.testing.assert_allclose(again.names["x"], on_numpy(line, cell.names), rtol=1e-6)


def test_a_value_for_each_row_is_not_taken_for_a_row() -> None:
    cell = Cell("x, y, m = jnp.ones((3, 3)), jnp.arange(3.0), jnp.arange(3) < 1\nx[m] = y[m]  # here")
    assert cell.finding.code == "x = x.at[m].set(y[m])"


def test_the_array_of_the_caller_stays_as_it_is() -> None:
    said = Cell("def f(a, m):\n    a[m] = 0  # here\nf(jnp.ones(3), jnp.ones(3, bool))").said
    assert "The caller's a stays as it is: return the new one." in said


def test_a_quotient_that_is_discarded_may_spoil_a_gradient() -> None:
    begin = "x, y, m = jnp.ones(3), jnp.arange(3.0), jnp.arange(3) > 0\n"
    assert "jax.grad can return NaN if the value that where() discards" in Cell(begin + "x[m] /= y[m]").said
    assert "jax.grad" not in Cell(begin + "x[m] *= y[m]").said


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("return x.at[m].set(-x[m])", "return jnp.where(m, -x, x)"),
        ("x = 2 * x.at[m].add(y[m])", "x = 2 * jnp.where(m, x + y, x)"),
        ("x = x.at[x > y].max(2 * y[x > y])", "x = jnp.where(x > y, jnp.maximum(x, 2 * y), x)"),
        ("x = x.at[~m].set(0.5).sum() + x", "x = jnp.where(~m, 0.5, x).sum() + x"),
        ("x = x.at[m].multiply(x[m].sum())", None),
        ("x = x.at[jnp.isnan(x)].set(0)", "x = jnp.where(jnp.isnan(x), 0, x)"),
        ("x = x.at[m].set(y[:2])", None),
        ("x = x.at[m].set(y[~m])", None),
        ("x = x.astype(int).at[m].set(0.5)", None),
    ],
)
def test_an_update_at_a_traced_mask_gets_code(line: str, code: str | None) -> None:
    cell = Cell(SOURCE.format(line=line))
    assert cell.failure.error == "NonConcreteBooleanIndexError"
    assert cell.finding.code == code
    if code is not None:
        values = "\nx, y, m = jnp.arange(-3.0, 3.0), jnp.ones(6), jnp.arange(6) > 3\n"
        expected = Cell(values + line.replace("return ", "x = ")).names["x"]
        np.testing.assert_allclose(cell.rewritten(code).names["result"], expected)
        np.testing.assert_allclose(Cell(values + code.replace("return ", "x = ")).names["x"], expected)


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("x.at[m] += 1", "x = jnp.where(m, x + 1, x)", [1, 1, 3]),
        ("x.at[x > 1] = y[x > 1]", "x = jnp.where(x > 1, y, x)", [0, 1, 7]),
        ("x.at[m] *= y[1:]", "x = x.at[m].multiply(y[1:])", [0, 1, 14]),
    ],
)
def test_an_update_that_is_written_as_an_assignment(line: str, code: str, expected: list[int]) -> None:
    cell = Cell(f"x, y, m = jnp.arange(3.0), jnp.array([5.0, 6.0, 7.0]), jnp.arange(3) != 1\n{line}  # here")
    assert cell.finding.code == code
    np.testing.assert_allclose(cell.rewritten(code).names["x"], expected)


def test_an_index_with_a_mask_in_it_is_no_mask() -> None:
    line = "x = jnp.stack([x, x], 1)\n    x = x.at[m, 0].set(0)  # here"
    assert Cell(SOURCE.replace("{line}  # here", line)).finding.code is None


def test_rows_at_a_traced_mask() -> None:
    line = "x = jnp.stack([x, x], 1)\n    x = x.at[m].set(0)  # here"
    cell = Cell(SOURCE.replace("{line}  # here", line))
    assert cell.finding.code == "x = jnp.where(m[:, None], 0, x)"
    np.testing.assert_allclose(cell.rewritten(cell.finding.code).names["result"][-2:], np.zeros((2, 2)))


def test_a_mask_among_slices_is_named_alone() -> None:
    cell = Cell(SOURCE.format(line="x = jnp.stack([x, x])[:, m].sum(1)"))
    assert cell.said.startswith("m (bool[6]) is traced, so the size of jnp.stack([x, x])[:, m] is unknown")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x = x[m].sum() + row", "x = jnp.where(m[:, None], x, 0).sum() + row"),
        ("x = x[y > 1].mean()", "x = x.mean(where=(y > 1)[:, None])"),
        ("x = x[m].mean(0)", "x = x.mean(0, where=m[:, None])"),
        ("x = jnp.std(x[~m], axis=0)", "x = jnp.std(x, axis=0, where=(~m)[:, None])"),
        ("x = x[:, m[:2]].max(1)", "x = x.max(1, where=m[:2], initial=-jnp.inf)"),
        ("x = x[m].mean(1)", None),
        ("x = x[x > 1].sum(0)", None),
        ("x = x[m, 0].sum()", None),
        ("x = x[m].sum(axis=0, keepdims=True)", None),
    ],
)
def test_a_reduction_of_rows_gets_the_mask_along_them(line: str, code: str | None) -> None:
    source = "@jax.jit\ndef f(x, y, m, row):\n    {}  # here\n    return x\n{}result = f(x, y, m, row)"
    values = VALUES.format(x="jnp.arange(12.0).reshape(6, 2) ** 2")
    cell = Cell(source.format(line, values))
    assert cell.failure.kind == "mask"
    assert cell.finding.code == code
    if code is not None:
        np.testing.assert_allclose(cell.rewritten(code).names["result"], on_numpy(line, cell.names), rtol=1e-6)


@pytest.mark.parametrize(
    ("array", "index", "said"),
    [
        ("x", "y > 1", "jnp.where((y > 1)[:, None], x, 0). For a mean, leave it out: "),
        ("x", "y > 1", "jnp.mean(x, where=(y > 1)[:, None]). "),
        ("x", "y > 1", "For a median, put NaN: jnp.nanmedian(jnp.where((y > 1)[:, None], x, jnp.nan)). "),
        ("x", "y > 1", "jnp.where((y > 1)[:, None], 1, x) is x.at[y > 1].set(1), and jnp.nonzero(y > 1, size=8)"),
        ("x", "x > 1", "jnp.where(x > 1, x, 0)"),
        ("x", ":, row > 7", "jnp.where(row > 7, x, 0)"),
        ("x[0]", "row > 7", "jnp.where(mask, array, 0)"),
        ("x[0]", "row > 7", "In where() and where=, a mask over rows is mask[:, None]."),
    ],
)
def test_the_advice_on_a_mask_has_the_names_and_axes_of_the_code(array: str, index: str, said: str) -> None:
    source = "@jax.jit\ndef f(x, y, row):\n    return {}[{}]  # here\n{}f(x, y, row)"
    cell = Cell(source.format(array, index, VALUES.format(x=ROWS)))
    assert said in cell.said
    assert ("mask[:, None]" in cell.said) == (array != "x")
