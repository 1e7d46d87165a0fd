"""A number that ``equinox.filter_jit`` makes static is passed as an array, where a function only computes with it."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.rules.compiling.recompilations import Group
from jaxmagic.doctor.rules.compiling.static.passed_array import call_with_array

STEP = """@eqx.filter_jit
def step(model, x, rate):
    loss, gradients = eqx.filter_value_and_grad(loss_of)(model, x)
    return jax.tree.map(lambda w, g: w - rate * g, model, gradients), loss
"""

CALL = """
def fit(model, xs):
    for n, x in enumerate(xs):
        model, loss = step(model, x, 0.1 / (n + 1))
    return model
"""


@pytest.fixture
def code_for(tmp_path: Path, timing: Any, compilation: Any) -> Callable[..., str | None]:
    """Return the recommended call of a function that a file defines and calls."""

    def made(source: str, argument: str = "rate", now: str = "0.05", before: str = "0.1") -> str | None:
        file = tmp_path / "program.py"
        file.write_text(source)
        linecache.checkcache(str(file))
        reason = f"static argument {argument}: {now} now, {before} before"
        cause = Cause(kind="static value", reason=reason, argument=argument, now=now, before=before)
        group = Group("step", f"{file}:1", "static value", [compilation(cause=cause)] * 3)
        return call_with_array(group, Evidence(code="fit(model, xs)", first=timing(), observed=timing()))

    return made


def test_the_only_call_passes_an_array(code_for: Callable[..., str | None]) -> None:
    assert code_for(STEP + CALL) == "model, loss = step(model, x, jnp.asarray(0.1 / (n + 1)))"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("print(step(m, x, rate=r))", "print(step(m, x, rate=jnp.asarray(r)))"),
        ("while step(m, x, r)[1] > 0:\n    x = x / 2", "step(m, x, jnp.asarray(r))"),
        ("model = step(m, x, r * r)[0] if r else step", "model = step(m, x, jnp.asarray(r * r))[0] if r else step"),
    ],
)
def test_the_call_is_where_it_was(code_for: Callable[..., str | None], call: str, code: str) -> None:
    assert code_for(STEP + call) == code


@pytest.mark.parametrize(
    "call",
    ["step(m, x, 0.1)", "step(*given)", "step(m, x, **more)", "step(m, x, a)\nstep(m, x, b)", "x.step(m, x, a)"],
)
def test_there_is_no_code_for_other_calls(code_for: Callable[..., str | None], call: str) -> None:
    assert code_for(STEP + call) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("eqx.filter_jit", "jax.jit"),
        ("eqx.filter_jit", "eqx.filter_jit(donate='all')"),
        ("rate * g", "jnp.ones(rate)"),
        ("rate * g", "(g if rate > 0.1 else w)"),
        ("jax.tree.map", "jax.vmap"),
        (", model, gradients", ", range(3)"),
    ],
)
def test_there_is_no_code_where_the_value_may_be_needed(
    code_for: Callable[..., str | None], before: str, after: str
) -> None:
    assert before in STEP
    assert code_for(STEP.replace(before, after) + CALL) is None


def test_a_value_that_is_no_number_or_needs_more_digits_stays(code_for: Callable[..., str | None]) -> None:
    assert code_for(STEP + CALL, now="True", before="False") is None
    assert code_for(STEP + CALL, now="16777217") is None
    assert code_for(STEP + CALL, argument="x") is None


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32])
def test_an_array_of_a_number_computes_as_the_number_does(dtype: Any) -> None:
    """What JAX makes of a number with ``jnp.asarray`` is weakly typed, like the number."""
    x = jnp.linspace(0, 1, 5, dtype=dtype)
    for number in (3, 0.3):
        traced, static = jax.jit(lambda x, n: x * n)(x, jnp.asarray(number)), x * number
        assert traced.dtype == static.dtype
        np.testing.assert_array_equal(traced, static)
