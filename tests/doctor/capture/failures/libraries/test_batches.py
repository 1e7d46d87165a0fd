"""Layers of Equinox that take one example, and get a batch of them."""

from __future__ import annotations

import pytest
from failing_cells import Cell

eqx = pytest.importorskip("equinox")

BEGIN = """
import equinox as eqx
key = jax.random.key(0)
"""


@pytest.mark.parametrize(
    ("layer", "shape", "mapped"),
    [
        ("eqx.nn.Linear(3, 4, key=key)", (8, 3), "jax.vmap(layer)(x)"),
        ("eqx.nn.Linear(3, 4, key=key)", (3, 3), "jax.vmap(layer)(x)"),
        ("eqx.nn.Linear(3, 4, use_bias=False, key=key)", (4, 3), "jax.vmap(layer)(x)"),
        ("eqx.nn.Linear(3, 4, key=key)", (2, 8, 3), "jax.vmap(jax.vmap(layer))(x)"),
        ("eqx.nn.MLP(3, 4, 5, 2, key=key)", (8, 3), "jax.vmap(layer)(x)"),
        (
            "eqx.nn.Sequential([eqx.nn.Linear(3, 4, key=key), eqx.nn.Lambda(jax.nn.relu)])",
            (8, 3),
            "jax.vmap(layer)(x)",
        ),
    ],
)
def test_a_layer_is_mapped(layer: str, shape: tuple[int, ...], mapped: str) -> None:
    cell = Cell(f"{BEGIN}layer, x = {layer}, jnp.ones({shape})\ny = layer(x)  # here")
    assert cell.finding.line == cell.here
    assert cell.failure.library is not None
    assert (
        f"equinox.nn.Linear in layer takes one example, of shape (3,), but gets an array of shape {shape}"
        in cell.said
    )
    assert cell.finding.code == f"y = {mapped}"
    assert cell.rewritten(cell.finding.code).names["y"].shape == (*shape[:-1], 4)


def test_in_the_users_own_module_and_in_a_jitted_function() -> None:
    cell = Cell(f"""{BEGIN}
__name__ = "builtins"  # dataclasses look for the module of an annotated class
class Net(eqx.Module):
    first: object
    def __call__(self, x):
        return jax.nn.relu(self.first(x))  # here
net = Net(eqx.nn.Linear(3, 4, key=key))
y = eqx.filter_jit(lambda net, x: net(x))(net, jnp.ones((8, 3)))
""")
    assert cell.finding.line == cell.here
    assert cell.finding.code is None
    assert "It is a part of Net, whose other layers take one example as well." in cell.said
    assert "the whole module over the leading axis where it is called, at " in cell.said
    assert "jax.vmap(net)(x). Mapped alone" in cell.said


def test_a_part_of_a_model_that_a_function_calls() -> None:
    cell = Cell(f"""{BEGIN}
layers = eqx.nn.Sequential([eqx.nn.Linear(3, 8, key=key), eqx.nn.Linear(8, 1, key=key)])
def model(layers, x):
    x = layers.layers[0](x)  # here
    return layers.layers[1](x)
model(layers, jnp.ones((8, 3)))
""")
    assert cell.finding.code is None
    assert "It is a part of Sequential" in cell.said
    assert "where it is called, with jax.vmap. Mapped alone" in cell.said


def test_code_that_maps_other_layers_is_for_a_batch() -> None:
    cell = Cell(f"""{BEGIN}
layers = eqx.nn.Sequential([eqx.nn.Linear(3, 8, key=key), eqx.nn.Linear(8, 1, key=key)])
def model(layers, x):
    x = jax.vmap(layers.layers[0])(x)
    return layers.layers[1](x)  # here
y = model(layers, jnp.ones((5, 3)))
""")
    assert cell.finding.code == "return jax.vmap(layers.layers[1])(x)"
    assert cell.rewritten(cell.finding.code).names["y"].shape == (5, 1)


@pytest.mark.parametrize("cell_type", ["GRUCell", "LSTMCell"])
def test_a_recurrent_cell(cell_type: str) -> None:
    begin = f"{BEGIN}layer = eqx.nn.{cell_type}(3, 4, key=key)\nx, h = jnp.ones((8, 3)), jnp.ones((8, 4))\n"
    state = "h" if cell_type == "GRUCell" else "(h, h)"
    cell = Cell(f"{begin}y = layer(x, {state})  # here")
    assert f"equinox.nn.{cell_type} in layer takes one example, of shape (3,)" in cell.said
    assert cell.finding.code in (None, "y = jax.vmap(layer)(x, h)")
    assert Cell(f"{begin}y = jax.vmap(layer)(x, {state})").error is None


def test_a_state_for_all_examples_is_not_mapped() -> None:
    begin = f"{BEGIN}layer = eqx.nn.GRUCell(3, 4, key=key)\nx, h = jnp.ones((8, 3)), jnp.ones(4)\n"
    cell = Cell(f"{begin}y = layer(x, h)")
    assert "in_axes=" in cell.said
    assert cell.finding.code is None
    assert Cell(f"{begin}jax.vmap(layer, in_axes=(0, None))(x, h)").error is None


@pytest.mark.parametrize(
    "call",
    [
        "layer(jnp.ones(8))",  # another size
        "layer(jnp.ones((3, 8)))",  # transposed
        "layer(jnp.ones((8, 5)))",
        "layer.weight @ jnp.ones((8, 3))",  # the user's own product
        "jax.vmap(layer)(jnp.ones((2, 5)))",
    ],
)
def test_other_shapes_are_no_batch(call: str) -> None:
    cell = Cell(f"{BEGIN}layer = eqx.nn.Linear(3, 4, key=key)\ny = {call}")
    assert cell.failure.kind in ("product", "broadcast")
    assert "takes one example" not in cell.said
