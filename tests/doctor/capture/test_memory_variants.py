"""``--verify`` of ``memory``: variants are compiled until one fits."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import jaxmagic

W = jnp.ones((128, 128))


def block(w: Any, h: Any) -> Any:
    return jnp.tanh(h @ w) + jnp.sin(h)


@jax.jit
def gradient(w: Any, h: Any) -> Any:
    return jax.grad(lambda w: jax.lax.scan(lambda h, _: (block(w, h), None), h, None, length=200)[0].sum())(w)


def need(function: Any) -> int:
    stats: Any = function.lower(W, W).compile().memory_analysis()
    parts = stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes
    return int(parts - stats.alias_size_in_bytes)


def test_checkpoint_that_makes_it_fit_is_found() -> None:
    before = need(gradient)
    (found,) = jaxmagic.diagnose(
        gradient, W, W, only="memory", memory_bytes=round(0.8 * before), verify=True
    ).findings
    verified = found.verified
    assert verified is not None
    assert (verified.before_bytes, verified.survives) == (before, True)
    assert verified.after_bytes is not None
    assert verified.after_bytes < 0.8 * before
    assert any("jax.checkpoint around block" in str(each) and "which fits" in str(each) for each in verified.notes)


def test_program_without_a_smaller_variant_says_so() -> None:
    add = jax.jit(lambda x, y: x + y)
    (found,) = jaxmagic.diagnose(add, W, W + 1, only="memory", memory_bytes=1000, verify=True).findings
    assert found.verified is not None
    assert found.verified.survives is None
    assert "None needs less." in str(found.verified.notes[0])
