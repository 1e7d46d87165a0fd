"""Outputs that differ by little more than rounding are compared once more with 64-bit types."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell

import jaxmagic
from jaxmagic.doctor.capture.failures.jit_calls import double_precision, mended
from jaxmagic.doctor.capture.failures.jit_calls.double_precision import Compared, compared_in_64_bits
from jaxmagic.doctor.record.finding import Verified
from jaxmagic.doctor.report.diagnosis import about_verified
from jaxmagic.records.note import note

DIFFERENT = {
    "an integer that overflows": """
        @jax.jit
        def f(x):
            return np.asarray(x, "int64") * 100_000 * 1.0  # here
        f(jnp.arange(50_000, 50_003))
    """,
    "integers": """
        @jax.jit
        def f(x):
            return np.asarray(x, "int64") * 100_000  # here
        f(jnp.arange(50_000, 50_003))
    """,
    "another shape": """
        @jax.jit
        def f(x):
            return np.add(x, 0.0) * (1.0 if isinstance(x, jax.core.Tracer) else np.ones((1, 3)))  # here
        f(jnp.ones(3))
    """,
    "another value": """
        @jax.jit
        def f(x):
            return np.add(x, 0.0) * (1.0 if isinstance(x, jax.core.Tracer) else 2.0)  # here
        f(jnp.ones(3))
    """,
}


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mended, "_LONGEST_NS", 10**8)


def tried(cell: str) -> Verified:
    (finding,) = jaxmagic.explain_error(Cell(cell).error, verify=True, budget_s=600).findings
    assert finding.verified is not None
    return finding.verified


def outputs(error: float, dtype: str = "float32", rtol: float = 1e-3) -> Verified:
    told = note("doctor.outputs_error", error=error, allowed=rtol, dtype=dtype, leaf="", rtol=rtol)
    return Verified(outputs_agree=False, notes=(note("doctor.mended", function="f", code="f(x)"), told))


def compared(verified: Verified, plain: Any, changed: Any, *, late: bool = False) -> Compared:
    given: Any = ([jnp.float32(0.1)], {"y": np.float32(0.2)})
    return compared_in_64_bits(verified, (plain, given), (changed, given), 0, lambda: int(late))


def say(verified: Verified) -> str:
    return " ".join(about_verified(verified, rule="error"))


def test_rounding_that_the_code_magnifies_is_no_other_result() -> None:
    types: list[Any] = []

    def plain(x: Any, y: Any) -> Any:
        types.extend([x.dtype, y.dtype])
        return np.asarray(x) + np.asarray(y)

    def changed(x: Any, y: Any) -> Any:
        return jnp.asarray(x) + y * (1 if x.dtype == jnp.float64 else 1.01)

    found = compared(outputs(5e-3), plain, jax.jit(changed))
    assert types == [np.float64, np.float64]
    assert found[1:] == (1, 1)
    assert found.verified.outputs_agree
    assert found.verified.survives is None, "no times were measured"
    assert say(found.verified).endswith(
        "The outputs agree to the precision of float32: they differ by up to 0.5 % of the largest value, and with "
        "64-bit types (jax_enable_x64) and float64 arguments, they agree to the rounding of float64."
    )
    assert not jax.config.jax_enable_x64
    assert jnp.asarray(1.5).dtype == jnp.float32


@pytest.mark.parametrize(
    ("changed", "late", "runs", "why"),
    [
        (lambda x, y: x + y * 1.000001, False, (1, 1), "and float64 arguments, they do not agree either."),
        (lambda x, y: (x + y).astype("float32"), False, (1, 1), "and float64 arguments, they do not agree either."),
        (lambda x, y: x + y.missing, False, (1, 1), "which would show that, the code fails or was interrupted."),
        (lambda x, y: x + y, True, (0, 0), "no time was left to compare with 64-bit types."),
    ],
    ids=["other values", "other types", "an error", "no time"],
)
def test_without_agreement_in_64_bits_the_verdict_is_not_certain(
    changed: Any, late: bool, runs: tuple[int, int], why: str
) -> None:
    found = compared(outputs(5e-3), lambda x, y: x + y, changed, late=late)
    assert found[1:] == runs
    assert found.verified.survives is False
    said = say(found.verified)
    assert "Not recommended here, because it may change the result." in said
    assert "differ by up to 0.5 % of the largest value, more than the 0.1 % that counts as rounding" in said
    assert said.endswith(why)
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize(
    "verified",
    [
        outputs(0.5),
        outputs(3.0, "int32", 0.0),
        Verified(outputs_agree=False, notes=(note("doctor.outputs_problem", leaf="[0]", problem="different shape"),)),
        Verified(outputs_agree=True),
        Verified(outputs_agree=None, notes=(note("doctor.outputs_vary"),)),
    ],
    ids=["far", "integers", "a problem", "agreement", "unknown"],
)
def test_nothing_runs_once_more_where_the_verdict_is_certain(verified: Verified) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError

    assert compared(verified, never, never) == (verified, 0, 0)


@pytest.mark.parametrize("cell", DIFFERENT.values(), ids=DIFFERENT)
def test_another_result_stays_one(cell: str) -> None:
    verified = tried(cell)
    assert verified.outputs_agree is False
    assert "because it changes the result" in say(verified)


def noisy(small: float, small_wide: float, changed: float, changed_wide: float, others: Any = jnp.ones) -> Compared:
    """Compare a small leaf beside another one, with its values in both precisions, without and with a remedy."""

    def returns(value: float, wide: float) -> Any:
        def function(x: Any, y: Any) -> dict[str, Any]:
            return {"b": jnp.full(2, wide if x.dtype == np.float64 else value, x.dtype), "w": others(3, x.dtype)}

        return function

    plain, changed_one = returns(small, small_wide), returns(changed, changed_wide)
    given: Any = ([jnp.float32(0.1)], {"y": np.float32(0.2)})
    both = plain(*given[0], **given[1]), changed_one(*given[0], **given[1])
    error, rtol, leaf = abs(small - changed), 3.5e-4, "['b']"
    told = note("doctor.outputs_error", error=error, allowed=small * rtol, dtype="float32", leaf=leaf, rtol=rtol)
    verified = Verified(outputs_agree=False, notes=(told,))
    return compared_in_64_bits(verified, (plain, given), (changed_one, given), 0, lambda: 0, both)


def test_a_leaf_that_is_zero_but_for_rounding_is_no_other_result() -> None:
    found = noisy(1e-7, 1e-16, -2e-7, 3e-16)
    assert found.verified.outputs_agree
    assert say(found.verified) == (
        "The outputs agree to the precision of float32. The values at ['b'] are rounding alone: up to 2e-07, beside "
        "1 elsewhere, but with 64-bit types (jax_enable_x64) and float64 arguments up to 3e-16. There, the other "
        "outputs agree to the rounding of float64."
    )
    assert noisy(0.0, 0.0, -2e-7, 3e-16).verified.outputs_agree


@pytest.mark.parametrize(
    ("values", "runs"),
    [((1e-7, 1e-7, -2e-7, -2e-7), 1), ((1e-7, 1e-7, -2e-7, 1e-16), 1), ((0.1, 1e-16, -0.2, 3e-16), 0)],
    ids=["as small in 64 bits", "one of both", "not small"],
)
def test_a_small_leaf_with_other_values_is_another_result(values: tuple[float, ...], runs: int) -> None:
    found = noisy(*values)
    assert found.verified.outputs_agree is False
    assert found[1:] == (runs, runs)


@pytest.mark.parametrize(("sizes", "runs"), [([1.0, 1.5], 0), ([1.0, 1.0, 1.0, 1.5], 1)], ids=["float32", "float64"])
def test_rounding_in_one_leaf_hides_no_difference_in_another(sizes: list[float], runs: int) -> None:
    left = iter(sizes)
    found = noisy(1e-7, 1e-16, -2e-7, 3e-16, lambda size, dtype: jnp.full(size, next(left), dtype))
    assert found[1:] == (runs, runs)
    assert found.verified.outputs_agree is False


def test_a_bias_before_a_normalization_changes_nothing() -> None:
    verified = tried("""
        @jax.jit
        def step(w, b, x, train):
            def loss(w, b):
                h = x @ w + b
                if train:  # here
                    h = h - h.mean(0)
                return jnp.sum(jnp.tanh(h)[:, 0] ** 2)
            return jax.value_and_grad(loss, (0, 1))(w, b)
        x = jnp.sin(jnp.arange(256.0)).reshape(32, 8)
        step(jnp.linspace(-1.0, 1.7, 40).reshape(8, 5), jnp.linspace(1, 2, 5), x, True)
    """)
    assert verified.outputs_agree


def test_the_report_counts_the_runs_with_64_bit_types(monkeypatch: pytest.MonkeyPatch) -> None:
    real, runs = double_precision.compared_in_64_bits, []

    def counted(*given: Any) -> Compared:
        runs.append([int(given[0].notes[-1].facts[each]) for each in ("before_runs", "after_runs")])
        return real(*given)

    monkeypatch.setattr(mended, "compared_in_64_bits", counted)
    verified = tried("""
        @jax.jit
        def f(x):
            return np.add(x, 0.0) * (1.0 if isinstance(x, jax.core.Tracer) else 1.002)  # here
        f(jnp.ones(3))
    """)
    ((without, changed),) = runs
    assert dict(verified.notes[-1].facts) == {"without": without + 2, "mended": changed + 1}
    assert "because it may change the result" in say(verified)


def test_magnified_rounding_of_numpy_is_recommended() -> None:
    verified = tried("""
        @jax.jit
        def f(x):
            return jnp.log(jnp.abs(np.fft.rfft(x * np.hanning(len(x)))) ** 2 + 1e-8)  # here
        f(jnp.sin(jnp.arange(256.0)))
    """)
    assert verified.outputs_agree
    kinds = [each.kind for each in verified.notes]
    assert ("doctor.outputs_precision" in kinds) is ("doctor.outputs_error" not in kinds)
