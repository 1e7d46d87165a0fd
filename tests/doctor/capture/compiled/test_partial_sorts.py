"""Sorts in a jaxpr of which few elements are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.doctor.capture.compiled.partial_sorts import partial_sorts


def found(function: Callable[..., Any]) -> list[tuple[int, str, bool]]:
    jaxpr = jax.make_jaxpr(function)(jnp.ones((4, 50)))
    return [(each.used, each.end, each.indices) for each in partial_sorts(jaxpr)]


@jax.jit
def ordered(x: jax.Array) -> jax.Array:
    return jnp.sort(x)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: jnp.sort(x)[:, :3], (3, "smallest", False)),
        (lambda x: jnp.sort(x)[..., -1:], (1, "largest", False)),
        (lambda x: jnp.flip(jnp.argsort(x), -1)[:, :4], (4, "largest", True)),
        (lambda x: jnp.argsort(x)[:, ::-1][:, -4:], (4, "smallest", True)),
        (lambda x: jnp.argsort(x, descending=True)[:, :2], (2, "largest", True)),
        (lambda x: jax.vmap(lambda row: jnp.argsort(-row)[:2])(x), (2, "smallest", True)),
        (lambda x: ordered(x)[:, :3], (3, "smallest", False)),
        (lambda x: jax.lax.map(lambda row: jnp.sort(row)[:3], x), (3, "smallest", False)),
    ],
)
def test_used_elements(function: Callable[..., Any], expected: tuple[int, str, bool]) -> None:
    assert found(function) == [expected]


@pytest.mark.parametrize(
    "function",
    [
        jnp.sort,
        ordered,
        lambda x: jnp.sort(x)[:, 3:6],
        lambda x: jnp.sort(x)[:, ::20],
        lambda x: jnp.sort(x, axis=0)[:1],
        lambda x: jnp.sort(x).sum(),
        lambda x: (jnp.sort(x)[:, :3], jnp.sort(x)),  # a whole one of the same shape
        lambda x: (lambda s: (s[:, :3], s[:, -3:]))(jnp.sort(x)),
        lambda x: jax.lax.sort((x, -x), num_keys=1)[1][:, :3],
        lambda x: jax.lax.sort((x, -x), num_keys=2)[0][:, :3],
        lambda x: jax.lax.map(jnp.sort, x)[:, :3],
        lambda x: x,
    ],
)
def test_other_sorts(function: Callable[..., Any]) -> None:
    assert found(function) == []


def test_where_jax_shows_no_equations_nothing_is_known() -> None:
    assert partial_sorts(object()) == ()
