"""The arguments of a failing call of a jitted function, as they were passed."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
from failing_cells import Cell


@pytest.fixture(autouse=True)
def as_in_ipython() -> Iterator[None]:
    """JAX keeps its own frames in tracebacks, and marks them as hidden."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "tracebackhide")
    yield
    jax.config.update("jax_traceback_filtering", before)


SLICED = """
xs, size = jnp.arange(5.0), {size}
@jax.jit
def f(x, n):
    return x[:n]  # here
f({call})
"""


@pytest.mark.parametrize("call", ["xs, size", "xs, n=size", "x=xs, n=size"])
@pytest.mark.parametrize(("size", "later"), [("3", "size = 'text'"), ("3", "xs = size = None")])
def test_a_variable_that_has_changed_since_is_not_what_was_passed(call: str, size: str, later: str) -> None:
    cell = Cell(SLICED.format(size=size, call=call))
    exec(later, cell.names)
    assert "n is a Python int where f is called" in cell.said
    assert cell.fallback is None  # the variables are others now


def test_an_array_that_has_become_a_number_is_still_an_array() -> None:
    cell = Cell(SLICED.format(size="jnp.array(3)", call="xs, size"))
    cell.names["size"] = 3
    assert "Python int" not in cell.said


@pytest.mark.parametrize("loop", ["n in jnp.arange(1, 4)", "n in (jnp.array(1), jnp.array(2))"])
def test_the_variable_of_a_comprehension_is_not_the_one_around_it(loop: str) -> None:
    cell = Cell(f"""
n = 5
@jax.jit
def f(x, n):
    return x * jnp.arange(n)  # here
made = [f(2.0, n) for {loop}]
""")
    assert "Python int" not in cell.said


def test_a_number_that_a_comprehension_passes_is_one() -> None:
    cell = Cell("""
n = jnp.arange(3)
@jax.jit
def f(x, n):
    return x * jnp.arange(n)  # here
made = [f(2.0, n) for n in (1, 2)]
""")
    assert "n is a Python int where f is called" in cell.said
