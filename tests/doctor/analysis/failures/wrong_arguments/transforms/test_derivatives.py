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
    assert "if it is static, as in jax.jit(jax.grad(f), static_argnums=1)(x, n)." in cell.said


def test_the_gradient_of_a_loop_with_a_static_bound() -> None:
    cell = Cell("""
        def f(x, n):
            return lax.fori_loop(0, n, lambda i, c: c * 2, x)
        jax.jit(jax.grad(f))(1.0, 3)  # here
    """)
    assert "static_argnums=1" in cell.said
    assert cell.rewritten("jax.jit(jax.grad(f), static_argnums=1)(1.0, 3)").error is None


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


@pytest.mark.parametrize(
    ("code", "at"),
    [
        ("return lax.while_loop(lambda c: c < 9, lambda c: c * 2, x)", ""),
        ("return jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c * 2, x))(3)", ""),
        (
            "return minimize(lambda y: ((y - x) ** 2).sum(), jnp.zeros(1), method='BFGS').fun",
            ", or in what it calls",
        ),
    ],
)
@pytest.mark.parametrize(
    "call", ["jax.grad(loss)(1.0)", "jax.jit(jax.grad(loss))(1.0)", "jax.grad(jax.jit(loss))(1.0)"]
)
def test_the_line_of_the_loop_is_named(code: str, at: str, call: str) -> None:
    cell = Cell(f"""
        from jax.scipy.optimize import minimize
        def solve(x):
            {code}
        def loss(x): return solve(x) + 1
        {call}  # here
    """)
    assert cell.finding.line == cell.here
    assert f"The loop is at {cell.file}:4{at}: {code[:70]}" in cell.said


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("jax.grad(f)(1.0)", "function f"),
        ("jax.jit(jax.value_and_grad(f))(1.0)", "function f"),
        ("jax.vmap(jax.grad(f))(jnp.ones(2))", "function f"),
        ("g(1.0)", "function f"),
        ("jax.grad(c.loss)(1.0)", "function c.loss"),
        ("jax.grad(lambda x: f(x))(1.0)", "lambda"),
        ("outer(solve)(1.0)", "function"),
        ("grads['f'](1.0)", "function f"),
    ],
)
def test_the_function_that_returns_no_scalar_is_named(call: str, name: str) -> None:
    cell = Cell(f"""
        def f(x, y=2): return x * jnp.ones(16)
        class C:
            def loss(self, x): return f(x)
        c, g = C(), jax.jit(jax.grad(functools.partial(f, y=1)))
        grads = dict(f=jax.grad(f))
        def solve(x): return x
        def outer(other): return jax.grad(f)
        {call}  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"The differentiated {name} returns an array of shape (16,)")


@pytest.mark.parametrize(
    ("call", "step"),
    [
        ("jax.grad(f)(w)", "w - rate * jnp.conj(gradient)"),
        ("jax.value_and_grad(lambda r, z: f(z), argnums=1)(1.0, w)", "w - rate * jnp.conj(gradient)"),
        ("jax.jit(lambda v: jax.grad(f)(v))(w)", "v - rate * jnp.conj(gradient)"),
        ("jax.grad(f)(1.0j)", "w - rate * jnp.conj(gradient)"),
        ("jax.grad(lambda r: f(r + w))(1.0)", ""),
    ],
)
def test_the_gradient_of_a_complex_argument_is_conjugated_for_a_step(call: str, step: str) -> None:
    cell = Cell(f"w = jnp.array([1.0 + 2.0j])\ndef f(w): return (w * jnp.conj(w)).sum()\n{call}  # here")
    assert cell.finding.line == cell.here
    assert "Return a real number, such as jnp.abs(z) ** 2 or z.real" in cell.said
    assert (f"a step downhill is {step}." in cell.said) == bool(step)
    assert ("conj" in cell.said) == bool(step)


def test_a_step_against_the_conjugated_gradient_goes_downhill() -> None:
    cell = Cell("""
        w, rate = jnp.array([1.0 + 2.0j]), 0.1
        def f(w): return (jnp.abs(w - 1.0j) ** 2).sum()
        gradient = jax.grad(f)(w)
        before, after, wrong = f(w), f(w - rate * jnp.conj(gradient)), f(w - rate * gradient)
    """)
    assert cell.names["after"] < cell.names["before"]
    assert cell.names["after"] < cell.names["wrong"]
