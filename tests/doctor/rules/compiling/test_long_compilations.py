"""Programs that XLA compiles for long: the threshold is lowered, so nothing depends on how fast a machine is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import compile_time

#: Flags of JAX's persistent cache.
FLAGS = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"

TABLE = np.random.default_rng(0).normal(size=(40, 25)).astype("f4")


@pytest.fixture(autouse=True)
def any_program_is_long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One nanosecond of XLA's time counts, and JAX would keep any program in its cache, which is off."""
    before = {name: getattr(jax.config, name) for name in FLAGS}
    monkeypatch.setattr(compile_time, "_LEAST_NS", 1)
    jax.config.update(FLAGS[1], 0)
    yield
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def found_in(function: Any, *args: Any) -> RuleFinding:
    (finding,) = jaxmagic.diagnose(function, *args, only="compile-time").findings
    assert finding.cost_ns is not None
    assert finding.cost_ns > 0
    assert (finding.basis, finding.per) == ("measured", "first run")
    return finding


def notes(finding: RuleFinding) -> dict[str, dict[str, Any]]:
    return {each.kind.removeprefix("doctor."): dict(each.facts) for each in finding.evidence}


def at(function: Any, line: int) -> str:
    """Return a line of a function, counted from its first."""
    return f"{__file__}:{function.__code__.co_firstlineno + line}"


@jax.jit
def loss(w: Any, x: Any) -> Any:
    return jnp.sum(jnp.tanh(x @ w))


slope = jax.jit(jax.value_and_grad(loss))


def test_a_gradient_that_is_jitted_is_named_by_its_own_line() -> None:
    """The function's own jit is inlined there, and compiles nothing."""

    def train(w: Any, x: Any) -> Any:
        return slope(w, x)

    finding = found_in(train, jnp.ones((3, 3)), jnp.ones((3, 3)))
    assert finding.source == "slope = jax.jit(jax.value_and_grad(loss))"


def test_an_unrolled_loop_is_named_and_cached() -> None:
    def layers(x: Any, w: Any) -> Any:
        for _ in range(60):
            x = jnp.sin(x @ w)
        return x.sum()

    finding = found_in(jax.jit(layers), jnp.ones((3, 3)), jnp.ones((3, 3)))
    assert str(finding.found).startswith("layers takes ")
    line = notes(finding)["compile_time_line"]
    assert (line["line"], line["source"]) == (at(layers, 2), "x = jnp.sin(x @ w)")
    assert 120 <= line["equations"] <= line["total"]
    assert "cache_off" in notes(finding)
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.compile_time_cache"
    assert finding.code is not None
    assert finding.code.endswith('jax.config.update("jax_compilation_cache_dir", "jax_cache")')


def test_work_on_a_captured_array_is_named_and_moved_out() -> None:
    def ranked(x: Any) -> Any:
        return x + jnp.sort(jnp.asarray(TABLE), axis=0)[0]

    finding = found_in(jax.jit(ranked), jnp.ones(25))
    folded = notes(finding)["compile_time_constant"]
    assert folded == {"line": at(ranked, 1), "source": "return x + jnp.sort(jnp.asarray(TABLE), axis=0)[0]"}
    assert str(finding.remedy) == "Compute this part once outside of ranked, and pass the result as an argument."
    assert finding.code is None


@pytest.mark.parametrize("calls_python", [True, False])
def test_what_the_cache_that_is_on_does_not_keep_is_told(calls_python: bool, tmp_path: Path) -> None:
    """Before JAX 0.11, it keeps no program that calls Python."""

    def told(x: Any) -> Any:
        if calls_python:
            jax.debug.callback(lambda value: None, x.sum())
        return jnp.sin(x) * 2

    jax.config.update(FLAGS[0], str(tmp_path))
    compilation_cache.reset_cache()
    finding = found_in(jax.jit(told), jnp.ones((3, 3)))
    kept = any("told" in each.name for each in tmp_path.iterdir())
    assert finding.remedy is finding.code is None
    assert "cache_off" not in notes(finding)
    assert kept or calls_python
    assert kept == ("cache_callbacks" not in notes(finding))


def test_a_step_of_optax_is_named_at_the_users_line() -> None:
    optax = pytest.importorskip("optax")
    optimizer = optax.adam(1e-3)

    def step(params: Any, state: Any) -> Any:
        updates, state = optimizer.update(params, state, params)
        return optax.apply_updates(params, updates), state

    params = {str(number): jnp.ones(3) for number in range(30)}
    finding = found_in(jax.jit(step), params, optimizer.init(params))
    assert str(finding.found).startswith("step takes ")
    assert finding.line == at(step, 0)
    line = notes(finding)["compile_time_line"]
    assert (line["line"], line["source"]) == (at(step, 1), "updates, state = optimizer.update(params, state, params)")
    assert line["equations"] > 30 * 5
