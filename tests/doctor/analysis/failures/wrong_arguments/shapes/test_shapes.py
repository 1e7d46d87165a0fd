"""Shapes that do not fit: the operands are named with their true shapes, and what is offered computes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell


def offered(cell: Cell) -> list[tuple[str, str]]:
    """The expressions that are said to fit, with the shapes that they are said to have."""
    notes = [cell.finding.remedy] if cell.finding.remedy is not None else []
    facts = [str(each.facts["code"]) for each in notes if each.kind == "doctor.write_fitting"]
    return [tuple(each.split(" → ")) for text in facts for each in text.split(" or ")]  # type: ignore[misc]


@pytest.mark.parametrize("made", ["a, b = jnp.ones({}), jnp.ones({})", "a, b = np.ones({}), jnp.ones({})"])
@pytest.mark.parametrize(("left", "right"), [((3, 4), (5, 4)), ((3, 4), (3, 4)), ((3,), (4, 3)), ((2, 3), (2,))])
@pytest.mark.parametrize("product", ["a @ b", "jnp.dot(a, b)", "jnp.matmul(a, b)"])
def test_a_product(made: str, left: tuple[int, ...], right: tuple[int, ...], product: str) -> None:
    cell = Cell(f"{made.format(left, right)}\n{product}  # here")
    assert cell.finding.line == cell.here
    axis = max(len(right) - 2, 0)
    assert cell.said.splitlines()[0] == (
        f"a {left} and b {right} cannot be multiplied: axis {len(left) - 1} of a has size {left[-1]}, axis {axis} of "
        f"b has size {right[axis]}, and they must be equal."
    )
    computed = offered(cell)
    assert computed
    for code, shape in computed:
        assert str(eval(code, cell.names).shape) == shape


def test_all_products_of_the_operands_that_fit_are_offered() -> None:
    cell = Cell("a, b = jnp.ones((3, 4)), jnp.ones((3, 4))\na @ b")
    assert offered(cell) == [("a @ b.T", "(3, 3)"), ("a.T @ b", "(4, 4)")]
    assert "Check which of them you mean, if any." in cell.said


@pytest.mark.parametrize(
    ("line", "whole"), [("y = a @ b", True), ("y = a @ b + 1", False), ("jnp.sum(a @ b)", False)]
)
def test_what_fits_inside_of_a_statement_is_not_said_to_fit_there(line: str, whole: bool) -> None:
    cell = Cell(f"a, b = jnp.ones((3, 4)), jnp.ones((3, 4))\n{line}")
    assert len(offered(cell)) == 2
    assert (", and that the rest of the statement takes its shape." in cell.said) != whole


def test_nothing_is_offered_where_nothing_fits() -> None:
    cell = Cell("a, b = jnp.ones((3, 4)), jnp.ones((5, 6))\na @ b")
    assert offered(cell) == []
    assert "Shapes do not say which one is wrong." in cell.said


def test_operands_that_are_expressions_in_a_method_inside_of_jit() -> None:
    cell = Cell("""
        class Layer:
            def __init__(self):
                self.w, self.v = jnp.ones((3, 4)), jnp.ones((5, 4))
            def __call__(self, x):
                return jnp.tanh(x @ self.w) @ self.v  # here
        layer = Layer()
        jax.jit(lambda x: layer(x))(jnp.ones((2, 3)))
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("jnp.tanh(x @ self.w) (2, 4) and self.v (5, 4) cannot be multiplied")
    assert offered(cell) == [("jnp.tanh(x @ self.w) @ self.v.T", "(2, 5)")]


def test_inside_of_scan_and_of_vmap() -> None:
    cell = Cell("""
        w = jnp.ones((3, 4))
        def body(carry, x):
            return carry, w @ x  # here
        lax.scan(body, 0.0, jnp.ones((7, 3)))
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("w (3, 4) and x (3,) cannot be multiplied")
    cell = Cell("jax.vmap(lambda a, b: a @ b)(jnp.ones((7, 3, 4)), jnp.ones((7, 3, 4)))")
    assert cell.said.startswith("a (3, 4) and b (3, 4) cannot be multiplied")
    assert "shapes of one element, without the mapped axis" in cell.said


def test_other_products_name_the_sizes_alone() -> None:
    for product in ("jnp.inner(a, b)", "lax.dot_general(a, b, (((1,), (1,)), ((), ())))"):
        cell = Cell(f"a, b = jnp.ones((3, 2)), jnp.ones((3, 4))\n{product}")
        assert "the axes that are summed over have sizes 2 and 4." in cell.said
        assert offered(cell) == []


def test_batches_and_scalars() -> None:
    cell = Cell("a, b = jnp.ones((2, 3, 4)), jnp.ones((5, 4, 6))\na @ b")
    assert (
        "a (2, 3, 4) and b (5, 4, 6) cannot be multiplied: their batch axes, (2,) and (5,), do not fit." in cell.said
    )
    cell = Cell("a, b = jnp.ones((2, 3, 4)), jnp.ones((5, 7, 6))\na @ b")
    assert "a (2, 3, 4) and b (5, 7, 6) cannot be multiplied" in cell.said
    cell = Cell("a, b = jnp.ones(3), jnp.float32(2)\na @ b")
    assert cell.said.startswith("b is a scalar")


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "**", ">", "==", "//"])
@pytest.mark.parametrize("made", ["jnp", "np"])
def test_broadcasting(operator: str, made: str) -> None:
    cell = Cell(f"a, b = {made}.ones((2, 3)), jnp.ones((4, 3))\na {operator} b  # here")
    assert cell.finding.line == cell.here
    assert re.match(r"(a \(2, 3\) and b \(4, 3\)|b \(4, 3\) and a \(2, 3\)) do not broadcast: axis -2 has", cell.said)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("jnp.where(a > 0, a, b)", "a > 0 (3,), a (3,) and b (4,) do not broadcast: axis -1 has sizes 3 and 4."),
        ("jnp.maximum(a, b)", "a (3,) and b (4,) do not broadcast: axis -1 has sizes 3 and 4."),
        ("lax.add(a, b)", "a (3,) and b (4,) do not broadcast: axis -1 has sizes 3 and 4."),
        ("a += b", "a (3,) and b (4,) do not broadcast: axis -1 has sizes 3 and 4."),
        ("jnp.interp(a, b, a)", None),
    ],
)
def test_functions_that_broadcast(code: str, said: str | None) -> None:
    cell = Cell(f"a, b = jnp.ones(3), jnp.ones(4)\n{code}  # here")
    if said is not None:
        assert cell.finding.line == cell.here
        assert cell.said.splitlines()[0] == said
    elif cell.error is not None and "broadcasting" in str(cell.error):
        assert "a (3,)" not in cell.said.splitlines()[0]


@pytest.mark.parametrize(
    ("left", "right", "code"),
    [
        ((4, 3), (4,), "a - b[:, None]"),
        ((4,), (4, 3), "a[:, None] - b"),
        ((4, 3), (3, 4), "a.T - b"),
        ((3,), (4,), None),
    ],
)
def test_what_broadcasts_with_an_axis_or_transposed(
    left: tuple[int, ...], right: tuple[int, ...], code: str | None
) -> None:
    cell = Cell(f"a, b = jnp.ones({left}), jnp.ones({right})\na - b")
    found = offered(cell)
    assert code in [each for each, _ in found] if code else found == []
    for text, shape in found:
        assert str(eval(text, cell.names).shape) == shape


def test_an_update_with_a_value_of_another_shape() -> None:
    cell = Cell("x, v = jnp.ones((4, 2)), jnp.ones(3)\nx.at[:2].set(v)  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("v (3,) does not broadcast to x[:2], which has shape (2, 2).")
    cell = Cell("x = jnp.ones((3, 2))\njnp.broadcast_to(x, (4, 2))")
    assert cell.said.startswith("x (3, 2) does not broadcast to shape (4, 2).")


@pytest.mark.parametrize("given", ["[a, b]", "(a, b)", "xs"])
def test_concatenation(given: str) -> None:
    cell = Cell(f"a, b = jnp.ones((2, 3)), np.ones((4, 3))\nxs = [a, b]\njnp.concatenate({given}, axis=1)  # here")
    assert cell.finding.line == cell.here
    names = ("xs[0]", "xs[1]") if given == "xs" else ("a", "b")
    assert cell.said.splitlines()[0] == (
        f"{names[0]} (2, 3) and {names[1]} (4, 3) cannot be concatenated along axis 1: axis 0 has sizes 2 and 4, and "
        "must have the same size in all of them."
    )
    assert "Along axis=0 they fit in shape." in cell.said
    assert eval("jnp.concatenate(xs, axis=0)", cell.names).shape == (6, 3)


def test_concatenation_of_arrays_with_other_numbers_of_axes() -> None:
    cell = Cell("a, b = jnp.ones((2, 3)), jnp.ones(3)\njnp.concatenate([a, b])")
    assert "a (2, 3) and b (3,) cannot be concatenated: they have 2 and 1 axes" in cell.said


def test_stacking() -> None:
    cell = Cell("a, b = jnp.ones(3), jnp.ones(4)\njnp.stack([a, b])  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("a (3,) and b (4,) cannot be stacked: they must have the same shape.")


@pytest.mark.parametrize("code", ["a.reshape(4, 2)", "a.reshape((4, 2))", "jnp.reshape(a, (4, 2))"])
@pytest.mark.parametrize("transform", ["f(x)", "jax.jit(f)(x)"])
def test_reshape(code: str, transform: str) -> None:
    cell = Cell(f"x = jnp.ones((3, 2))\ndef f(a):\n    return {code}  # here\n{transform}")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("a (3, 2) has 6 elements, but shape (4, 2) needs 8.")
    assert "(-1, 2) fits in shape" in cell.said
    assert "(4, -1)" not in cell.said
    assert jnp.ones((3, 2)).reshape(-1, 2).shape == (3, 2)


def test_reshape_to_one_axis() -> None:
    cell = Cell("x = jnp.ones((3, 2))\nx.reshape(5)")
    assert cell.said.startswith("x (3, 2) has 6 elements, but shape (5,) needs 5.")
    assert "(-1,) fits in shape" in cell.said


def test_reshape_with_a_free_axis() -> None:
    cell = Cell("x = jnp.ones((3, 2))\nx.reshape(4, -1)")
    assert "needs a multiple of 4" in cell.said


@pytest.mark.parametrize("subscripts", ["'ij,jk->ik'", "'ij, jk'", "s"])
def test_einsum_names_the_axes_of_a_label(subscripts: str) -> None:
    cell = Cell(f"s = 'ij,jk->ik'\na, b = jnp.ones((3, 4)), jnp.ones((5, 6))\njnp.einsum({subscripts}, a, b)  # here")
    assert cell.finding.line == cell.here
    assert "The label j of einsum stands for axes of different sizes: a axis 1: 4, b axis 0: 5." in cell.said


def test_einsum_with_another_number_of_labels() -> None:
    cell = Cell("a, b = jnp.ones((3, 4)), jnp.ones((5, 6))\njnp.einsum('ij,bjk->ik', a, b)  # here")
    assert cell.finding.line == cell.here
    assert "The subscript bjk has 3 labels, but b (5, 6) has 2 axes." in cell.said


def test_a_size_that_is_a_float() -> None:
    cell = Cell("x = jnp.ones(4)\njnp.zeros(x.shape[0] / 2)  # here")
    assert cell.finding.line == cell.here
    assert "integers, got (2.0,)" in cell.said
    assert "Divide with //" in cell.said


def test_a_variable_that_has_changed_since_is_not_named_with_its_new_shape() -> None:
    cell = Cell("a, b = jnp.ones((3, 4)), jnp.ones((5, 4))\na @ b")
    cell.names["a"] = jnp.ones((8, 9))
    assert "(8, 9)" not in cell.said
    assert "the axes that are summed over have sizes 4 and 5" in cell.said
    cell = Cell("a, b = jnp.ones(3), jnp.ones(4)\na + b")
    cell.names["a"] = jnp.ones((8, 9))
    assert cell.said.startswith("(3,) and (4,) do not broadcast in JAX's add")


def test_a_library_that_multiplies_is_named_and_its_operands_are_not() -> None:
    cell = Cell("""
        exec(compile("def dense(x, w):\\n    return x @ w", "/opt/site-packages/layers/dense.py", "exec"))
        x, w = jnp.ones((2, 3)), jnp.ones((4, 5))
        dense(x, w)  # here
    """)
    assert cell.finding.line == cell.here
    first = cell.said.splitlines()[0]
    assert "sizes 3 and 4" in first
    assert "x (" not in first
    assert first.startswith("(2, 3) and (4, 5) cannot be multiplied")
    assert "It happened in dense" in cell.said


@pytest.fixture
def unfiltered() -> Iterator[None]:
    """Let tracebacks have JAX's own frames, as in IPython."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")
    yield
    jax.config.update("jax_traceback_filtering", before)


@pytest.mark.parametrize("transform", ["", "jax.jit", "jax.vmap", "jax.jacfwd", "jax.checkpoint"])
@pytest.mark.usefixtures("unfiltered")
def test_operands_that_meet_inside_a_library_are_not_to_be_given_an_axis(transform: str) -> None:
    cell = Cell(f"""
        exec(compile("def scaled(x):\\n    return jnp.ones(5) * x", "/opt/site-packages/layers/dense.py", "exec"))
        step = {transform}(scaled)
        step(jnp.ones((4, 4)))  # here
    """)
    assert cell.finding.line == cell.here
    assert "It happened in scaled" in cell.said
    assert "[:, None]" not in cell.said
    assert "look for the one that it was given with another size" in cell.said


@pytest.mark.parametrize("code", ["np.ones(3) + np.ones(4)", "np.ones((3, 4)) @ np.ones((3, 4))", "[1] @ [2]"])
def test_what_numpy_or_python_raises_is_not_explained(code: str) -> None:
    from jaxmagic.doctor.capture.failures.recognize import recognize

    cell = Cell(code)
    assert cell.error is not None
    assert recognize(cell.error) is None


def test_the_shapes_in_the_tests_are_those_of_numpy() -> None:
    with pytest.raises(ValueError, match="mismatch"):
        np.ones((3, 4)) @ np.ones((5, 4))
    assert jax.eval_shape(jnp.matmul, np.ones((3, 4)), np.ones((5, 4)).T).shape == (3, 5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            'jnp.einsum("...ij,...jk->...ik", a, b)',
            "The label j of einsum stands for axes of different sizes: a axis 2",
        ),
        ('jnp.einsum("... i j, ... j k", a, b)', "a axis 2: 4, b axis 1: 5."),
        ('jnp.einsum("...i,...i", a, a[1:, :2])', "The axes that an ellipsis (...) of einsum stands for"),
        (
            "jnp.einsum(a, [0, 1, 2], b, [0, 2, 3], [1, 3])",
            "A label of einsum stands for axes of different sizes: 4 and",
        ),
        ("jnp.einsum(a, [0, 1], b, [0, 2, 3], [1, 3])", "A subscript of einsum has 2 labels"),
        (
            'jnp.einsum("hij,hjk", jnp.ones((2, 3, 4)), jnp.ones((2, 5, 6)))',
            "The label j of einsum stands for axes of different sizes: 4 and 5.",
        ),
        (
            '(lambda *s: jnp.einsum(*s, a, b))("hij,hjk")',
            "A label of einsum stands for axes of different sizes: 4 and",
        ),
    ],
)
def test_labels_of_einsum_are_named_only_if_the_user_wrote_them(call: str, said: str) -> None:
    cell = Cell(f"a, b = jnp.ones((2, 3, 4)), jnp.ones((2, 5, 6))\n{call}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(said) or said in cell.said.splitlines()[0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("jnp.vstack([a, b])", "a (2, 3) and b (3, 4) do not fit in jnp.vstack: axis 1 has sizes 3 and 4"),
        ("jnp.hstack([a, b])", "a (2, 3) and b (3, 4) do not fit in jnp.hstack: axis 0 has sizes 2 and 3"),
        ("jnp.column_stack([a, b])", "do not fit in jnp.column_stack"),
        ("jnp.dstack([a, b])", "The arrays do not fit in jnp.dstack: their shapes differ in another axis"),
        ("jnp.block([[a, b]])", "The arrays do not fit in jnp.block: their shapes differ in another axis"),
        ("jnp.r_[a, b]", "The arrays do not fit in jnp.r_: their shapes differ in another axis"),
        ("jnp.array([a, b])", "a (2, 3) and b (3, 4) cannot be stacked: they must have the same shape."),
    ],
)
def test_functions_without_an_axis_get_no_advice_about_it(call: str, said: str) -> None:
    cell = Cell(f"a, b = jnp.ones((2, 3)), jnp.ones((3, 4))\n{call}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert "along axis" not in cell.said.lower()


def test_only_the_users_own_call_gets_advice_about_its_axis() -> None:
    advice = "Along axis=1 they fit in shape."
    arrays = "a, b = jnp.ones((2, 3)), jnp.ones((2, 4))\n"
    assert advice in Cell(f"{arrays}jnp.concatenate([a, b])").said
    assert advice in Cell(f"{arrays}jnp.append(a, b, axis=0)").said
    assert advice not in Cell(f"{arrays}lax.concatenate([a, b], 0)").said
    assert advice not in Cell(f"{arrays}jnp.vstack([a, b])").said


@pytest.mark.parametrize(
    ("code", "fits"),
    [
        ("y @ w.T", [("y @ w", "(4, 3)")]),
        ("y @ p['w'].T", [("y @ p['w']", "(4, 3)")]),
        ("jnp.dot(y, w.T)", [("y @ w", "(4, 3)")]),
    ],
)
@pytest.mark.parametrize("jit", ["", "@jax.jit"])
def test_a_transposed_operand_that_fits_as_it_is(code: str, fits: list[tuple[str, str]], jit: str) -> None:
    cell = Cell(
        f"""
        {jit}
        def f(y, w):
            p = {{"w": w}}
            return {code}  # here
        f(jnp.ones((4, 5)), jnp.ones((5, 3)))
        """
    )
    assert cell.finding.line == cell.here
    assert "y (4, 5) and " in cell.said
    assert ".T (3, 5) cannot be multiplied: axis 1 of y has size 5" in cell.said
    assert offered(cell) == fits


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("jnp.einsum('ij,jk->ik', a)", "einsum gets 2 subscripts for 1 operand.\nWrite one subscript per operand"),
        (
            "jnp.einsum('ij->k', a)",
            "The result of einsum has the label k, which no operand has.\nThe labels after ->",
        ),
    ],
)
def test_labels_of_einsum_that_no_operand_has(call: str, said: str) -> None:
    cell = Cell(f"a = jnp.ones((2, 3))\n{call}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said


@pytest.mark.parametrize(
    ("call", "said", "written", "result"),
    [
        ("lax.select(m, x, 0.0)", "but the values have the shapes (2,) and ().", "jnp.where(m, x, 0.0)", [1, 0]),
        ("lax.select(m[:1], x, y)", "the condition has shape (1,) and the", "jnp.where(m[:1], x, y)", [1, 1]),
        ("jax.lax.select(m, 5.0, x)", "shapes () and (2,).", "jnp.where(m, 5.0, x)", [5, 1]),
        ("lax.select(m, x, jnp.ones(3))", "shapes (2,) and (3,).", None, None),
        ("lax.select(m, on_true=x, on_false=0.0)", "shapes (2,) and ().", None, None),
        ("lax.select(m > 0, x, 0.0)", "shapes (2,) and ().", None, None),
    ],
)
def test_select_does_not_broadcast(call: str, said: str, written: str | None, result: list[float] | None) -> None:
    cell = Cell(f"m, x, y = jnp.array([True, False]), jnp.ones(2), jnp.zeros(2)\nz = {call}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said
    if written is not None:
        assert cell.finding.code == f"z = {written}"
        assert cell.rewritten(f"z = {written}").names["z"].tolist() == result
    elif "> 0" not in call:  # JAX may have left its own frames, which show the shape of the condition
        assert cell.finding.code is None
