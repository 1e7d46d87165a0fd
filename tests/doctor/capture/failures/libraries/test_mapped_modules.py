"""Functions that compute with each leaf of a module of Equinox, some of which are no arrays."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = """
import equinox as eqx, optax
model = eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0))
grads = eqx.filter_grad(lambda model: model(jnp.ones(2)).sum())(model)
updates = jax.tree.map(lambda g: -0.1 * g, grads)
"""

#: The module after the step, as Equinox's own function makes it.
STEP = "expected = eqx.apply_updates(eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0)), updates)\n"


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("new = optax.apply_updates(model, updates)", "new = eqx.apply_updates(model, updates)"),
        ("new = optax.apply_updates(updates=updates, params=model)", "(updates=updates, model=model)"),
        (
            "new = jax.tree.map(lambda p, g: p - 0.1 * g, model, grads)",
            "(jax.tree.map(lambda p, g: p - 0.1 * g, eqx.filter(model, eqx.is_inexact_array), grads), model)",
        ),
    ],
)
def test_a_step_of_a_module(line: str, mended: str) -> None:
    pytest.importorskip("equinox")
    pytest.importorskip("optax")
    cell = Cell(f"{VALUES}{line}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(
        f"{line[6:].partition('(')[0]} computes with each leaf of model, but model.activation is"
    )
    assert cell.finding.code is not None
    assert cell.finding.code.endswith(mended)
    mended_cell = cell.rewritten(f"{cell.finding.code}\n{STEP}same = eqx.tree_equal(new, expected)")
    assert mended_cell.error is None
    assert mended_cell.names["same"]


def test_a_function_that_is_defined_elsewhere() -> None:
    pytest.importorskip("equinox")
    cell = Cell("""
        import equinox as eqx
        def halved(leaf):
            return leaf * 0.5  # here
        model = eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0))
        new = jax.tree.map(halved, model)
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(
        f"jax.tree.map at {cell.file}:6 computes with each leaf of model, but model.activation"
    )
    assert "Pass its arrays alone, eqx.filter(model, eqx.is_array)" in cell.said
    assert "eqx.combine(result, model)." in cell.said
    assert cell.finding.code is None


def test_an_integer_of_a_module_has_no_update() -> None:
    pytest.importorskip("equinox")
    pytest.importorskip("optax")
    cell = Cell("""
        import equinox as eqx, optax
        class Scaled(eqx.Module):
            steps: jax.Array
            scale: jax.Array
        model = Scaled(jnp.array(3), jnp.array(2.0))
        grads = eqx.filter_grad(lambda model: model.scale * 2)(model)
        new = optax.apply_updates(model, grads)  # here
    """)
    assert "computes with each leaf of model, but the other pytree has None in the place of model.steps." in cell.said
    mended = cell.rewritten(cell.finding.code or "")
    assert mended.error is None
    assert mended.names["new"].scale == 4
    assert mended.names["new"].steps == 3


def test_a_static_field_is_not_taken_for_the_leaf() -> None:
    pytest.importorskip("equinox")
    cell = Cell("""
        import equinox as eqx
        class Layer(eqx.Module):
            kind: typing.Callable = eqx.field(static=True)
            activation: typing.Callable
        model = Layer(jax.nn.relu, jax.nn.relu)
        jax.tree.map(lambda leaf: leaf * 2, model)  # here
    """)
    assert "but model.activation is of type custom_jvp." in cell.said


@pytest.mark.parametrize(
    "line", ["jax.nn.relu + None", "jax.tree.map(lambda p: p + None, [jax.nn.relu])", "model * 2", "len(1)"]
)
def test_another_operand_of_a_wrong_type_has_no_such_explanation(line: str) -> None:
    pytest.importorskip("equinox")
    error = Cell(VALUES.replace(", optax", "") + line).error
    assert error is not None
    assert recognize(error) is None
