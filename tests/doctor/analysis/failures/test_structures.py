"""Pytrees that differ in None, and results in containers."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from failing_cells import Cell


def test_none_is_a_pytree_without_leaves() -> None:
    cell = Cell("p = {'a': 1.0, 'b': None}\njax.tree.map(lambda x, y: y, p, {'a': 1.0, 'b': 2.0})  # here")
    assert cell.finding.line == cell.here
    assert "p is None" in cell.said or "one has None" in cell.said
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
    assert cell.said.startswith(f"The differentiated lambda returns a {container}, but only a scalar has")
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
    assert "or begin with f32[2], if the body then returns that as well" in remedy


def test_several_keys_are_listed() -> None:
    cell = Cell("jax.tree.map(lambda a, b: a, {'b': 1, 'w': 2}, {'w': 2})")
    assert "has the keys b and w, " in cell.said
    assert cell.said.splitlines()[0].endswith(" only w.")


def test_keys_that_only_one_carry_has_are_named() -> None:
    cell = Cell("""
        def body(c, x):
            return {"pos": c["pos"] + x}, None
        lax.scan(body, {"pos": 0.0, "vel": 1.0}, jnp.arange(3.0))  # here
    """)
    assert cell.finding.line == cell.here
    assert (
        "c of scan begins as dict with 2 children and ends as dict with 1 child, and only one of the two has 'vel'."
        in cell.said
    )


def test_keys_that_only_one_branch_has_are_named() -> None:
    cell = Cell("lax.cond(True, lambda: {'a': 1.0}, lambda: {'a': 1.0, 'b': 2.0})  # here")
    assert cell.finding.line == cell.here
    assert "and only one of the two has 'b'." in cell.said


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
    both = dtype == "complex64"  # neither branch returns what both can return
    assert converted.format("…" if both else other) in cell.said
    assert "in place of the dots." in cell.said if both else f"in place of {other}." in cell.said
    first = converted.format("x") if both else "x"
    mended = f"lax.cond(x.sum() > 0, lambda: {first}, lambda: {converted.format(other)})"
    assert cell.rewritten(mended).error is None


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("lax.switch(0, [lambda x: x[0], lambda x: x.sum()], x)", "x.sum()"),
        ("lax.switch(0, (lambda x: x.sum(), lambda x: x[0]), x)", "x.sum()"),
        ("lax.cond(True, lambda y: y, lambda y: y.astype(int), x)", "y.astype(int)"),
        ("lax.cond(True, true_fun=lambda y: y[0], false_fun=lambda y: y.sum(), operand=x)", "y.sum()"),
        ("lax.cond(True, lambda y: y[0], false_fun=lambda y: y.sum(), operand=x)", "y.sum()"),
    ],
)
def test_what_a_branch_returns_is_converted_as_it_is_written(call: str, result: str) -> None:
    cell = Cell(f"x = jnp.ones((5, 3))\n{call}  # here")
    remedy = cell.said.splitlines()[-1]
    code = remedy[remedy.index(": write ") + 8 :] if ": write " in remedy else remedy[remedy.index("jnp.broad") :]
    mended = call.replace(result, code.removesuffix(f" in place of {result}."))
    assert mended != call
    assert cell.rewritten(mended).error is None


@pytest.mark.parametrize(
    "call",
    [
        "lax.cond(True, lambda: x, f)",
        "lax.cond(True, f, f2)",
        "lax.switch(0, [lambda: x, lambda: x.sum(), lambda: x[0]])",
        "lax.cond(True, lambda: (x, x), lambda: (x, x.sum()))",
    ],
)
def test_the_result_of_a_branch_that_is_not_written_on_the_line_has_no_name(call: str) -> None:
    functions = "def f():\n    return x.sum()\ndef f2():\n    return x\n"
    cell = Cell(f"x = jnp.ones((5, 3))\n{functions}{call}  # here")
    assert "jnp.broadcast_to(jnp.asarray(…, jnp.float32), (5, 3)) takes an array or a Python number" in cell.said
    assert "asarray(x" not in cell.said


def test_the_condition_of_a_loop_may_need_the_first_shape() -> None:
    begin = "lax.while_loop(lambda c: c < 3, lambda c: c + jnp.ones(1), {})  # here"
    cell = Cell(begin.format("0.0"))
    remedy = cell.said.splitlines()[-1]
    assert "Otherwise return f32[] for it from the body. Or begin with f32[1], if the body then returns" in remedy
    assert "and if cond_fun returns one bool for that, too" in remedy
    assert Cell(begin.format("jnp.zeros(1)")).error is not None


def test_a_condition_that_is_the_carry_stays_a_bool() -> None:
    remedy = Cell("lax.while_loop(lambda c: c, lambda c: jnp.int32(0), True)").said.splitlines()[-1]
    assert remedy.startswith("End the body with jnp.asarray(…, jnp.bool_), so that c keeps its type")
    assert "egin with" not in remedy


@pytest.mark.parametrize(
    ("start", "body", "lost"),
    [
        ("jnp.asarray(0, int)", "c * 0.5 + y", "drop its fraction"),
        ("jnp.int32(0)", "c + jnp.sin(y)", "drop its fraction"),
        ("jnp.zeros((), bool)", "c + y", "leave only whether it is zero"),
        ("False", "jnp.int32(2) + c", "leave only whether it is zero"),
        ("jnp.float32(0)", "c + y * 1j", "drop its imaginary part"),
        ("jnp.uint8(1)", "jnp.int32(-2) * c", "drop its sign"),
    ],
)
@pytest.mark.parametrize("loop", ["scan", "fori_loop"])
def test_a_result_that_would_lose_its_kind_is_not_converted(start: str, body: str, lost: str, loop: str) -> None:
    call = {
        "scan": f"result, _ = lax.scan(lambda c, y: ({body}, None), {{}}, jnp.arange(3.0))  # here",
        "fori_loop": f"y = jnp.float32(1.5)\nresult = lax.fori_loop(0, 3, lambda i, c: {body}, {{}})  # here",
    }[loop]
    remedy = Cell(call.format(start)).said.splitlines()[-1]
    assert remedy.startswith("Begin with ")
    assert f"would {lost}." in remedy
    assert "nd the body" not in remedy
    dots = remedy[remedy.index("as in ") + 6 :].partition(", so that")[0]
    names = {"y": 1.5, "c": eval(start, {"jnp": np}), "jnp": np}
    again = Cell(call.format(dots.replace("…", start)))
    assert again.error is None
    for step in range(3):
        names |= {"y": float(step)} if loop == "scan" else {}
        names["c"] = eval(body, names)
    np.testing.assert_allclose(again.names["result"], names["c"], rtol=1e-6)


@pytest.mark.parametrize(
    ("start", "body", "both"),
    [
        ("jnp.float32(0.5)", "jnp.int32(y) + 1", False),
        ("jnp.ones((), jnp.bfloat16)", "c + y", True),
        ("jnp.int16(0)", "c + jnp.int32(y)", True),
    ],
)
def test_a_result_that_keeps_its_kind_is_converted(start: str, body: str, both: bool) -> None:
    call = f"lax.scan(lambda c, y: ({{}}, None), {start}, jnp.arange(3.0))  # here"
    remedy = Cell(call.format(body)).said.splitlines()[-1]
    assert ("Begin with " in remedy) == both
    converted = remedy[remedy.index("nd the body with ") + 17 :].partition(", so that")[0]
    assert Cell(call.format(converted.replace("…", body))).error is None


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


@pytest.mark.parametrize(
    ("first", "other", "one", "another"),
    [
        ("{'a': v, 'b': v}", "{'a': v, 'c': v}", "dict with the key 'b'", "dict with 'c' in its place"),
        ("{'a': v, 'b': v}", "{'c': v, 'd': v}", "dict with the keys 'a', 'b'", "dict with 'c', 'd' in their place"),
        (
            "{i: v for i in range(6)}",
            "{i + 6: v for i in range(6)}",
            "dict with the keys 0, 1, 2 and 3 more",
            "dict with 6, 7, 8 and 3 more in their place",
        ),
        ("o(a=v, b=v)", "o(b=v, a=v)", "an OrderedDict", "an OrderedDict with its keys in another order"),
        ("d(list, a=v)", "d(int, a=v)", "a defaultdict", "a defaultdict with other metadata"),
    ],
)
def test_what_one_dictionary_has_in_place_of_another(first: str, other: str, one: str, another: str) -> None:
    before = "from collections import OrderedDict as o, defaultdict as d\nv = 1.0\n"
    cell = Cell(f"{before}lax.while_loop(lambda c: True, lambda c: {other}, {first})  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"c of while_loop begins as {one} and ends as {another}.")
    cell = Cell(f"{before}lax.cond(v > 0, lambda: {first}, lambda: {other})  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"true_fun of cond returns {one}, and false_fun {another}.")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "lax.cond(x > 0, branch_up, lambda v: v, x)",
            "true_fun (branch_up) of cond returns a tuple, and false_fun a",
        ),
        (
            "lax.switch(1, [lambda v: v, branch_up], x)",
            "Branch 0 of switch returns a single value, and branch 1 (branch",
        ),
        (
            "lax.cond(x > 0, lambda v: v, lambda v: 1, x)",
            "true_fun of cond returns f32[], and false_fun i32[]: the dty",
        ),
    ],
)
def test_the_branches_that_differ_are_named(call: str, said: str) -> None:
    cell = Cell(f"x = jnp.float32(1)\ndef branch_up(v): return v, v\n{call}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(said)


@pytest.mark.parametrize(("begins", "advised"), [("{'x': 0.0}", True), ("{'x': 0.0, 'y': 0.0}", False)])
def test_a_key_that_the_body_adds_may_be_in_the_initial_carry(begins: str, advised: bool) -> None:
    cell = Cell(f"""
        def step(c, t):
            return {{"x": c["x"], "sum": t}}, t
        lax.scan(step, {begins}, jnp.ones(5))  # here
    """)
    assert ("Or begin with 'sum' in the initial carry as well, of the same shape and dtype." in cell.said) is advised
