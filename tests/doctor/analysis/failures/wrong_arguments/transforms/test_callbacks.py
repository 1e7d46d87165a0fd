"""Callbacks that are mapped or differentiated."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

from jaxmagic.doctor.analysis.failures.wrong_arguments.all import read

CALL = "jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), jnp.float32), x{options})"


def mapped(options: str, function: str = "jax.vmap(f)") -> Cell:
    return Cell(f"def f(x):\n    return {CALL.format(options=options)}  # here\ny = {function}(jnp.ones(3))")


@pytest.mark.parametrize("options", ["", ', vmap_method="loop"'])
def test_a_callback_that_is_mapped(options: str) -> None:
    cell = mapped(options)
    assert cell.finding.line == cell.here
    said = "pure_callback has no vmap_method loop." if options else "JAX maps this callback, but vmap_method="
    assert cell.said.startswith(said)
    expected = CALL.format(options=", vmap_method='sequential'")
    assert cell.finding.code == f"return {expected}"
    mended = cell.rewritten(cell.finding.code)
    assert mended.error is None
    assert np.allclose(mended.names["y"], np.sin(1))
    assert mapped(', vmap_method="broadcast_all"').error is None


def test_an_option_of_earlier_versions() -> None:
    text = "The 'vectorized' argument of jax.pure_callback was removed in JAX v0.6.0. Use 'vmap_method' instead."
    assert read(["ValueError"], text) == ("callback vmap", {"given": "vectorized"})


def test_a_callback_in_a_jitted_function_that_is_mapped() -> None:
    cell = mapped("", "jax.vmap(jax.jit(f))")
    assert "vmap_method= does not say how its Python function takes a batch." in cell.said


def test_an_ordered_callback_that_is_mapped() -> None:
    cell = Cell("""
        from jax.experimental import io_callback
        f = lambda x: io_callback(np.sin, jax.ShapeDtypeStruct((), jnp.float32), x, ordered=True)
        y = jax.vmap(f)(jnp.ones(3))
    """)
    assert "Leave out ordered=True; or loop over the elements with jax.lax.map" in cell.said
    values = cell.source.partition("y = ")[0]
    assert Cell(f"{values}y = jax.lax.map(f, jnp.ones(3))").error is None
    assert Cell(values.replace(", ordered=True", "") + "y = jax.vmap(f)(jnp.ones(3))").error is None


def test_a_callback_that_is_differentiated() -> None:
    cell = mapped("", "jax.grad(lambda x: f(x[0]))")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("JAX differentiates this callback, but knows no derivative of its Python function.")
    assert "Put @jax.custom_jvp above f, and define the derivative: @f.defjvp above a function" in cell.said
    custom = f"""
        @jax.custom_jvp
        def f(x):
            return {CALL.format(options="")}
        @f.defjvp
        def rule(primals, tangents):
            return f(*primals), jnp.cos(primals[0]) * tangents[0]
        y = jax.grad(f)(1.0)
    """
    assert np.allclose(Cell(custom).names["y"], np.cos(1))
    stopped = cell.source.replace(", x)", ", lax.stop_gradient(x))")
    assert Cell(stopped).error is None


def test_a_callback_that_assigns_to_what_it_gets() -> None:
    source = """
        def solve(b):
            {0}b[0] = 5.0
            return b
        def f(x): return jax.pure_callback(solve, jax.ShapeDtypeStruct((3,), jnp.float32), x)
        y = jax.jit(f)(jnp.ones(3)).block_until_ready()
    """
    cell = Cell(source.format(""))
    said = "A callback gets arrays of JAX, which cannot be assigned to: begin with a copy of NumPy, b = np.array(b)."
    assert said in cell.said
    mended = Cell(source.format("b = np.array(b); "))
    assert mended.error is None
    assert mended.names["y"].tolist() == [5.0, 1.0, 1.0]
    other = Cell(source.replace("b[0] = 5.0", "raise ValueError('no')").format(""))
    assert "Correct the function. A callback gets arrays of JAX, and not of NumPy." in other.said
