"""A number that is passed as an int, a float or an array needs one program, and the calls to paste compile one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import recompile

X = np.linspace(0, 1, 60, dtype=np.float32)


@pytest.fixture(autouse=True)
def whatever_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short compilations count as well, so that nothing here depends on the clock."""
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)


def found(run: Callable[[], Any]) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(run, only=["recompile"]).findings)


def programs(code: str | None, values: list[Any]) -> int:
    """Return how many programs `scaled` needs for some values of `k` if it is called by code to paste."""
    assert code is not None
    scaled.clear_cache()
    for k in values:
        exec(code, {"jnp": jnp, "scaled": scaled, "X": X, "k": k})
    return scaled._cache_size()


@jax.jit
def scaled(x: Any, k: Any) -> Any:
    return jnp.sin(x) * k


def test_types_of_python_numbers_are_told_and_one_of_them_holds_all() -> None:
    values: list[Any] = [1, 2.0, True]

    def run() -> None:
        for k in values:
            scaled(X, k)

    (finding,) = found(run)
    assert str(finding.found) == "scaled compiles again twice in the first run for a different kind of value."
    assert list(map(str, finding.evidence)) == [
        "k: f32[] (a Python float) after i32[] (a Python int).",
        "k: bool[] (a Python bool) after f32[] (a Python float).",
    ]
    assert str(finding.remedy).startswith("Pass float(k) in every call.")
    assert finding.code == "scaled(X, float(k))"
    assert programs(finding.code, values) == 1


@pytest.mark.parametrize("other", ["", "other = jax.jit(lambda x, k: x - k)"])
def test_the_calls_of_a_lambda_of_an_earlier_cell_are_written(session: Session, other: str) -> None:
    session.run("import jax, jax.numpy as jnp\nx = jnp.ones(60)")
    session.run(f"{other}\ntimes = jax.jit(lambda x, k: jnp.sin(x) * k)")
    also = "y = other(x, 1)\n" if other else ""
    (found,) = session.run(
        f"%%jaxdoctor -o --only recompile\n{also}for k in [1, 2.0, True]:\n    y = times(x, k)"
    ).findings
    assert found.code == "times(x, float(k))"


def test_numbers_and_arrays_become_arrays() -> None:
    values: list[Any] = [1, 2.0, jnp.float32(3)]

    def run() -> None:
        for k in values:
            scaled(X, k=k)

    (finding,) = found(run)
    assert finding.code == "scaled(X, k=jnp.asarray(k, jnp.float32))"
    assert programs(finding.code, values) == 1


def test_numbers_that_are_written_out_are_written_in_one_type() -> None:
    def run() -> None:
        halved(X, 3)
        halved(X, 2.0)
        halved(X, True)

    (finding,) = found(run)
    assert finding.code == "halved(X, 3.0)\nhalved(X, 1.0)"
    halved.clear_cache()
    exec(finding.code, {"halved": halved, "X": X})
    assert halved._cache_size() == 1


def test_no_call_is_written_if_the_result_has_the_type_of_the_number() -> None:
    counts = np.arange(60)

    def run() -> None:
        for k in (1, 2.0, True):
            doubled(counts, k)

    (finding,) = found(run)
    assert finding.code is None
    assert str(finding.remedy) == (
        "The dtypes of the result depend on the type of this argument. If one type will do, pass float(k) in every "
        "call. It computes with floats, in which integers are exact up to 16,777,216."
    )


@pytest.mark.parametrize(
    ("values", "exact"),
    [([3, 4.0, True], 2**24), ([2.5, 1, jnp.bfloat16(3)], 2**8), ([True, 2.0, jnp.float32(3)], 0)],
)
def test_integers_that_a_type_rounds_are_told(values: list[Any], exact: int) -> None:
    """The first integer that is not told to be exact is not."""
    jitted = jax.jit(lambda x, k: x * k)
    (finding,) = found(lambda: [jitted(X, k) for k in values])
    assert (f"integers are exact up to {exact:,}." in str(finding.remedy)) == bool(exact)
    dtype = jnp.bfloat16 if exact == 2**8 else jnp.float32
    assert not exact or [int(dtype(each)) == each for each in (exact, exact + 1)] == [True, False]


@jax.jit
def halved(x: Any, k: Any) -> Any:
    return x * k / 2


@jax.jit
def doubled(x: Any, k: Any) -> Any:
    return x * k * 2


@jax.jit
def weighted(x: Any, weights: Any) -> Any:
    return jnp.sin(x) * weights["w"] * weights["b"]


def test_a_number_in_a_pytree_is_named() -> None:
    def run() -> None:
        for w in (1, 2.0, True):
            weighted(X, {"w": w, "b": 2.0})

    (finding,) = found(run)
    assert str(finding.remedy).startswith("Pass float(weights['w']) in every call.")
    assert finding.code is None


@pytest.mark.parametrize(
    "values",
    [
        [1j, 2.5, jnp.float32(3)],  # an array of floats does not hold 1j
        [jnp.float32(2), 1, jnp.int32(3)],  # no array was passed for every number
    ],
)
def test_a_type_that_does_not_hold_all_values_is_not_offered(values: list[Any]) -> None:
    jitted = jax.jit(lambda x, k: x + k)
    (finding,) = found(lambda: [jitted(X, k) for k in values])
    assert finding.code is None
    assert str(finding.remedy) == "Pass an array in every call, with jnp.asarray(value, dtype)."


@jax.jit
def both(x: Any, k: Any, bias: Any) -> Any:
    return jnp.sin(x) * k + bias


def test_two_numbers_that_differ_are_not_said_to_be_one() -> None:
    (finding,) = found(lambda: [both(X, k, k) for k in (1, 2.0, True)])
    assert finding.code is None
    assert str(finding.remedy) == "Pass one type of number in every call, such as float(value)."


def test_one_type_of_number_is_no_finding() -> None:
    assert found(lambda: [scaled(X[:50], k) for k in (1.0, 2.0, 3.0)]) == []
