"""Arithmetic with dictionaries of arrays."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = """
lr, x = 0.1, jnp.ones(3)
params, grads, state = {"w": x, "b": {"c": x}}, {"w": x, "b": {"c": x}}, [{"w": x}]
"""


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("new = params - 0.1 * grads", "new = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)"),
        ("new = params - lr * grads", "new = jax.tree.map(lambda p, g: p - lr * g, params, grads)"),
        ("params -= 0.1 * grads", "params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)"),
        ("new = grads / 2 + grads * x", "new = jax.tree.map(lambda g: g / 2 + g * x, grads)"),
        ("new = state[0] * 2", "new = jax.tree.map(lambda s: s * 2, state[0])"),
        ("new = params - lr * jax.tree.map(jnp.sin, grads)", None),
    ],
)
def test_dictionaries_are_mapped_over(code: str, written: str | None) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.line == cell.here
    assert "of arrays. JAX computes with pytrees leaf by leaf" in cell.said
    assert "jax.tree.map(f, tree, …)" in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


def test_traced_gradients_are_mapped_over() -> None:
    cell = Cell(
        """
        @jax.jit
        def step(p):
            g = jax.grad(lambda p: p["w"].sum())(p)
            return p - 0.1 * g  # here
        step({"w": jnp.ones(3)})
        """
    )
    assert cell.finding.code == "return jax.tree.map(lambda p, g: p - 0.1 * g, p, g)"
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize("code", ["{'w': 1} - 2.0", "0.1 * {'w': 1}", "sizes = {'w': 1}\nsizes * 2"])
def test_other_dictionaries_are_no_matter_of_jax(code: str) -> None:
    cell = Cell(code)
    assert cell.error is not None
    assert recognize(cell.error) is None


@pytest.mark.parametrize("call", ["jnp.where(True, params, grads)", "jnp.sin(params)", "jnp.maximum(params, 0.0)"])
def test_a_function_is_applied_to_each_array_of_a_dictionary(call: str) -> None:
    cell = Cell(f"{VALUES}new = {call}  # here")
    function = call.partition("(")[0]
    assert f"Apply {function} to each array of the dict, with jax.tree.map." in cell.said
