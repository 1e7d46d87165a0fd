"""Programs of one function are compared by operations, parameters, shapes and results, and then by constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.compiled import equal_programs
from jaxmagic.doctor.capture.compiled.equal_programs import kinds_of_programs
from jaxmagic.doctor.record.program import ProgramKind

X = np.ones((3, 3), np.float32)


def kinds(*functions: Callable[[Any], Any]) -> list[ProgramKind | None]:
    traced = [jax.make_jaxpr(function, return_shape=True)(X) for function in functions]
    found = kinds_of_programs(
        {number: ("f", jaxpr, jax.tree.structure(shape)) for number, (jaxpr, shape) in enumerate(traced)}
    )
    return [found.get(number) for number in range(len(functions))]


def traced_anew(make: Callable[[], Callable[[Any], Any]]) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    return make(), make()


@jax.custom_vjp
def squared(x: Any) -> Any:
    return x * x


squared.defvjp(lambda x: (x * x, x), lambda x, given: (2 * x * given,))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x @ x * 2.0,
        lambda x: jax.nn.relu(jnp.einsum("ij,kj->ik", x, x)),
        lambda x: jax.lax.scan(lambda carry, each: (carry + each, carry), x[0], x),
        lambda x: jax.lax.while_loop(lambda each: each.sum() < 9, lambda each: each + 1, x),
        lambda x: jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x),
        lambda x: x[jnp.array([0, 2])] + np.arange(3),
        lambda x: x.at[0].set(1.0),
        lambda x: jax.random.normal(jax.random.key(0), (3,)),
        lambda x: squared(jax.vmap(squared)(x)),
        lambda x: jax.lax.conv(x[None, None], x[None, None], (1, 1), "SAME"),
    ],
)
def test_what_is_traced_twice_is_equal(function: Callable[[Any], Any]) -> None:
    first, second = kinds(*traced_anew(lambda: lambda x: function(x)))
    assert first is not None
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (jnp.sin, jnp.cos),
        (lambda x: x.sum(0), lambda x: x.sum(1)),
        (lambda x: x @ x, lambda x: x @ x.T),
        (lambda x: (x, x + 1), lambda x: (x + 1, x)),
        (lambda x: (x, x), lambda x: [x, x]),
        (lambda x: {"a": x}, lambda x: {"b": x}),
        (lambda x: x - x[0], lambda x: x[0] - x),
        (
            lambda x: jax.lax.scan(lambda a, b: (a + b, a), x[0], x),
            lambda x: jax.lax.scan(lambda a, b: (a, a), x[0], x),
        ),
        (lambda x: x[:2], lambda x: x[1:]),
        (lambda x: x**2, lambda x: x**3),
        (lambda x: x.astype(jnp.int32), lambda x: x.astype(jnp.int8)),
        (
            lambda x: jax.pure_callback(lambda x: x, x, x),
            lambda x: jax.pure_callback(lambda x: x, x, x),
        ),
    ],
)
def test_what_differs_in_operations_is_another_kind(one: Callable[[Any], Any], other: Callable[[Any], Any]) -> None:
    first, second = kinds(one, other)
    assert first is not None
    assert second is not None
    assert first.operations != second.operations
    assert first.constants != second.constants


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: x * 2.0, lambda x: x * 3.0),
        (lambda x: x * 0.0, lambda x: x * -0.0),
        (lambda x: x + np.arange(3), lambda x: x + np.arange(1, 4)),
        (lambda x: x + jnp.asarray([1.0, 2.0, 3.0]), lambda x: x + jnp.asarray([1.0, 2.0, 4.0])),
        (lambda x: jax.nn.relu(x) * 2.0, lambda x: jax.nn.relu(x) * 5.0),
    ],
)
def test_what_differs_in_constants_alone(one: Callable[[Any], Any], other: Callable[[Any], Any]) -> None:
    first, second = kinds(one, other)
    assert first is not None
    assert second is not None
    assert first.operations == second.operations
    assert first.constants != second.constants


def test_a_program_that_is_too_long_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_programs, "_MOST_EQUATIONS", 1)
    assert kinds(lambda x: x + 1 + 2, lambda x: x + 1 + 2) == [None, None]


def test_a_constant_that_is_too_large_equals_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_programs, "_MOST_BYTES", 1)
    first, second = kinds(lambda x: x + np.arange(3), lambda x: x + np.arange(3))
    assert first is not None
    assert second is not None
    assert first.operations == second.operations
    assert first.constants != second.constants


def test_an_only_program_and_one_of_an_unknown_function_have_no_kind() -> None:
    jaxpr = jax.make_jaxpr(jnp.sin)(X)
    traced = {0: ("f", jaxpr, "*"), 1: (None, jaxpr, "*"), 2: (None, jaxpr, "*"), 3: ("g", jaxpr, "*")}
    assert kinds_of_programs(traced) == {}
