"""Inputs that layers of flax, and convolutions, do not take."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.analysis.failures.wrong_arguments.all import read

LINEN = """
nn = __import__("flax.linen").linen

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return {layer}(x)  # here

net, key = Net(), jax.random.key(0)
"""


def applied(layer: str, first: str, second: str) -> Cell:
    """Apply a layer of flax to an array of another shape than the one that its parameters are made for."""
    pytest.importorskip("flax.linen")
    run = f"params = net.init(key, jnp.ones({first}))\nnet.apply(params, jnp.ones({second}))"
    return Cell(LINEN.format(layer=layer) + run)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("(1, 8, 8, 3)", "(1, 3, 8, 8)", "If the axis of size 3 holds the channels, pass jnp.moveaxis(x, -3, -1)"),
        ("(1, 8, 8, 1)", "(4, 8, 8)", "The axis for the channels is missing: pass x[..., None]."),
        ("(1, 8, 8, 3)", "(4, 8, 8)", "An input with 3 axes counts as one example, without a batch."),
    ],
)
def test_a_convolution_with_other_channels(first: str, second: str, told: str) -> None:
    cell = applied("nn.Conv(8, (3, 3))", first, second)
    assert cell.finding.line == cell.here
    assert (
        "The last axis of the input, for features or channels, has size 8, but the parameters of Conv_0" in cell.said
    )
    assert told in cell.said


def test_a_convolution_without_an_axis_for_channels() -> None:
    cell = applied("nn.Conv(8, (3, 3))", "(8, 8)", "(8, 8)")
    assert cell.finding.line == cell.here
    assert "its input needs 3 axes or more, the last of them for the channels, but x has shape (8, 8)" in cell.said


def test_a_dense_layer_with_other_features() -> None:
    cell = applied("nn.Dense(4)", "(2, 8)", "(2, 6)")
    assert "has size 6, but the parameters of Dense_0 were made for size 8" in cell.said
    assert "channels last" not in cell.said


@pytest.mark.parametrize(("groups", "shape", "fitting"), [(4, "(2, 8, 6)", 3), (32, "(2, 8, 8, 3)", 3)])
def test_groups_that_do_not_divide_the_channels(groups: int, shape: str, fitting: int) -> None:
    cell = applied(f"nn.GroupNorm({groups})", shape, shape)
    assert cell.finding.line == cell.here
    assert f"the size of the last axis of the input, cannot be divided into {groups} groups" in cell.said
    assert (
        f"divides the channels, such as {fitting}. If the last axis does not hold the channels: x[..., None]"
        in cell.said
    )


def test_groups_of_nnx_are_declared_with_the_features() -> None:
    pytest.importorskip("flax.nnx")
    cell = Cell("from flax import nnx\nnorm = nnx.GroupNorm(6, num_groups=4, rngs=nnx.Rngs(0))  # here")
    assert "6 channels cannot be divided into 4 groups of one size." in cell.said
    assert "such as 3; or other num_features." in cell.said


def test_a_convolution_of_jax_says_which_axis_holds_the_channels() -> None:
    cell = Cell("lax.conv(jnp.ones((1, 8, 8, 3)), jnp.ones((4, 3, 3, 3)), (1, 1), 'SAME')  # here")
    assert cell.finding.line == cell.here
    assert "The input of the convolution has 8 channels, but its kernel takes 3." in cell.said
    assert "axis 1 of the input and of the kernel holds the channels in jax.lax.conv" in cell.said


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ("('NHWC', 'HWIO', 'NHWC')", "dimension_numbers says that axis 3 of the input and axis 2 of the kernel hold"),
        ("tuple(['NHWC', 'HWIO', 'NHWC'])", "dimension_numbers says which axes hold the channels. Pass arrays"),
        ("None", "By default, axis 1 of the input"),
    ],
)
def test_a_convolution_with_dimension_numbers_says_what_these_say(numbers: str, told: str) -> None:
    given = "(1, 3, 8, 8)" if "NHWC" in numbers else "(1, 8, 8, 3)"
    kernel = "(3, 3, 3, 4)" if "NHWC" in numbers else "(4, 3, 3, 3)"
    cell = Cell(
        f"lax.conv_general_dilated(jnp.ones({given}), jnp.ones({kernel}), (1, 1), 'SAME', "
        f"dimension_numbers={numbers})  # here"
    )
    assert "The input of the convolution has 8 channels, but its kernel takes 3." in cell.said
    assert told in cell.said
    assert ("By default" in cell.said) is (numbers == "None")


def test_the_same_words_from_elsewhere_are_not_those_of_flax() -> None:
    assert read(["ValueError"], "Number of groups (4) does not divide the number of channels (6).") is not None
    for line in (
        "raise ValueError('Number of groups (4) does not divide the number of channels (6).')",
        "np.ones(0) + np.ones(2)",
    ):
        with pytest.raises(AssertionError):
            Cell(f"{line}  # here").failure  # noqa: B018
