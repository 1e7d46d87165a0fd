"""Axes that an array lacks or that have several elements, indices with other axes, and arrays that are unpacked."""

from __future__ import annotations

import jax
import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = "x, v = jnp.array([[1, 5], [7, 2], [3, 4]]), jnp.ones(3)\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("jnp.mean(x, axis=2)", "Axis 2 is asked for, but x (3, 2) has 2 axes."),
        ("x.mean(axis=(1, 2))", "Axis 2 is asked for, but x (3, 2) has 2 axes."),
        ("jnp.std(x, axis=-3)", "Axis -3 is asked for, but x (3, 2) has 2 axes."),
        ("jnp.var(x, 2)", "Axis 2 is asked for, but x (3, 2) has 2 axes."),
        ("x.argmax(axis=2)", "Axis 2 is asked for, but x (3, 2) has 2 axes."),
        ("jnp.argmin(v, axis=1)", "Axis 1 is asked for, but v (3,) has 1 axis."),
        ("jnp.nanargmax(v, axis=1)", "Axis 1 is asked for, but v (3,) has 1 axis."),
        ("jax.nn.standardize(v, axis=1)", "Axis 1 is asked for, but v (3,) has 1 axis."),
        ("jax.jit(lambda a: a.mean(axis=3))(x)", "Axis 3 is asked for, but a (3, 2) has 2 axes."),
        ("jax.vmap(lambda a: a.mean(axis=1))(x)", "Axis 1 is asked for, but a (2,) has 1 axis."),
        ("x.squeeze(0)", "squeeze removes axes of size 1, but axis 0 of x (3, 2) has size 3."),
        ("jnp.squeeze(x[None], axis=(0, 2))", "squeeze removes axes of size 1, but axis 2 of x[None] (1, 3, 2) has "),
        ("lax.squeeze(x, (1,))", "squeeze removes axes of size 1, but axis 1 of x (3, 2) has size 2."),
        ("len(v.sum())", "v.sum() is a scalar, and a scalar has no length."),
        ("jax.jit(lambda a: a * len(a))(2.0)", "a is a scalar, and a scalar has no length."),
    ],
)
def test_axes_and_sizes(code: str, said: str) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said


@pytest.mark.parametrize(
    "code", ["(1, 2)[3]", "jnp.ones(3).shape[1]", "len(np.array(3.0))", "a, b = (1, 2, 3)", "a, b = np.ones(3)"]
)
def test_errors_of_python_and_numpy_are_left_alone(code: str) -> None:
    cell = Cell(code)
    assert cell.error is not None
    with pytest.raises(AssertionError):
        cell.failure  # noqa: B018 - reads the error


def test_one_element_per_row_is_taken_with_another_axis() -> None:
    cell = Cell(f"{VALUES}i = jnp.array([1, 0, 1])\ny = jnp.take_along_axis(x, i, 1)  # here")
    assert "but they have 1 axis and the array has 2 axes." in cell.said
    assert "jnp.take_along_axis(x, jnp.expand_dims(indices, axis), axis)" in cell.said
    y = cell.rewritten("y = jnp.take_along_axis(x, jnp.expand_dims(i, 1), 1)").names["y"]
    assert y.tolist() == [[5], [7], [4]]


def test_indices_with_more_axes_get_no_axis() -> None:
    cell = Cell(f"{VALUES}jnp.take_along_axis(v, x, 0)  # here")
    assert "expand_dims" not in cell.said
    assert "For whole rows or columns, write jnp.take(x, indices, axis)." in cell.said


@pytest.mark.parametrize(
    ("code", "said", "remedy"),
    [
        ("a, b = x", "x (3, 2) has 3 elements along its first axis, but is unpacked into 2 names.", "write x.T."),
        (
            "a, b, c, d = v",
            "v (3,) has 3 elements along its first axis, but is unpacked into 4 names.",
            "as many names",
        ),
        ("[a, b] = v", "v (3,) has 3 elements along its first axis", "index the elements that are needed"),
        ("for a, b, c in x: pass", "Each element of x, of shape (2,), has 2 elements along its first ", "write x.T."),
        (
            "for a, in x: pass",
            "Each element of x, of shape (2,), has 2 elements along its first axis, but is",
            "as many",
        ),
        ("a, b = jnp.ones(3)", "jnp.ones(3) is one array in JAX, but is unpacked into 2 names.", "as many names"),
        ("a, b, c = jnp.exp(v[:2])", "is one array in JAX, but is unpacked into 3 names.", "as many names"),
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_unpacked_arrays(code: str, said: str, remedy: str, traced: bool) -> None:
    cell = Cell(
        f"{VALUES}@jax.jit\ndef f(x, v):\n    {code}  # here\nf(x, v)" if traced else f"{VALUES}{code}  # here"
    )
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert remedy in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    "code",
    [
        "(a, b), c, d = x.T[:, :2], 1",
        "(a, b), c = y",
        "for (a, b, c), d in x[:, :, None]: pass",
        "a, b = min(v, v)",
    ],
)
def test_what_else_is_unpacked_is_no_array_of_another_size(code: str) -> None:
    cell = Cell(f"{VALUES}y = x.T\nmin = lambda x, y: (x, y, x)\n{code}")
    assert isinstance(cell.error, ValueError)
    assert recognize(cell.error) is None


def test_columns_are_unpacked_from_the_transpose() -> None:
    cell = Cell(f"{VALUES}a, b = x  # here").rewritten("a, b = x.T")
    assert cell.names["a"].tolist() == [1, 7, 3]


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("a, b = x.max(1)", "a, b = (x.max(1), x.argmax(1))"),
        ("_, b = jnp.max(x, 1)", "b = jnp.argmax(x, 1)"),
    ],
)
def test_values_and_indices_of_pytorch(code: str, written: str) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert " is one array in JAX, but is unpacked into 2 names." in cell.said
    assert "PyTorch's max returns the values and their indices, JAX's the values only." in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).names["b"].tolist() == [1, 0, 1]


def test_a_scalar_in_a_variable_is_no_result_of_grad() -> None:
    cell = Cell("x = jnp.array(1.0)\na, b = x  # here")
    assert "Assign it to one name." in cell.said
    assert "grad" not in cell.said


def test_more_rows_than_devices_under_pmap() -> None:
    rows = 2 * jax.device_count()
    cell = Cell(f"x = jnp.arange({rows}.0)[:, None]\ny = jax.pmap(lambda row: row + 1)(x)  # here")
    assert "there are more rows than devices" in cell.said
    new = "x.reshape(jax.device_count(), -1, *x.shape[1:])"
    assert new in cell.said
    y = cell.rewritten(f"y = jax.pmap(jax.vmap(lambda row: row + 1))({new})").names["y"]
    assert y.ravel().tolist() == [each + 1.0 for each in range(rows)]


def test_one_probability_per_choice() -> None:
    cell = Cell("y = jax.random.choice(jax.random.key(0), 5, (2,), p=jnp.ones(4) / 4)  # here")
    assert "jax.random.choice chooses from 5 elements, but p has shape (4,)." in cell.said
    assert cell.rewritten("y = jax.random.choice(jax.random.key(0), 5, (2,), p=jnp.ones(5) / 5)").error is None
