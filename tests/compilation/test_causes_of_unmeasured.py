"""A call that was not measured is compared with where JAX knows it and less differs from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from settings import enabled_x64

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause

pytestmark = pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="this JAX explains one earlier call at most")

BY_KEYWORD = "the arguments are passed differently: {} now, {} by position before"
HIGHEST = "the setting jax_default_matmul_precision has a different value: highest now, None before"


def cause(call: Callable[[], Any]) -> Cause:
    """Return the cause of the last user function that `call` compiles."""
    with jaxmagic.stopwatch() as watch:
        watch.result = call()
    return [each.cause for each in watch.timing.compilations if not each.eager][-1]


def highest(call: Callable[[], Any]) -> Any:
    with jax.default_matmul_precision("highest"):
        return call()


def test_a_setting_is_the_only_difference_from_a_call_with_the_same_arguments() -> None:
    f, x, short = jax.jit(lambda x: x * 2.75), jnp.ones(8), jnp.ones(2)
    f(x)
    found = cause(lambda: f(x=x))
    assert found.reason == BY_KEYWORD.format("x=…", 1)
    assert found.remedy == "pass each argument by position in every call, or by keyword in every call"
    with enabled_x64():
        assert (
            cause(lambda: f(x)).reason == "the setting jax_enable_x64 has a different value: True now, False before"
        )
    cause(lambda: f(x=short))
    found = cause(lambda: highest(lambda: f(x)))
    assert (found.reason, found.remedy) == (HIGHEST, "set configuration and mesh once, before the first call")


def test_passing_by_keyword_is_the_only_difference_from_a_call_under_the_same_setting() -> None:
    f, x, short = jax.jit(lambda p, x, key: p * x.sum() + key), jnp.ones((12, 4)), jnp.ones((10, 4))
    f(1.0, x, 3)
    cause(lambda: f(1.0, short, 3))
    assert cause(lambda: [highest(lambda: f(1.0, x, 3)), f(1.0, x, key=3)]).reason == BY_KEYWORD.format(
        "2 by position, key=…", 3
    )


def test_a_setting_and_another_shape_are_both_named_where_no_call_is_nearer() -> None:
    f, x, short = jax.jit(lambda x: x * 3.25), jnp.ones(8), jnp.ones(2)
    f(x)
    found = cause(lambda: highest(lambda: f(short)))
    assert found.reason == f"{HIGHEST}; and other differences at x (f32[2] now, f32[8] before)"


def test_passing_by_keyword_is_not_alone_where_a_static_value_differs_too() -> None:
    f = partial(jax.jit, static_argnames="n")(lambda x, y, n: x * y * n)
    x = jnp.ones(7)
    f(x, x, n=3)
    found = cause(lambda: f(x, y=x, n=4))
    assert found.reason == (
        "the arguments are passed differently: 1 by position, n=…, y=… now, 2 by position, n=… before; and something "
        "else, which JAX does not name"
    )
    assert found.remedy is None
