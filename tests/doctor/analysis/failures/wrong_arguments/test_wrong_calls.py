"""Calls of JAX whose arguments stand apart, or are no shape, and calls that PyTorch takes."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = (
    "a, b, n, key = jnp.ones((2, 3)), jnp.ones((2, 3)), 6, jax.random.key(0)\n"
    "v, xs, m, pair = jnp.ones(3), [a], np.ones((2, 3)), [a, b]"
)


def failing(code: str) -> Cell:
    """Run a line after some variables."""
    return Cell(f"{VALUES}\n{code}  # here")


def is_explained(cell: Cell) -> bool:
    assert cell.error is not None
    return recognize(cell.error) is not None


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("jnp.vstack(a, b)", "jnp.vstack([a, b])"),
        ("jnp.vstack(m, m)", "jnp.vstack([m, m])"),
        ("jnp.concatenate(m, m)", "jnp.concatenate([m, m])"),
        ("jnp.hstack(a, b)", "jnp.hstack([a, b])"),
        ("jnp.dstack(a, b)", "jnp.dstack([a, b])"),
        ("jnp.stack(a, b)", "jnp.stack([a, b])"),
        ("jnp.concatenate(a, b)", "jnp.concatenate([a, b])"),
        ("jnp.concatenate(v, v)", "jnp.concatenate([v, v])"),
        ("jnp.concatenate(a, b, axis=1)", "jnp.concatenate([a, b], axis=1)"),
        ("jnp.concatenate(a, b, 0)", "jnp.concatenate([a, b], 0)"),
        ("jnp.stack(a, b, -1)", "jnp.stack([a, b], -1)"),
        ("jnp.vstack(a, b, a)", "jnp.vstack([a, b, a])"),
        ("jnp.column_stack(a, b)", "jnp.column_stack([a, b])"),
        ("jnp.concat(a, b)", "jnp.concat([a, b])"),
        ("lax.concatenate(a, b, 0)", "lax.concatenate([a, b], 0)"),
        ("jnp.concatenate([a], b)", "jnp.concatenate([a, b])"),
        ("jnp.concatenate(xs, b)", "jnp.concatenate([*xs, b])"),
        ("y = jnp.vstack(a + 1, b * 2)", "y = jnp.vstack([a + 1, b * 2])"),
        ("jnp.stack(*pair)", "jnp.stack(pair)"),
        ("jnp.concatenate(*pair, axis=1)", "jnp.concatenate(pair, axis=1)"),
        ("jnp.vstack(*pair)", "jnp.vstack(pair)"),
        ("y = jnp.hstack(*pair, a)", "y = jnp.hstack([*pair, a])"),
        ("y = jnp.hstack(a, *pair)", "y = jnp.hstack([a, *pair])"),
        ("jnp.concatenate((a, b), (b, a))", "jnp.concatenate([a, b, b, a])"),
        ("y = jax.jit(lambda a, b: jnp.stack(a, b))(a, b)", "y = jax.jit(lambda a, b: jnp.stack([a, b]))(a, b)"),
    ],
)
def test_arrays_that_are_passed_apart(code: str, written: str) -> None:
    cell = failing(code)
    if cell.error is None:
        pytest.skip("this JAX takes the type of an array for a dtype")
    assert cell.finding.line == cell.here
    assert "takes its arrays as one list, but gets them as separate arguments." in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("jax.random.normal(key, 3.0)", "Axes have integer sizes, but jax.random.normal gets 3.0 (float) for shape."),
        ("jax.random.normal(key, shape=5.)", "jax.random.normal gets 5.0 (float) for shape."),
        ("jax.random.normal(key, np.float64(3))", "gets np.float64(3) (float) for shape."),
        ("jax.random.bernoulli(key, 0.5, shape=n / 2)", "gets n / 2 (float) for shape."),
        ("jax.random.normal(key, n / 2)", "jax.random.normal gets n / 2 (float) for shape."),
        ("jax.random.normal(key, 0.0, 1.0)", "Its parameters are, in this order: key, shape, dtype."),
        ("jax.random.randint(key, 3., 0, 10)", "for shape."),
        ("jax.random.bernoulli(key, 0.5, 3.)", "gets 3.0 (float) for shape."),
        ("jax.random.split(key, 3.0)", "jax.random.split gets 3.0 (float) for num."),
        ("jax.random.uniform(key, a)", "jax.random.uniform gets a (f32[2,3]) for shape."),
        ("jax.random.uniform(key, v)", "jax.random.uniform gets v (f32[3]) for shape."),
        ("jax.random.uniform(key, v.sum())", "jax.random.uniform gets v.sum() (f32[]) for shape."),
        ("jax.random.uniform(key, 'a')", "gets 'a' (str) for shape."),
        ("jnp.zeros(m[0])", "jnp.zeros gets m[0] (f64[3]) for shape."),
        ("jnp.zeros(v)", "jnp.zeros gets v (f32[3]) for shape."),
    ],
)
def test_a_float_or_an_array_for_a_shape(code: str, said: str) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert said in cell.said


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("jax.random.normal(key, 3.0)", "jax.random.normal(key, 3)"),
        ("jax.random.normal(key, shape=5.)", "jax.random.normal(key, shape=5)"),
        ("y = jax.random.normal(key, n / 2)", "y = jax.random.normal(key, n // 2)"),
        ("jax.random.uniform(key, a)", "jax.random.uniform(key, a.shape)"),
        ("jax.random.uniform(key, v.sum())", "jax.random.uniform(key, int(v.sum()))"),
        ("jax.random.uniform(key, v)", None),
        ("jax.random.normal(key, 0.0, 1.0)", None),
        ("jax.random.normal(key, 0.5)", None),
    ],
)
def test_a_shape_is_written_where_it_is_certain(code: str, written: str | None) -> None:
    cell = failing(code)
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None
    elif "v" in code:
        assert "v.shape" in cell.said
        assert "tuple(map(int, v))" in cell.said


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("jnp.zeros(2, 3)", "jnp.zeros((2, 3))"),
        ("jnp.ones(n, 3)", "jnp.ones((n, 3))"),
        ("jnp.zeros(2, 3, 4)", "jnp.zeros((2, 3, 4))"),
        ("jnp.ones(2, 3, dtype=int)", "jnp.ones((2, 3), dtype=int)"),
        ("jnp.full(2, 3, 1)", "jnp.full((2, 3), 1)"),
        ("jnp.reshape(a, 3, 2)", "jnp.reshape(a, (3, 2))"),
        ("jnp.reshape(a, -1, 2)", "jnp.reshape(a, (-1, 2))"),
        ("jnp.reshape(a, n, 1)", "jnp.reshape(a, (n, 1))"),
    ],
)
def test_sizes_that_are_passed_apart(code: str, written: str) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert "takes a shape as one tuple, but gets its sizes as separate arguments." in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("a.view(-1)", "In JAX as in NumPy, a.view reads the bytes of a as another dtype", "a.reshape(-1)"),
        ("a.view(3, 2)", "a.view reads", "a.reshape(3, 2)"),
        ("a.view((3, 2))", "a.view reads", "a.reshape((3, 2))"),
        ("a.view(b.shape)", "a.view reads", "a.reshape(b.shape)"),
        ("a.view(a.shape[0], -1)", "a.view reads", "a.reshape(a.shape[0], -1)"),
        ("(a + 1).view(-1)", "view reads", "(a + 1).reshape(-1)"),
        ("y = jax.jit(lambda x: x.view(-1))(a)", "x.view reads", "y = jax.jit(lambda x: x.reshape(-1))(a)"),
        ("a.size()", "a.size is no method: it is the number of elements.", "a.shape"),
        ("a.size(0)", "a.size is no method: it is the number of elements.", "a.shape[0]"),
        ("a.shape(0)", "a.shape is no method: it is a tuple of sizes.", "a.shape[0]"),
        ("a.shape()", "a.shape is no method", "a.shape"),
        ("a.ndim()", "a.ndim is no method: it is the number of axes.", "a.ndim"),
        ("a.device()", "a.device is no method: it is the device, or the sharding over several.", "a.device"),
        ("a.nbytes()", "a.nbytes is no method: it is the number of bytes.", "a.nbytes"),
        ("a.T()", "a.T is no method: it is the transposed array.", "a.T"),
        (
            "y = jax.jit(lambda x: x.size(0) + x)(a)",
            "x.size is no method",
            "y = jax.jit(lambda x: x.shape[0] + x)(a)",
        ),
        ("a.sum(dim=1)", "a.sum has no parameter dim.", "a.sum(axis=1)"),
        ("a.mean(dim=1, keepdim=True)", "a.mean has no parameter", "a.mean(axis=1, keepdims=True)"),
        ("a.mean(1, keepdim=True)", "a.mean has no parameter keepdim.", "a.mean(1, keepdims=True)"),
        ("jnp.sum(a, dim=1)", "jnp.sum has no parameter dim.", "jnp.sum(a, axis=1)"),
        ("jnp.concatenate([a, b], dim=1)", "has no parameter dim.", "jnp.concatenate([a, b], axis=1)"),
        ("jnp.concat([a, b], dim=1)", "jnp.concat has no parameter dim.", "jnp.concat([a, b], axis=1)"),
        ("jax.jit(lambda x: x.sum(dim=1))(a)", "x.sum has no", "jax.jit(lambda x: x.sum(axis=1))(a)"),
        ("jax.nn.softmax(a, dim=1)", "jax.nn.softmax has no parameter dim.", "jax.nn.softmax(a, axis=1)"),
        (
            "a[None].transpose(0, 1)",
            "transpose orders all axes, and gets 2 for an array of shape (1, 2, 3).",
            "a[None].swapaxes(0, 1)",
        ),
        ("a[None].transpose(-1, -2)", "transpose orders all axes", "a[None].swapaxes(-1, -2)"),
        ("jnp.transpose(a[None], (0, 1))", "transpose orders all axes", "jnp.swapaxes(a[None], 0, 1)"),
    ],
)
def test_calls_that_pytorch_takes(code: str, said: str, written: str) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("jnp.transpose(a[None], [0, 1])", "jnp.swapaxes(a[None], 0, 1)"),
        ("a[None].transpose((0, 1))", "a[None].swapaxes(0, 1)"),
        ("jnp.transpose(a[None], pair)", None),
        ("a[None].transpose(pair)", None),
    ],
)
def test_two_axes_are_swapped_where_they_are_written(code: str, written: str | None) -> None:
    cell = failing(f"pair = (0, 1); {code}")
    assert "To swap two axes" in cell.said
    assert cell.finding.code == written


@pytest.mark.parametrize("code", ["a.sum(axis=1, dim=1)", "a.sum(1, dim=0)", "jnp.sum(a, 1, dim=0)"])
def test_a_keyword_is_not_written_twice(code: str) -> None:
    cell = failing(code)
    assert "has no parameter dim." in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    "code",
    [
        "a.reshape(6, dim=1)",
        "np.ones((2, 3)).view(-1)",
        "np.ones(3).view(3, 2)",
        "np.vstack(np.ones(2), np.ones(2))",
        "np.zeros(2, 3)",
        "np.ones(2).size(0)",
        "np.sum(np.ones(2), dim=1)",
        "list(3.0)",
        "sum(3.0)",
        "(lambda shape: list(shape))(3.0)",
        "jax.tree.map(lambda x: list(x), 3.0)",
        "a.view('int7')",
        "jnp.zeros(3, 'flot')",
        "n()",
        "jnp.pi()",
        "(lambda x: x)(a, dim=1)",
        "jnp.sum(a, dims=1)",
        "jnp.iinfo(dim=1)",
        "type('A', (), {'size': 3})().size(0)",
    ],
)
def test_similar_errors_of_other_calls_have_no_explanation(code: str) -> None:
    assert not is_explained(failing(code))


@pytest.mark.parametrize(
    "code", ["jnp.concatenate([a, b], v)", "jnp.stack(xs, 0.5 + v)", "[1, 2][v]", "jnp.stack([a, b], axis=v)"]
)
def test_an_array_for_an_axis_may_be_another_array_or_not(code: str) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert ("as separate arguments" in cell.said) is ("axis=" not in code and "][v" not in code)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("jnp.zeros((3, n / 2))", "got (3, 3.0)"),
        ("jnp.zeros((a.shape, 4))", "A star unpacks a shape in a shape, as in (*x.shape, 4)."),
        ("jnp.tile(a, 2.0)", ".\nConvert the size with int()."),
        ("jnp.eye(3.0)", "got (3.0,).\nConvert the size with int()."),
        ("jnp.zeros(('a', 4))", "A shape has to consist of integers, got ('a', 4)."),
    ],
)
def test_a_shape_of_other_things(code: str, said: str) -> None:
    assert said in failing(code).said


def test_an_array_in_place_of_an_axis() -> None:
    cell = Cell("x, y = jnp.array([1, 5]), jnp.array([4, 2])\nz = jnp.max(x, y)  # here")
    assert cell.said.startswith("y is passed as the axis of jnp.max, its second argument.")
    assert cell.finding.code == "z = jnp.maximum(x, y)"
    assert cell.rewritten(cell.finding.code).names["z"].tolist() == [4, 5]


@pytest.mark.parametrize("dtype", ["int", "float"])
def test_an_array_in_place_of_the_axis_of_a_mean_has_no_code(dtype: str) -> None:
    cell = Cell(f"x = jnp.full(3, 4, {dtype})\nz = jnp.mean(x, x)  # here")
    assert cell.said.startswith("x is passed as the axis of jnp.mean, its second argument.")
    assert cell.finding.code is None


def test_a_choice_without_its_other_value_is_not_none() -> None:
    cell = Cell("x = jnp.ones(3)\ny = jnp.where(x > 0, x)  # here")
    assert cell.said.startswith("jnp.where needs y as well.")
    assert "None" not in cell.said
    assert "A value is None" in Cell("x = jnp.ones(3)\njnp.where(x > 0, x, None)").said
