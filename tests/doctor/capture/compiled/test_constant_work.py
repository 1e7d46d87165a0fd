"""Equations of a jaxpr that compute with captured arrays only."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxmagic.doctor.capture.compiled.constant_work import constant_work

TABLE = np.random.default_rng(0).normal(size=(40, 25)).astype("f4")
FEW = TABLE[:3]
COMPUTING = "sort", "cumsum", "exp", "dot_general", "mul", "add", "select_n"


@jax.jit
def ordered(x: Any) -> Any:
    return jnp.sort(x, axis=0)


@jax.custom_jvp
def doubled(x: Any) -> Any:
    return 2 * x


doubled.defjvps(lambda dx, result, x: 2 * dx)


def found(function: Callable[..., Any]) -> list[str]:
    """Return the primitives, without those that index or move elements, which differ among versions of JAX."""
    work = constant_work(jax.make_jaxpr(function)(jnp.ones(25)))
    return [each.primitive for each in work if each.primitive in COMPUTING]


@pytest.mark.parametrize(
    ("function", "primitives"),
    [
        (lambda x: x + ordered(TABLE)[0], ["sort"]),
        (lambda x: x + jnp.cumsum(TABLE, axis=0)[3] + lax.exp(TABLE)[0], ["cumsum", "exp"]),
        (lambda x: x @ (TABLE.T @ jnp.asarray(TABLE)), ["dot_general"]),
        (lambda x: x + doubled(jnp.asarray(TABLE))[0], ["mul"]),
        (lambda x: x * ordered(jnp.where(jnp.arange(25) > 3, TABLE, 0))[0], ["select_n", "sort"]),
    ],
)
def test_what_needs_no_argument_is_found(function: Callable[..., Any], primitives: list[str]) -> None:
    assert found(function) == primitives


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ordered(x * TABLE),
        lambda x: x + ordered(FEW)[0],
        lambda x: [x, jnp.sort(TABLE)][0],
        lambda x: x + jnp.cumsum(jnp.arange(5000.0))[-1],
        lambda x: x + jnp.sort(jnp.ones(5000))[0],
        lambda x: lax.scan(lambda c, row: (c + row, None), x, TABLE)[0],
    ],
    ids=["argument", "few elements", "unused", "made inside", "one value", "loop"],
)
def test_what_needs_an_argument_or_no_time_is_not(function: Callable[..., Any]) -> None:
    assert found(function) == []


def test_the_line_is_that_of_the_outermost_call() -> None:
    def function(x: Any) -> Any:
        return x + ordered(TABLE)[0]

    work = constant_work(jax.make_jaxpr(function)(jnp.ones(25)))[0]
    assert (work.line.file, work.line.line) == (__file__, inspect.getsourcelines(function)[1] + 1)
    assert work.elements == TABLE.size


def test_what_is_no_jaxpr_has_no_work() -> None:
    assert constant_work(object()) == ()
