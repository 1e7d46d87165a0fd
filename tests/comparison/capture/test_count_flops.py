"""How many operations a statement runs, in all programs together, and when that is unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.comparison.capture.count_flops import count_operations

X = jnp.ones((64, 64))
PRODUCT = 2 * 64**3

square = jax.jit(lambda x: x @ x)
two_outputs = jax.jit(lambda x: (x, x @ x))
repeated = jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda _, y: y @ x, x))


def unused() -> Any:
    X @ X
    return X


def loop() -> Any:
    product = X
    for _ in range(10):
        product = product @ X
    return product


@pytest.mark.parametrize(
    ("run", "products"),
    [
        (lambda: X @ X, 1),
        (lambda: square(X), 1),
        (lambda: square(X @ X), 2),
        (lambda: square(square(X)), 2),
        (lambda: square(X.T @ X)[0], 2),
        (lambda: two_outputs(X)[0], 1),  # the program computes both, whatever is used of them
        (unused, 1),
        (loop, 10),
        (lambda: repeated(X @ X), 11),
        (lambda: jax.vmap(lambda row: row @ X)(X), 1),
        (lambda: jax.grad(lambda x: square(x).sum())(X), 3),
        (lambda: jnp.sum(X @ X), 1),
        (lambda: (X @ X, "beside"), 1),
    ],
)
def test_all_programs_that_a_statement_runs_are_counted(run: Callable[[], Any], products: int) -> None:
    found = count_operations(run)
    assert (found.kind, found.caveats) == ("flops", ())
    assert found.amount == pytest.approx(products * PRODUCT, rel=0.05)


def test_an_expression_outside_jit_has_as_many_operations_as_its_jitted_function() -> None:
    x = jnp.ones(1000)
    jitted = jax.jit(lambda x: jnp.sum(x * x))
    assert count_operations(lambda: jnp.sum(x * x)).amount == count_operations(lambda: jitted(x)).amount == 1999


def test_an_array_that_a_call_has_donated_can_still_be_counted() -> None:
    donating = jax.jit(lambda x: x @ x, donate_argnums=0)
    x = X.copy()
    donating(x)
    assert count_operations(lambda: donating(x)).amount == PRODUCT


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (lambda: jax.lax.while_loop(lambda x: x[0, 0] < 10, square, X @ X), "XLA counts one round of a loop (while)"),
        (lambda: float(jnp.sum(X)), "JAX cannot trace it (ConcretizationTypeError)"),
        (lambda: np.asarray(X @ X), "JAX cannot trace it (TracerArrayConversionError)"),
        (lambda: np.asarray(X) @ np.asarray(X), "XLA counts none"),
        (lambda: X, "XLA counts none"),
    ],
)
def test_without_a_count_of_all_of_it_there_is_none(run: Callable[[], Any], why: str) -> None:
    found = count_operations(run)
    assert (found.amount, found.caveats) == (None, (why,))


def test_what_is_called_outside_xla_makes_the_count_unknown() -> None:
    found = count_operations(lambda: jnp.linalg.eigh(X @ X))
    assert found.amount is None
    assert found.caveats[0].startswith("XLA does not count custom calls ("), found


def test_the_largest_branch_of_a_condition_is_counted_and_that_is_said() -> None:
    found = count_operations(lambda: jax.lax.cond(X[0, 0] > 0, square, lambda x: x, X))
    assert found.amount == pytest.approx(PRODUCT, rel=0.01)
    assert found.caveats == ("of a condition, the branch with the most operations is counted",)


def test_minus_one_is_no_amount(monkeypatch: Any) -> None:
    class Lowered:
        cost_analysis = staticmethod(lambda: {"flops": -1.0})
        as_text = staticmethod(str)

    monkeypatch.setattr("jaxmagic.comparison.capture.count_flops._lower", lambda equation: Lowered)
    found = count_operations(lambda: X @ X)
    assert (found.amount, found.caveats) == (None, ("XLA counts none",))
