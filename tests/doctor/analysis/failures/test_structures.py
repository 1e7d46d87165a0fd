"""Pytrees that differ in None, and results in containers."""

from __future__ import annotations

import jax
import pytest
from failing_cells import Cell


def test_none_is_a_pytree_without_leaves() -> None:
    cell = Cell("jax.tree.map(lambda x, y: y, {'a': 1.0, 'b': None}, {'a': 1.0, 'b': 2.0})  # here")
    assert cell.finding.line == cell.here
    assert "one has None" in cell.said
    assert "is_leaf=lambda x: x is None" in cell.said


@pytest.mark.parametrize(
    ("result", "container", "written"),
    [
        ("{'loss': w}", "dictionary", "Return the number alone."),
        ("[w, 1]", "list", "Return the number alone."),
        ("(w, 1)", "tuple", "If the first of two results is the number"),
    ],
)
def test_a_container_in_place_of_a_loss(result: str, container: str, written: str) -> None:
    cell = Cell(f"jax.grad(lambda w: {result})(1.0)  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"The differentiated function returns a {container}, but only a scalar has")
    assert written in cell.said


def test_cholesky_of_a_matrix_that_is_not_square_is_no_matter_of_broadcasting() -> None:
    cell = Cell("jnp.linalg.cholesky(jnp.ones((3, 4)))  # here")
    if cell.error is not None and "must have shape" in str(cell.error):  # JAX says it itself from 0.12 on
        return
    assert cell.finding.line == cell.here
    assert cell.said.startswith("jnp.linalg.cholesky needs square matrices, but gets an array of shape (3, 4).")


@pytest.mark.parametrize("body", ["jnp.concatenate([c, y[None]])", "jnp.append(c, y)"])
def test_a_carry_that_grows_begins_with_no_shape(body: str) -> None:
    cell = Cell(f"lax.scan(lambda c, y: ({body}, y), jnp.zeros(1), jnp.arange(3.0))  # here")
    remedy = cell.said.splitlines()[-1]
    assert remedy.startswith("If each step changes the shape of c, as concatenate does, no first shape is right")
    assert "Otherwise begin with f32[2], if the body returns that for it as well" in remedy


def test_several_keys_are_listed() -> None:
    cell = Cell("jax.tree.map(lambda a, b: a, {'b': 1, 'w': 2}, {'w': 2})")
    assert "one has the keys b and w, the other w." in cell.said


def test_keys_that_only_one_carry_has_are_named() -> None:
    cell = Cell("""
        def body(c, x):
            return {"pos": c["pos"] + x}, None
        lax.scan(body, {"pos": 0.0, "vel": 1.0}, jnp.arange(3.0))  # here
    """)
    assert cell.finding.line == cell.here
    assert (
        "c of scan begins as dict with 2 children and ends as dict with 1 child, and only one has 'vel'." in cell.said
    )


def test_keys_that_only_one_branch_has_are_named() -> None:
    cell = Cell("lax.cond(True, lambda: {'a': 1.0}, lambda: {'a': 1.0, 'b': 2.0})  # here")
    assert cell.finding.line == cell.here
    assert "and only one has 'b'." in cell.said


@pytest.mark.parametrize(
    ("other", "differ", "dtype"),
    [
        ("0", "the shapes and dtypes differ", "float32"),
        ("0.0", "the shapes differ", "float32"),
        ("jnp.ones(3, jnp.int32)", "the shapes and dtypes differ", "float32"),
        ("1j", "the shapes and dtypes differ", "complex64"),
    ],
)
def test_branches_of_other_shapes_and_dtypes(other: str, differ: str, dtype: str) -> None:
    cell = Cell(f"x = jnp.ones((5, 3))\nlax.cond(x.sum() > 0, lambda: x, lambda: {other})  # here")
    assert differ in cell.said
    converted = "jnp.broadcast_to(jnp.asarray({}, jnp." + dtype + "), (5, 3))"
    assert converted.format("x") in cell.said
    mended = f"lax.cond(x.sum() > 0, lambda: {converted.format('x')}, lambda: {converted.format(other)})"
    assert cell.rewritten(mended).error is None


def test_branches_of_shapes_that_do_not_fit() -> None:
    cell = Cell("x = jnp.ones((5, 3))\nlax.cond(x.sum() > 0, lambda: x, lambda: jnp.ones(4, int))  # here")
    assert "the shapes and dtypes differ" in cell.said
    assert "Return the same structure with the same shapes and dtypes from each branch." in cell.said


SHARDED = """
mesh, P = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",)), jax.sharding.PartitionSpec
def f(a):
    return {body}  # here
y = jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(jnp.ones(2))
"""
#: The function that makes a value vary between devices, before and since JAX 0.8.
VARY = 'jax.lax.pcast({}, "x", to="varying")' if hasattr(jax.lax, "pcast") else 'jax.lax.pvary({}, "x")'


@pytest.mark.parametrize(
    ("body", "old", "said"),
    [
        ("lax.fori_loop(0, 3, lambda i, c: c + a, jnp.zeros(2))", "jnp.zeros(2)", "Begin the loop with"),
        ("lax.fori_loop(0, 3, lambda i, c: jnp.ones(2), a)", "jnp.ones(2)", "End the body with"),
        ("lax.cond(True, lambda: a, lambda: jnp.zeros(2))", "jnp.zeros(2)", "Return, from the branch whose result"),
    ],
)
def test_a_value_that_varies_between_devices(body: str, old: str, said: str) -> None:
    cell = Cell(SHARDED.format(body=body))
    assert cell.finding.line == cell.here
    assert "they vary along other axes of the mesh, which are in braces." in cell.said
    remedy = cell.said.splitlines()[-1]
    assert remedy.startswith(said)
    assert VARY.format("x") in remedy
    assert Cell(SHARDED.format(body=body.replace(old, VARY.format(old)))).error is None


def test_dtypes_differ_beside_the_axes_along_which_values_vary() -> None:
    cell = Cell(SHARDED.format(body="lax.fori_loop(0, 3, lambda i, c: c + a, jnp.zeros(2, int))"))
    assert ": the dtypes differ." in cell.said


def test_axes_of_vmap_for_a_dictionary() -> None:
    values = "p, x = {'w': jnp.ones((3, 2)), 'b': jnp.ones(2)}, jnp.ones((3, 2))\n"
    line = "y = jax.vmap(lambda p, x: p['w'] * x + p['b'], in_axes=({}, 0))(p, x)"
    cell = Cell(f"{values}{line.format('dict(w=0)')}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("Two pytrees that must have the same structure differ")
    remedy = cell.said.splitlines()[-1]
    assert remedy.startswith(
        "Give each key of a dictionary its axis in in_axes=, and None to those that are not mapped"
    )
    assert '{"w": 0, "b": None}' in remedy
    mended = cell.rewritten(line.format('{"w": 0, "b": None}'))
    assert mended.error is None
    assert mended.names["y"].shape == (3, 2)


@pytest.mark.parametrize(
    ("call", "begins"),
    [
        ("lax.scan(lambda c, x: (print(), x), 0.0, jnp.ones(3))", "The carry of scan begins as a single value"),
        ("lax.scan(lambda c, x: (None, x), (0.0, 1.0), jnp.ones(3))", "The carry of scan begins as a pytree"),
        ("lax.while_loop(lambda c: c < 3, lambda c: print(), 1)", "The carry of while_loop begins as a single value"),
    ],
)
def test_a_carry_that_is_none_in_the_end_does_not_grow(call: str, begins: str) -> None:
    said = Cell(f"{call}  # here").said
    assert f"{begins} and ends as None." in said
    assert "grow" not in said
