"""Axes, indices and slices that do not fit: which array, with which axes, and what to write."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x.sum(axis=2)", "Axis 2 is asked for, but x (3, 4) has 2 axes."),
        ("jnp.flip(x, 2)", "Axis 2 is asked for, but x (3, 4) has 2 axes."),
        ("jnp.concatenate([x, x], axis=-3)", "Axis -3 is asked for, but x (3, 4) has 2 axes."),
        ("jnp.stack([x, x], axis=3)", "Axis 3 is asked for, but the result has 3 axes, one more than x (3, 4)."),
        ("jax.nn.softmax(x, axis=2)", "Axis 2 is asked for, but x (3, 4) has 2 axes."),
        ("jax.vmap(lambda x: x, out_axes=2)(x)", "Axis 2 is asked for, but an array of this call has 2 axes."),
    ],
)
def test_an_axis_that_the_array_does_not_have(code: str, said: str) -> None:
    cell = Cell(f"x = jnp.ones((3, 4))\n{code}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(said)
    assert "write one from 0 to" in cell.said


def test_the_arguments_of_a_users_function_are_not_blamed_for_an_axis_inside_of_it() -> None:
    cell = Cell("g = jax.vmap(lambda x: x, out_axes=2)\nx = jnp.ones((3, 4))\ng(x)  # here")
    assert cell.finding.line == cell.here
    assert "but an array of this call has 2 axes" in cell.said


def test_axes_under_vmap_are_those_of_one_element() -> None:
    cell = Cell("jax.vmap(lambda x: x.sum(axis=1))(jnp.ones((3, 4)))  # here")
    assert "x (4,) has 1 axis." in cell.said
    assert "without the mapped axis" in cell.said
    assert "Write axis 0, the only one." in cell.said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x[0, 0, 0]", "x (3, 4) has 2 axes, but gets 3 indices."),
        ("x.sum()[0]", "x.sum() () has no axes, but gets 1 index."),
        ("x.at[0, 0, 0].set(1)", "The array has 2 axes, but gets 3 indices."),
    ],
)
def test_more_indices_than_axes(code: str, said: str) -> None:
    cell = Cell(f"x = jnp.ones((3, 4))\n{code}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(said)


def test_a_mask_for_another_axis() -> None:
    source = "x, m = jnp.ones((3, 4)), jnp.ones({}, bool)\ny = x[m]  # here"
    cell = Cell(source.format(4))
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The mask has shape (4,), but what it selects from, in x (3, 4), has shape (3,).")
    assert "write x[:, mask]" in cell.said
    assert "Compare the array itself" in Cell(source.format(5)).said


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("lax.dynamic_slice(x, (0,), (2, 2))", "shape (8, 4) needs one start per axis, but gets 1", "Pass 2 starts."),
        (
            "lax.dynamic_update_slice(x, z, (i,))",
            "needs one start per axis, but gets 1",
            "Pass 2 starts, and an update with as many axes, which z (4,) has not: z[None]. "
            "lax.dynamic_update_slice_in_dim(x, update, start, axis=0) takes one start for one axis.",
        ),
        ("lax.dynamic_update_slice(x, y, (0,))", "needs one start per axis, but gets 1", "Pass 2 starts. lax.dyn"),
        ("lax.dynamic_slice(x, (0, 0), (9, 2))", "A slice of size (9, 2) does not fit into x (8, 4)", "smaller size"),
        ("lax.dynamic_slice(x, (i / 2, 0), (2, 2))", "but they need one dtype of integers", "divide with //"),
        ("lax.dynamic_slice(x, (i, i.astype(jnp.int8)), (2, 2))", "have the dtypes int32, int8", "jnp.int32(i)"),
        (
            "lax.dynamic_update_slice(x, y, (0, 0))",
            "y (1, 5) does not fit into x (8, 4): it is larger along axis 1",
            "",
        ),
        ("lax.dynamic_update_slice(x, z, (0, 0))", "z (4,) does not fit into x (8, 4)", "size 1: z[None]."),
        (
            "lax.dynamic_update_slice(x, w, (0, 0))",
            "w (8,) does not fit into x (8, 4)",
            "size 1: w[:, None].",
        ),
        ("lax.dynamic_update_slice(x, i, (0, 0))", "i () does not fit into x (8, 4)", "allocate the array"),
    ],
)
def test_slices_that_do_not_fit(code: str, said: str, written: str) -> None:
    cell = Cell(f"""
        x, y, z, w, i = jnp.ones((8, 4)), jnp.ones((1, 5)), jnp.ones(4), jnp.ones(8), jnp.int32(1)
        {code}  # here
    """)
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert written in cell.said


def test_an_update_of_an_element_with_an_array() -> None:
    cell = Cell("x = jnp.ones(3)\nx.at[0].set(jnp.ones(2))  # here")
    assert cell.finding.line == cell.here
    assert "jnp.ones(2) (2,) does not broadcast to x[0], which has shape ()" in cell.said
