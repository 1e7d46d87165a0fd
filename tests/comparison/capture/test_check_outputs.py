"""Do two candidates compute the same?"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.comparison.capture.check_outputs import check_output

X = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
LONG = np.linspace(0, 8, 64)


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        (X, X),
        (jnp.asarray(X), X),
        (X + np.float32(1e-5), X),
        (X.astype(np.float64), X),
        ({"w": X, "n": 3}, {"w": X, "n": 3}),
        (3, 3.0),
        (None, None),
        ("text", "text"),
        ([], []),
        (np.zeros(0), np.zeros(0)),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan])),
        (jnp.asarray(X, jnp.bfloat16), X),
        (X + 1j, X + 1j),
        (np.array([True, False]), np.array([True, False])),
    ],
)
def test_what_is_close_passes(value: Any, reference: Any) -> None:
    assert check_output(value, reference, "allclose").passed


def test_keys_are_compared() -> None:
    one, other = jax.random.key(0), jax.random.key(1)
    assert check_output(one, one, "equal").passed
    assert not check_output(one, other, "equal").passed


@pytest.mark.parametrize(
    ("value", "reference", "leaf", "problem"),
    [
        ({"a": X}, {"b": X}, None, "different structure"),
        ((X, X), (X,), None, "different structure"),
        ({"w": X[:2]}, {"w": X}, "['w']", "different shape: (2, 4), not (3, 4)"),
        ("text", "other", "the output", "different value"),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "the output", "NaN or infinite"),
        (np.array([np.inf]), np.array([1.0]), "the output", "NaN or infinite"),
    ],
)
def test_what_does_not_fit_is_named(value: Any, reference: Any, leaf: str | None, problem: str) -> None:
    found = check_output(value, reference, "allclose")
    assert not found.passed
    assert found.leaf == leaf
    assert problem in (found.problem or "")


def test_the_leaf_with_the_largest_error_is_named_with_it() -> None:
    found = check_output({"a": X + 0.25, "b": X + 0.5, "c": X}, {"a": X, "b": X, "c": X}, "allclose")
    assert (found.passed, found.leaf) == (False, "['b']")
    assert found.largest_error == pytest.approx(0.5)
    assert found.atol == found.rtol * 1.0
    assert found.dtype == found.like_dtype == "float32"
    low = check_output(X.astype(jnp.bfloat16), X, "allclose")
    assert (low.passed, low.dtype, low.like_dtype) == (True, "bfloat16", "float32")


@pytest.mark.parametrize(("x64", "passed", "dtype"), [(False, True, "float32"), (True, False, "float64")])
def test_a_float_of_python_is_as_precise_as_the_array_that_it_may_come_from(
    x64: bool, passed: bool, dtype: str
) -> None:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", x64)
    try:
        found = check_output([1.0 + 1e-6], [1.0], "allclose")
        of_numpy = check_output(np.float64(1.0 + 1e-6), np.float64(1.0), "allclose")
    finally:
        jax.config.update("jax_enable_x64", before)
    assert (found.passed, found.dtype, found.like_dtype) == (passed, dtype, dtype)
    assert not of_numpy.passed


def test_a_leaf_that_fails_is_named_before_one_with_a_larger_error_that_passes() -> None:
    large = np.array([1e6, 1.0], np.float32)
    found = check_output({"a": large + np.float32(1), "b": X + 0.1}, {"a": large, "b": X}, "allclose")
    assert (found.passed, found.leaf) == (False, "['b']")


@pytest.mark.parametrize(
    ("value", "passed"), [(X, True), (X + np.float32(1e-6), False), (X.astype(np.float64), False)]
)
def test_equal_is_every_bit_and_the_type(value: Any, passed: bool) -> None:
    assert check_output(value, X, "equal").passed is passed


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(0.0, -0.0, False), (-0.0, -0.0, True), (np.nan, np.nan, True), (np.nan, -np.nan, False), (0.0, 1e-45, False)],
)
def test_equal_tells_values_apart_that_only_their_bits_do(one: float, other: float, same: bool) -> None:
    found = check_output({"x": np.float32(one)}, {"x": np.float32(other)}, "equal")
    assert (found.passed, found.leaf) == (same, "['x']")


def test_integers_have_no_tolerance() -> None:
    assert not check_output(np.array([1_000_000]), np.array([1_000_001]), "allclose").passed


def test_what_cannot_be_compared_does_not_pass() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert not check_output(loop, X, "allclose").passed
    deleted = jnp.ones(3)
    deleted.delete()
    found = check_output(deleted, np.ones(3), "allclose")
    assert (found.passed, found.problem) == (False, "cannot be read (RuntimeError)")


@pytest.mark.parametrize(
    ("value", "reference", "given", "passes"),
    [
        ([1.0005, 1e-9], [1.0, 0.0], (1e-3, 0.0), False),  # an element near zero has no relative error
        ([1.0005, 1e-9], [1.0, 0.0], (1e-3, 1e-8), True),
        ([1.002, 100.0], [1.0, 100.0], (1e-3, 0.0), False),  # each element, not the largest alone
        ([1.002, 100.0], [1.0, 100.0], (0.0, 0.003), True),
        ([np.inf, np.nan], [np.inf, np.nan], (1e-3, 0.0), True),
        ([np.inf], [-np.inf], (1e-3, 0.0), False),
        ([3, 4], [3, 5], (0.25, 0.0), True),
        ([3, 4], [3, 5], (0.0, 0.0), False),
        ([1.0], [1.0], (0.0, 0.0), True),
        ([], [], (1e-3, 0.0), True),
    ],
)
def test_a_given_tolerance_is_that_of_numpy(value: Any, reference: Any, given: Any, passes: bool) -> None:
    one, other = np.asarray(value), np.asarray(reference)
    found = check_output(one, other, given)
    assert found.passed == passes == np.allclose(one, other, rtol=given[0], atol=given[1], equal_nan=True)
    assert found.problem is not None or (found.given, found.rtol, found.atol) == (True, *given)


def test_the_error_that_is_named_is_beyond_the_given_tolerance() -> None:
    value, reference = np.array([1001.0, 0.5]), np.array([1000.0, 0.0])
    assert check_output(value, reference, (0.01, 0.0)).largest_error == 0.5
    assert check_output(value, reference, (0.01, 1.0)).largest_error == 1.0


def test_an_object_beside_a_number_is_a_different_value() -> None:
    for value, reference in ((abs, 1.0), (1.0, abs)):
        check = check_output(value, reference, "allclose")
        assert (check.passed, check.problem) == (False, "different value")


@pytest.mark.parametrize(
    ("value", "mean"),
    [
        (LONG + 0.5, 0.5),
        (LONG + 0.5 * (-1.0) ** np.arange(64), 0.0),
        (np.where(LONG == 0, np.nan, LONG - 0.25), -0.25 * 63 / 64),
        (LONG[:15] + 0.5, None),
        (LONG + 0.5j, None),
    ],
)
def test_errors_have_a_mean_with_its_sign(value: Any, mean: float | None) -> None:
    reference = np.where(np.isnan(value), np.nan, LONG[: value.size])
    found = check_output(value, reference, (0.0, 1.0))
    assert found.passed
    assert found.mean_error == (None if mean is None else pytest.approx(mean))


def test_numbers_that_are_all_the_same_are_rounded_in_one_direction() -> None:
    assert check_output(np.full(64, 1.01), np.ones(64), (0.1, 0.0)).mean_error is None


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
@pytest.mark.parametrize("make", [jax.random.normal, jax.random.uniform])
def test_rounding_has_no_direction(dtype: Any, make: Any) -> None:
    x = make(jax.random.key(0), (128, 128))
    low = x.astype(dtype)
    for value, reference in ((low @ low, x @ x), (jax.nn.softmax(low), jax.nn.softmax(x)), (low.mean(0), x.mean(0))):
        found = check_output(value, reference, "allclose")
        assert found.mean_error is not None
        assert found.largest_error is not None
        assert abs(found.mean_error) < found.largest_error / 4
