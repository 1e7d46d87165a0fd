"""The equations of a jaxpr are counted by the line that the user wrote."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxmagic.runtime.tracing import count_equations, leak_message


def test_equations_inside_a_function_of_jax_count_for_the_line_that_calls_it() -> None:
    def clipped(x: Any) -> Any:
        for _ in range(4):
            x = jnp.clip(jnp.tanh(x), 0, 1)  # JAX traces clip once, and calls it 4 times
        return x

    counted = count_equations(jax.make_jaxpr(clipped)(jnp.ones(3)))
    assert counted is not None
    assert {each.line and each.line[2] for each in counted} == {clipped.__code__.co_firstlineno + 2}
    assert {each.primitive: count for each, count in counted.items()}["max"] == 4
    assert [each.inside_call for each in counted if each.primitive == "tanh"] == [False]


def test_jax_says_where_a_value_was_traced_that_is_still_there() -> None:
    kept: list[object] = []
    jax.jit(lambda x: kept.append(x * 2))(1.0)
    assert leak_message(kept[0]).startswith("Encountered an unexpected tracer")
    assert leak_message(object()) == ""
