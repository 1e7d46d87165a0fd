"""How many operations a call is, and what the count leaves out."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.comparison.capture.count_flops import count_operations

X = jnp.ones((64, 64))


@pytest.mark.parametrize("fn", [lambda x: x @ x, jax.jit(lambda x: x @ x)])
def test_a_product_of_matrices_is_two_operations_for_each_of_its_terms(fn: Any) -> None:
    found = count_operations(fn, (X,), {})
    assert (found.kind, found.amount, found.caveats) == ("flops", 2 * 64**3, ())


def test_the_body_of_a_loop_is_counted_once_and_that_is_said() -> None:
    looped = jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda _, y: y @ x, x))
    found = count_operations(looped, (X,), {})
    assert found.amount is not None
    assert found.amount < 10 * 64**3  # of 20 * 64**3
    assert found.caveats == ("the body of a loop is counted once",)


def test_what_is_called_outside_xla_is_named() -> None:
    found = count_operations(jnp.linalg.eigh, (X,), {})
    assert any("not counted (" in each for each in found.caveats), found


def test_an_expression_is_counted_with_all_that_it_calls_and_its_arrays_are_arguments() -> None:
    square = jax.jit(lambda x: x @ x)
    assert count_operations(lambda: square(square(X)), (), {}).amount == 2 * 2 * 64**3
    big = jnp.ones((1024, 1024))
    assert count_operations(lambda: jnp.sum(big @ big), (), {}).amount == pytest.approx(2 * 1024**3, rel=0.01)


def test_where_nothing_is_counted_there_is_no_amount() -> None:
    assert count_operations(lambda x: x, (X,), {}).amount is None
    found = count_operations(lambda x: np.asarray(x) @ np.asarray(x), (X,), {})
    assert (found.amount, found.caveats) == (None, ("JAX cannot trace it (TracerArrayConversionError)",))


def test_minus_one_is_no_amount(monkeypatch: Any) -> None:
    class Lowered:
        cost_analysis = staticmethod(lambda: {"flops": -1.0})
        as_text = staticmethod(str)

    class Jitted:
        __call__ = trace = staticmethod(lambda x: x)
        lower = staticmethod(lambda x: Lowered)

    found = count_operations(Jitted(), (X,), {})
    assert (found.amount, found.caveats) == (None, ("XLA counts none",))
