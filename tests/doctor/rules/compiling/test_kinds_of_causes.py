"""Weak types, structures and settings that vary are found in real programs, and what is advised compiles once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import recompile

X = np.linspace(0, 1, 9, dtype=np.float32).reshape(3, 3)


@pytest.fixture(autouse=True)
def whatever_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short compilations count as well, so that nothing here depends on the clock."""
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)
    monkeypatch.setattr(recompile, "_LEAST_SINGLE_NS", 1)


def the_one(run: Callable[[], Any]) -> RuleFinding:
    (finding,) = jaxmagic.diagnose(run, only=["recompile"]).findings
    return finding


def said(finding: RuleFinding) -> list[str]:
    return list(map(str, (*finding.evidence, finding.remedy)))


@jax.jit
def advance(state: Any) -> Any:
    return jnp.sin(state) @ state * jnp.float32(0.5)


def test_a_state_that_begins_with_a_weak_type_is_named() -> None:
    def train() -> None:
        state = jnp.repeat(1.0, 9).reshape(3, 3)
        for _ in range(3):
            state = advance(state)

    finding = the_one(train)
    assert said(finding) == [
        "state: f32[3,3] (an array) after f32[3,3] (a weakly typed array).",
        "Pass jnp.asarray(state, jnp.float32) in every call. All these programs return the same dtypes.",
    ]
    assert finding.code == "advance(jnp.asarray(state, jnp.float32))"
    advance.clear_cache()
    state = jnp.repeat(1.0, 9).reshape(3, 3)
    for _ in range(3):
        state = eval(finding.code, {"advance": advance, "jnp": jnp, "state": state})
    assert advance._cache_size() == 1


@pytest.mark.parametrize("before_as_well", [False, True])
def test_one_program_that_differs_from_calls_before_the_code_is_needed(before_as_well: bool) -> None:
    advance.clear_cache()
    weak, state = jnp.repeat(1.0, 9).reshape(3, 3), jnp.ones((3, 3))
    with jaxmagic.stopwatch() as watch:
        advance(weak)
    assert watch.timing.compilations

    def step() -> Any:
        return advance(weak) + advance(state) if before_as_well else advance(state)

    findings = jaxmagic.diagnose(step, only=["recompile"]).findings
    assert [each.found.facts["cause"] for each in findings] == ["weak type"] * before_as_well


@jax.jit
def summed(batch: Any) -> Any:
    return sum(jnp.sin(each).sum() for each in jax.tree.leaves(batch))


def test_the_leaf_that_only_some_calls_have_is_named() -> None:
    batches = [{"x": X}, {"x": X, "mask": X}, {"x": X, "mask": X, "y": X}, {"y": X}]

    finding = the_one(lambda: [summed(each) for each in batches])
    *evidence, remedy = said(finding)
    assert finding.found.facts["cause"] == "pytree"
    assert evidence[:2] == [
        "batch: dict with keys 'mask', 'x' after dict with key 'x'.",
        "batch: dict with keys 'mask', 'x', 'y' after dict with keys 'mask', 'x'.",
    ]
    assert remedy.startswith("Pass batch with the same containers, keys and lengths in every call.")
    summed.clear_cache()
    missing = {"x": 0 * X, "mask": 0 * X, "y": 0 * X}
    whole = [float(summed(missing | each)) for each in batches]
    assert summed._cache_size() == 1
    assert whole == pytest.approx([float(summed(each)) for each in batches])


def test_arguments_that_are_passed_in_different_ways_are_told() -> None:
    def run() -> None:
        power(X, X)
        power(X, n=X)
        power(x=X, n=X)
        power(n=X, x=X)
        power(X)

    finding = the_one(run)
    assert said(finding)[0] == "The arguments are passed differently: 1 by position, n=… now, 2 by position before."
    assert str(finding.remedy) == "Pass the same arguments, containers and keys in every call."


@jax.jit
def power(x: Any, n: Any = 2) -> Any:
    return jnp.sin(x) ** n


def x64() -> Any:
    return jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64()


@jax.jit
def product(x: Any) -> Any:
    return jnp.sin(x) @ x


def test_the_setting_that_varies_is_named() -> None:
    def run() -> None:
        for precision in ("highest", "float32", "bfloat16", "default"):
            with jax.default_matmul_precision(precision):
                product(X)

    finding = the_one(run)
    *evidence, remedy = said(finding)
    assert "jax_default_matmul_precision: float32 after highest." in evidence
    assert remedy == (
        "Programs depend on jax_default_matmul_precision. If one value will do, set it once, before the first call: "
        'jax.config.update("jax_default_matmul_precision", value).'
    )
    before = jax.config.jax_default_matmul_precision
    product.clear_cache()
    try:
        jax.config.update("jax_default_matmul_precision", "float32")
        for _ in range(3):
            product(X)
    finally:
        jax.config.update("jax_default_matmul_precision", before)
    assert product._cache_size() == 1


@jax.jit
def logarithm(x: Any) -> Any:
    return jnp.log(x) @ x


def test_several_settings_are_named_and_not_the_dtype_that_follows() -> None:
    doubles = np.ones((3, 3))

    def run() -> None:
        logarithm(doubles)
        with x64():
            logarithm(doubles)
        with jax.numpy_dtype_promotion("strict"):
            logarithm(doubles)
        with x64(), jax.numpy_dtype_promotion("strict"):
            logarithm(doubles)

    finding = the_one(run)
    assert said(finding)[:2] == [
        "jax_enable_x64: True after False.",
        "jax_numpy_dtype_promotion: strict after standard.",
    ]
    assert str(finding.remedy).startswith("Programs depend on jax_enable_x64, jax_numpy_dtype_promotion.")
