"""Scalars among arrays that are concatenated or stacked, in each order."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("call", "scalars", "new", "result"),
    [
        (
            "jnp.concatenate([x.mean(), x.std(), x])",
            "x.mean() and x.std() are scalars",
            "jnp.concatenate([jnp.atleast_1d(x.mean()), jnp.atleast_1d(x.std()), x])",
            [1.5, 0.5, 1, 2],
        ),
        (
            "jnp.concatenate((x, x.sum()), axis=-1)",
            "x.sum() is a scalar",
            "jnp.concatenate((x, jnp.atleast_1d(x.sum())), axis=-1)",
            [1, 2, 3],
        ),
        (
            "jnp.concatenate([np.float32(7), x])",
            "np.float32(7) is a scalar",
            "jnp.concatenate([jnp.atleast_1d(np.float32(7)), x])",
            [7, 1, 2],
        ),
        ("jnp.append(5, x, axis=0)", "5 is a scalar", "jnp.append(jnp.atleast_1d(5), x, axis=0)", [5, 1, 2]),
        ("jnp.append(x, 5, 0)", "5 is a scalar", "jnp.append(x, jnp.atleast_1d(5), 0)", [1, 2, 5]),
        ("jnp.concatenate([x, *[x.sum(), x.max()]])", "2 of them are scalars", None, None),
        ("jnp.concatenate(both)", "both[0] is a scalar", None, None),
        (
            "jnp.concatenate([0, x, 1, x, 2, x, 3])",
            "0, 1, 2 and 1 more are scalars",
            ...,
            [0, 1, 2, 1, 1, 2, 2, 1, 2, 3],
        ),
    ],
)
def test_a_scalar_beside_an_array_of_one_axis(
    call: str, scalars: str, new: str | None, result: list[float] | None
) -> None:
    cell = Cell(f"x = jnp.array([1.0, 2])\nboth = [x.sum(), x]\ny = {call}  # here")
    assert cell.finding.line == cell.here
    assert scalars in cell.said, cell.said
    assert "jnp.atleast_1d(x), or use jnp.hstack([a, b]), which does that." in cell.said
    assert new is ... or cell.finding.code == (None if new is None else f"y = {new}")
    if cell.finding.code is not None:
        assert cell.rewritten(cell.finding.code).names["y"].tolist() == result


def test_scalars_that_are_traced() -> None:
    cell = Cell("@jax.jit\ndef f(x):\n    return jnp.concatenate([x.max(), x])  # here\ny = f(jnp.arange(3))")
    code = cell.finding.code
    assert code == "return jnp.concatenate([jnp.atleast_1d(x.max()), x])"
    assert cell.rewritten(code).names["y"].tolist() == [2, 0, 1, 2]


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        ("jnp.concatenate([s, m])", "(1, 2)"),
        ("jnp.concatenate([m, s], axis=1)", "(3, 1)"),
        ("jnp.append(m, s, axis=0)", "(1, 2)"),
        ("jnp.vstack([s, m])", "(1, 2)"),
        ("jnp.hstack([s, m])", "(3, 1)"),
        ("jnp.column_stack([m, s])", "(3, 1)"),
        ("jnp.stack([s, m])", "(3, 2)"),
        ("jnp.dstack([m, s])", "(3, 2)"),
        ("jnp.array([s, m])", "(3, 2)"),
        ("jnp.stack([s, v])", "3"),
        ("jnp.vstack([v, s])", "3"),
        ("jnp.column_stack([v, s])", "3"),
        ("jnp.array([v, s])", "3"),
    ],
)
def test_the_array_that_fits_in_place_of_a_scalar(call: str, shape: str) -> None:
    cell = Cell(f"v, m = jnp.ones(3), jnp.ones((3, 2))\ns = m.sum()\ny = {call}  # here")
    assert "s is a scalar" in cell.said, cell.said
    assert f"the scalar has to be an array: jnp.full({shape}, value)." in cell.said
    assert ("jnp.hstack([a, b]) joins scalars" in cell.said) == ("v" in call.partition("(")[2])
    assert cell.finding.code is None
    fitting = call.replace("s]", f"jnp.full({shape}, s)]").replace("s,", f"jnp.full({shape}, s),")
    assert cell.rewritten(f"y = {fitting}").error is None


def test_numbers_of_axes_of_which_none_is_zero() -> None:
    cell = Cell("m = jnp.ones((3, 2))\njnp.stack([m, m[0]])  # here")
    assert "m (3, 2) and m[0] (2,) cannot be stacked: they must have the same shape." in cell.said
    assert "Give those with fewer axes the missing one" in cell.said


def test_scalars_alone_are_stacked() -> None:
    cell = Cell("x = jnp.ones(2)\ny = jnp.concatenate([x.mean(), x.std()])  # here")
    assert cell.said.startswith("jnp.concatenate joins arrays along an axis, but what it gets has no axis.")
    assert cell.finding.code == "y = jnp.stack([x.mean(), x.std()])"
    assert cell.rewritten(cell.finding.code).names["y"].tolist() == [1, 0]
    cell = Cell("jnp.concatenate(jnp.ones(2))  # here")
    assert "but the first one that it gets has none." in cell.said


@pytest.mark.parametrize(
    ("lacking", "axis", "index"),
    [
        ("jnp.ones(8)", "axis=1", "[:, None]"),
        ("jnp.ones(8)", "axis=-1", "[:, None]"),
        ("jnp.ones(4)", "axis=0", "[None]"),
        ("jnp.ones(4)", "", "[None]"),
        ("jnp.ones(8)", "axis=0", None),
        ("jnp.ones((2, 3, 8))", "axis=1", None),
        ("jnp.ones(8)", "axis=where", None),
    ],
)
def test_the_axis_that_an_array_lacks_is_where_the_others_have_the_joined_one(
    lacking: str, axis: str, index: str | None
) -> None:
    cell = Cell(f"x, c, where = jnp.ones((8, 4)), {lacking}, 1\ny = jnp.concatenate([x, c], {axis})  # here")
    if index is None:
        assert "Index the array" not in cell.said
        return
    assert f"Index the array that lacks an axis with {index}, which" in cell.said
    assert cell.rewritten(f"y = jnp.concatenate([x, c{index}], {axis})").error is None


@pytest.mark.parametrize(
    ("code", "operands"),
    [
        (
            "jnp.concatenate([jnp.ones((k, 3 if k < 3 else 2)) for k in range(1, 5)])",
            "[0] (1, 3), [1] (2, 3), [2] (3, 2) and [3] (4, 2) of [jnp.ones((k, 3 if k < 3 else 2)) for k in "
            "range(1, 5)] cannot be concatenated",
        ),
        (
            "jnp.stack(tuple(jnp.ones(k) for k in range(1, 4)))",
            "[0] (1,), [1] (2,) and [2] (3,) of tuple((jnp.ones(k) for k in range(1, 4))) cannot be stacked",
        ),
        (
            "jnp.concatenate([jnp.ones(k) if k else jnp.float32(1) for k in range(3)])",
            "[0] (), [1] (1,) and [2] (2,) of [jnp.ones(k) if k else jnp.float32(1) for k in range(3)] cannot be "
            "joined: [0] is a scalar",
        ),
        ("jnp.stack(list(map(jnp.ones, [1, 2])))", "[0] (1,) and [1] (2,) of list(map(jnp.ones, [1, 2])) cannot be"),
        ("parts = [jnp.ones(1), jnp.ones(2)]; jnp.stack(parts)", "parts[0] (1,) and parts[1] (2,) cannot be stacked"),
        ("x = [jnp.ones(1), jnp.ones(2)]; jnp.stack([*x])", "cannot be stacked"),
    ],
    ids=range(6),
)
def test_arrays_that_one_expression_makes_are_named_by_their_places(code: str, operands: str) -> None:
    assert operands in Cell(code).said
