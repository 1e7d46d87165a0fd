"""Parts of flax.linen with one name, attributes that its methods set, and labels of Optax."""

from __future__ import annotations

import pytest
from failing_cells import Cell

MODULE = """
nn = __import__("flax.linen").linen

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        {lines}
        return x

y = Net().init_with_output(jax.random.key(0), jnp.ones((2, 3)))[0]
"""


def module(lines: str) -> Cell:
    pytest.importorskip("flax.linen")
    return Cell(MODULE.format(lines=lines.replace("\n", "\n        ")))


def test_two_layers_of_one_name() -> None:
    cell = module('x = nn.Dense(3, name="a")(x)\nx = nn.Dense(3, name="a")(x)  # here')
    assert cell.finding.line == cell.here
    assert "Net has two parts with the name a, the second of which is a submodule." in cell.said
    assert cell.rewritten("x = nn.Dense(3)(x)").error is None


def test_a_parameter_with_the_name_of_a_layer() -> None:
    cell = module('x = nn.Dense(3, name="a")(x)\nx = x * self.param("a", nn.initializers.ones, ())  # here')
    assert "Net has two parts with the name a, the second of which is a parameter." in cell.said


def test_an_attribute_that_a_method_sets() -> None:
    cell = module("self.count = 3  # here")
    assert cell.finding.line == cell.here
    assert "self.count is set in a method of Net, but a module of flax.linen is frozen outside setup()." in cell.said
    assert cell.rewritten("count = 3").error is None


def test_one_hot_labels() -> None:
    pytest.importorskip("optax")
    cell = Cell(
        "import optax\nlabels = jnp.eye(3, dtype=int)[:2]\n"
        "y = optax.softmax_cross_entropy_with_integer_labels(jnp.ones((2, 3)), labels)  # here"
    )
    assert "takes one integer per example, but gets labels with more axes." in cell.said
    assert "use optax.softmax_cross_entropy." in cell.said
    assert cell.rewritten("y = optax.softmax_cross_entropy(jnp.ones((2, 3)), labels)").names["y"].shape == (2,)
