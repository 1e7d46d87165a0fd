"""Derivatives that are not defined, or that JAX cannot compute."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(("rule", "call"), [("vjp", "g(1.0)"), ("vjp", "jax.grad(g)(1.0)"), ("jvp", "g(1.0)")])
def test_a_function_with_custom_derivatives_that_are_not_defined(rule: str, call: str) -> None:
    cell = Cell(f"@jax.custom_{rule}\ndef g(x): return x\n{call}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"g is a custom_{rule} function, but its rule for derivatives is not defined yet.")
    assert f"g.def{rule}" in cell.said


@pytest.mark.parametrize("bounds", ["while_loop(lambda c: c < 3, lambda c: c * 2, x)", "fori_loop(0, n, body, x)"])
def test_the_gradient_of_a_loop_with_an_unknown_number_of_steps(bounds: str) -> None:
    cell = Cell(f"""
        body = lambda i, c: c * 2
        @jax.jit
        def f(x, n):
            return lax.{bounds}
        jax.grad(f)(1.0, 3)  # here
    """)
    assert cell.finding.line == cell.here
    assert "does not work through a while_loop, or a fori_loop with traced bounds" in cell.said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "jax.jvp(f, (x,), (jnp.ones(4),))",
            "A tangent has shape (4,), but its primal needs shape (3,).",
        ),
        ("jax.jvp(f, (x,), (jnp.ones(3, int),))", "A tangent has type int32, but its primal needs type float32."),
        ("jax.vjp(f, x)[1](x)", "The cotangent has type f32[3], but the output needs type f32[]."),
    ],
)
def test_tangents_that_do_not_fit(code: str, said: str) -> None:
    cell = Cell(f"x = jnp.ones(3)\ndef f(x): return x.sum()\n{code}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(said)
    assert "jnp.ones_like(" in cell.said


def test_primals_and_tangents_are_put_into_tuples() -> None:
    cell = Cell("x, t = jnp.ones(3), jnp.ones(3)\ny = jax.jvp(jnp.sin, x, t)  # here")
    assert cell.finding.line == cell.here
    assert cell.finding.code == "y = jax.jvp(jnp.sin, (x,), (t,))"
    assert cell.rewritten(cell.finding.code).error is None
