"""A traced mask selects with ``jnp.where``: neither ``x[mask]`` nor ``x.at[mask]`` takes it."""

from __future__ import annotations

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
    assert "jnp.where(mask, value, x)" in cell.said
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


def test_a_mask_with_known_elements_is_an_index() -> None:
    cell = Cell("x = jnp.arange(4)\nx[x < 2] = 0  # here")
    assert cell.finding.code == "x = x.at[x < 2].set(0)"
    assert cell.rewritten(cell.finding.code).error is None


def test_a_mask_among_slices_is_named_alone() -> None:
    cell = Cell(SOURCE.format(line="x = jnp.stack([x, x])[:, m].sum(1)"))
    assert cell.said.startswith("m (bool[6]) is traced, so the size of jnp.stack([x, x])[:, m] is unknown")
