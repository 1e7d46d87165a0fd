"""Operands of the failing expression, with and without the frames of JAX's own calls."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
from failing_cells import Cell

CELLS = [
    "a, b = jnp.ones((3, 4)), jnp.ones((5, 4))\na @ b",
    "a, b = np.ones((3, 4)), jnp.ones((5, 4))\na @ b",
    "a, b = jnp.ones(3), np.ones(4)\nb - a",
    "a, b = jnp.ones((3, 4)), jnp.ones((5, 6))\njnp.einsum('ij,jk->ik', a, b)",
    "a, b = jnp.ones((3, 4)), jnp.ones((5, 4))\njax.jit(lambda a, b: jnp.dot(a, b))(a, b)",
    "a, b = jnp.ones(3), jnp.ones(4)\njnp.minimum(a, b)",
    "a, b = jnp.ones((3, 2)), jnp.ones((4, 3))\njnp.concatenate([a, b], axis=0)",
    "a = jnp.ones((3, 2))\na.reshape(4, 2)",
    "a, b = jnp.ones((3, 2)), 1.0\njax.vmap(lambda a, b: a * b)(a, b)",
    "a = jnp.arange(3)\njax.grad(lambda a: a.sum())(a)",
    "a, b = jnp.ones(3), jnp.ones(4)\nlax.scan(lambda c, x: (c, c), 0.0, (a, b))",
]


@pytest.fixture(params=["off", "tracebackhide", "remove_frames"])
def filtering(request: pytest.FixtureRequest) -> Iterator[str]:
    """What JAX does with its own frames: IPython has them hidden, scripts removed."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", request.param)
    yield request.param
    jax.config.update("jax_traceback_filtering", before)


@pytest.mark.parametrize("source", CELLS)
def test_variables_are_named_whatever_jax_does_with_its_frames(source: str, filtering: str) -> None:
    cell = Cell(f"{source}  # here")
    assert cell.finding.line == cell.here
    known = {each.text: each.shape for each in cell.failure.operands}
    known |= {part.text: part.shape for each in cell.failure.operands for part in each.items}
    assert known["a"] == cell.names["a"].shape


@pytest.mark.parametrize("filtering", ["off", "tracebackhide"], indirect=True)
def test_expressions_have_the_shapes_that_jax_got(filtering: str) -> None:
    cell = Cell("a, b = jnp.ones((3, 4)), jnp.ones((5, 4))\njnp.matmul(jnp.tanh(a), b * 2)")
    assert [(each.text, each.shape) for each in cell.failure.operands] == [("jnp.tanh(a)", (3, 4)), ("b * 2", (5, 4))]
    cell = Cell("a, b = jnp.ones(3), jnp.ones(4)\njnp.minimum(a * 1, b * 1)")
    assert cell.said.startswith("a * 1 (3,) and b * 1 (4,) do not broadcast")
    cell = Cell("a = jnp.ones((3, 4))\n(a * 1)[0].reshape(3)")
    assert cell.said.startswith("(a * 1)[0] (4,) has 4 elements")
    cell = Cell("a, b = jnp.ones((3, 4)), jnp.ones((5, 4))\nnp.square(a) @ (b * 2)")
    assert [each.shape for each in cell.failure.operands] == [None, None]  # the right operand's operator may have run
    assert "(3, 4)" not in cell.said


def test_a_variable_that_has_changed_since_makes_all_types_unknown(filtering: str) -> None:
    cell = Cell("a, b = jnp.ones((3, 4)), jnp.ones((5, 4))\na @ b")
    cell.names["a"] = jax.numpy.ones((7, 4))  # which the message would fit as well
    assert "(7, 4)" not in cell.said
    assert [each.shape for each in cell.failure.operands] == [None, None]
    cell = Cell("a, b = jnp.ones(3), jnp.ones(4)\na + b")
    cell.names["a"] = jax.numpy.ones((8, 9))
    assert cell.said.startswith("(3,) and (4,) do not broadcast")


def test_reading_operands_runs_no_code_of_the_user() -> None:
    cell = Cell("""
        class Odd:
            @property
            def weights(self):
                calls.append(1)
                return jnp.ones((5, 4))
        calls, odd, a = [], Odd(), jnp.ones((3, 4))
        a @ odd.weights
    """)
    before = len(cell.names["calls"])
    assert "cannot be multiplied" in cell.said
    assert len(cell.names["calls"]) == before
