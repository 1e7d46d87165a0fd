"""Inside of ``jax.vmap``, ``cond()`` runs both of its functions, and what is advised says so."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from failing_cells import Cell

BODIES = {
    "if": ("    if a == 0:\n        return 0.0\n    return 1 / a", "Choose between two results"),
    "ternary": ("    return 0.0 if a == 0 else 1 / a", "Choose between two results"),
    "chain": ("    return a if -1 < a < 1 else 1 / a", "Choose between two results"),
    "nested": ("    n = 3\n    return a if n > 2 and a > 0 else 1 / a", "with a Python if around the rest"),
    "bool": ("    positive = bool(a > 0)\n    return a * positive", "Keep the array, and use it in"),
}

MAPPED = {
    "vmap": "jax.vmap(f)(jnp.arange(3.0))",
    "vmap of jit": "jax.vmap(jax.jit(f))(jnp.arange(3.0))",
    "jit of vmap": "jax.jit(jax.vmap(f))(jnp.arange(3.0))",
    "two vmaps": "jax.vmap(jax.vmap(f))(jnp.ones((2, 3)))",
    "grad": "jax.vmap(jax.grad(f))(jnp.arange(3.0))",
}


def failed(body: str, call: str) -> Cell:
    return Cell(f"def f(a):\n{body}\n{call}")


@pytest.mark.parametrize("call", MAPPED)
@pytest.mark.parametrize("body", BODIES)
def test_both_functions_of_cond_run_inside_of_vmap(body: str, call: str) -> None:
    said = failed(BODIES[body][0], MAPPED[call]).said
    assert BODIES[body][1] in said
    assert "cond() computes both as well if the condition depends on what is mapped" in said
    assert "runs one of two" not in said
    assert "where() does not choose" not in said


@pytest.mark.parametrize("call", ["jax.jit(f)(1.0)", "jax.jit(jax.grad(f))(1.0)"])
@pytest.mark.parametrize("body", BODIES)
def test_nothing_is_said_of_vmap_without_it(body: str, call: str) -> None:
    said = failed(BODIES[body][0], call).said
    assert BODIES[body][1] in said
    assert "vmap" not in said


def test_a_print_inside_of_vmap_prints_whatever_the_condition_is(capfd: pytest.CaptureFixture[str]) -> None:
    body = "    if a > 0:\n        print('positive')\n    return a"
    said = failed(body, "jax.vmap(f)(jnp.arange(3.0) - 1)").said
    assert "lax.cond() runs both functions, and prints whatever the condition is." in said
    assert 'jax.debug.print("{} …", condition)' in said
    assert "lax.cond(condition, lambda: jax.debug.print" in failed(body, "jax.jit(f)(1.0)").said

    def printing(a: jax.Array) -> None:
        jax.lax.cond(a > 0, lambda: jax.debug.print("positive {}", a), lambda: None)

    jax.vmap(printing)(jnp.arange(3.0) - 9)
    jax.effects_barrier()
    assert capfd.readouterr().out.count("positive") == 3


@pytest.mark.parametrize("mapped", [True, False])
def test_what_is_said_of_cond_is_what_jax_does(mapped: bool) -> None:
    """A condition that depends on no mapped argument stays one."""

    def chosen(a: jax.Array, b: jax.Array) -> jax.Array:
        return jax.lax.cond((a if mapped else b) > 0, jnp.sin, jnp.cos, a)

    program = str(jax.make_jaxpr(jax.vmap(chosen, in_axes=(0, None)))(jnp.arange(3.0), 1.0))
    assert ("cond[" in program) != mapped
    assert "sin" in program
    assert "cos" in program
