"""Programs are described by what they do, also those that nobody calls by a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.compiled.programs import programs_of, watch

X = np.ones(5, np.float32)


def silent(_: Any) -> None:
    """Take a value that a program passes."""


def talking(x: Any) -> Any:
    jax.debug.callback(silent, x.sum())
    return jnp.sin(x)


def pure(x: Any) -> Any:
    return jax.pure_callback(lambda each: each, x, x)


def talking_body(carry: Any, _: Any) -> tuple[Any, None]:
    jax.debug.callback(silent, carry)
    return carry, None


@pytest.mark.parametrize(
    ("run", "name", "calls_python"),
    [
        (lambda: jax.jit(talking)(X), "jit_talking", {True}),
        (lambda: jax.jit(jnp.cos)(X), "jit_cos", {False}),
        (lambda: jax.vmap(jax.jit(talking))(X), "jit_talking", {True}),
        (lambda: jax.vjp(jax.jit(talking), X)[1](X), "jit_talking", {True, False}),  # forward and backward
        (lambda: jax.lax.scan(talking_body, 1.0, None, length=2), "jit_scan", {True}),
        (lambda: jax.jit(pure).lower(X).compile()(X), "jit_pure", {True}),
        (lambda: jax.jit(jnp.cos).lower(X).compile()(X), "jit_cos", {False}),
    ],
)
def test_a_program_that_calls_python_is_told_from_others(
    run: Callable[[], Any], name: str, calls_python: set[bool]
) -> None:
    with watch() as observed:
        jax.block_until_ready(run())
    found = programs_of(observed, None) or ()
    assert {each.calls_python for each in found if each.executable.name == name} == calls_python


@jax.jit
def user_silu(x: Any) -> Any:
    return jnp.sin(x)


@pytest.mark.parametrize(
    ("function", "name", "eager"),
    [
        (lambda x: jax.nn.silu(x).sum(), "jit_silu", {True}),
        (lambda x: jnp.linalg.norm(x), "jit_norm", {True}),
        (lambda x: user_silu(x).sum(), "jit_user_silu", {False}),
    ],
)
def test_the_backward_pass_of_an_operation_is_an_operation(function: Any, name: str, eager: set[bool]) -> None:
    """A jitted function of the user's is none, nor is its backward pass: both have no code of their own."""
    with watch() as observed:
        jax.block_until_ready(jax.grad(function)(X))
    found = [each for each in programs_of(observed, None) or () if each.executable.name == name]
    assert {each.eager for each in found} == eager
    assert len({each.transformed for each in found}) == 2  # one forwards, and one backwards


def test_a_program_knows_which_arguments_came_from_the_host() -> None:
    @jax.jit
    def f(x: Any, unused: Any, state: dict[str, Any], rate: Any) -> Any:
        return state["w"] * x + rate * state["key"]

    on_device = jnp.ones(5)
    with watch() as observed:
        f(X, X, {"w": on_device, "key": X}, 2.0)
    (program,) = programs_of(observed, None) or ()
    assert program.module is not None
    assert [program.module.inputs[each].name for each in program.from_host] == ["x", "state['key']", "rate"]
