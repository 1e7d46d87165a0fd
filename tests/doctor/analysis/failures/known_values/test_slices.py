"""A slice takes a traced start if its size is known, or if its arguments may be static; else all of it is static."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
@{jit}
def f(x, start, n):
    {steps}
    return {sliced}  # here
x = jnp.arange(24.0).reshape(6, 4)
result = f(x, {start}, {n})
"""

STATIC_N = 'functools.partial(jax.jit, static_argnames="n")'


def sliced(code: str, jit: str = "jax.jit", steps: str = "pass", start: str = "1", n: str = "2") -> Cell:
    return Cell(SOURCE.format(jit=jit, steps=steps, sliced=code, start=start, n=n))


def assert_runs(cell: Cell) -> None:
    """Write the advised code, and compare its result with that without jit."""
    assert cell.finding.line == cell.here
    assert cell.finding.code is not None
    again = cell.rewritten(cell.finding.code)
    assert again.error is None
    assert cell.fallback is not None
    np.testing.assert_allclose(again.names["result"], eval(cell.fallback, cell.names))


@pytest.mark.parametrize("start", ["1", "jnp.int32(1)"])
@pytest.mark.parametrize(
    ("code", "advised"),
    [
        ("x[start:start + 3]", "lax.dynamic_slice_in_dim(x, start, 3)"),
        ("x[start - 1:start + 2].sum()", "lax.dynamic_slice_in_dim(x, start - 1, 3)"),
        ("x[start:3 + start, :]", "lax.dynamic_slice_in_dim(x, start, 3)"),
        ("x[:, start:start + 3]", "lax.dynamic_slice_in_dim(x, start, 3, axis=1)"),
        ("x[start * 2:(start + 1) * 2]", "lax.dynamic_slice_in_dim(x, start * 2, 2)"),
    ],
)
def test_a_slice_of_constant_size_takes_a_traced_start(code: str, advised: str, start: str) -> None:
    cell = sliced(code, start=start)
    assert f"does not depend on where it starts: write {advised}" in cell.said
    assert "static" not in cell.said
    assert_runs(cell)


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("x[start:start + n]", "pass"),
        ("x[start * n:(start + 1) * n]", "pass"),
        ("x[low:low + n]", "low = start * n"),
        ("x[low:high]", "low = start * n; high = low + n"),
    ],
)
def test_a_size_may_be_a_static_argument(code: str, steps: str) -> None:
    cell = sliced(code, STATIC_N, steps)
    assert "The size of the slice, n, does not depend on where it starts" in cell.said
    assert_runs(cell)


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("x[start:start + n]", "pass"),
        ("x[start * n:(start + 1) * n].mean(0)", "pass"),
        ("x[start:end]", "end = start + n"),
        ("x[start:start + k]", "k = n"),
    ],
)
@pytest.mark.parametrize("start", ["1", "jnp.int32(1)"])
def test_only_the_size_is_made_static(code: str, steps: str, start: str) -> None:
    cell = sliced(code, steps=steps, start=start)
    assert "which is compiled once for all starts of one size." in cell.said
    assert 'n is a Python int where f is called: declare it static, with static_argnames="n".' in cell.said
    decorator, new = (cell.finding.code or "\n").splitlines()
    assert decorator == f"@{STATIC_N}"
    assert new.startswith("return lax.dynamic_slice_in_dim(")
    assert_runs(cell)


def test_without_a_decorator_the_option_is_said() -> None:
    cell = Cell("""
        def f(x, start, n):
            return x[start:start + n]  # here
        x = jnp.arange(24.0)
        result = jax.jit(f)(x, 1, 2)
    """)
    assert 'static_argnames="n"' in cell.said or cell.finding.code is None
    assert "@" not in (cell.finding.code or "")


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("x[start:n]", "pass"),
        ("x[start:start + start * n]", "pass"),
        ("x[start:start + n] + jnp.zeros((start, 1))", "pass"),
        ("x.reshape(start, n, 12)", "pass"),
        ("x + jnp.zeros((n, start, 1, 1))", "pass"),
    ],
)
def test_all_arguments_that_decide_a_size_are_made_static(code: str, steps: str) -> None:
    cell = sliced(code, steps=steps)
    assert " are Python ints where f is called: declare both static." in cell.said
    assert_runs(cell)


def test_an_array_among_those_that_decide_a_size_is_not_made_static() -> None:
    cell = sliced("x[start:start + n]", n="jnp.int32(2)")
    assert "declare" not in cell.said
    assert "If the size itself is traced, keep the whole array and mask it." in cell.said


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("x[start:start]", "pass"),
        ("x[start + 1:start]", "pass"),
        ("x[start:start + 9]", "pass"),  # x has only six rows
        ("x[start:start + 4:2]", "pass"),
        ("x[start:start + 2, start:start + 2]", "pass"),
        ("x[start:start // 2 + 2]", "pass"),
    ],
)
def test_other_slices_are_not_written_with_a_traced_start(code: str, steps: str) -> None:
    cell = sliced(code, steps=steps)
    assert cell.error is not None
    assert "dynamic_slice_in_dim" not in cell.said
    assert_runs(cell)
