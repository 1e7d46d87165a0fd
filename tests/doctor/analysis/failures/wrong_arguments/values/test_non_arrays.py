"""Arguments that JAX cannot trace: the object of a method, and dtypes."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from failing_cells import Cell, sentence

from jaxmagic.doctor.analysis.failures.explanation import explanation
from jaxmagic.doctor.record.failing_code import Operand


def test_the_object_of_a_method_is_passed_for_self() -> None:
    cell = Cell("""
        class A:
            @jax.jit
            def loss(self, x):
                return x.sum()
        a = A()
        a.loss(jnp.ones((4, 3)))  # here
    """)
    assert cell.said.startswith("a (A) is passed to a.loss for self, ")
    # JAX gets the object first, so that the only argument as it is written may be taken for it
    shifted = replace(cell.failure, operands=(Operand(text="jnp.ones((4, 3))", type="A"),))
    assert sentence(explanation(shifted).found).startswith("a (A) is passed to a.loss for self, ")


@pytest.mark.parametrize("dtype", ["jnp.float16", "y.dtype", "np.float32"])
def test_a_dtype_becomes_a_static_argument(dtype: str) -> None:
    cell = Cell(f"""
        y = jnp.ones(3)
        @jax.jit
        def f(x, t):
            return x.astype(t)
        result = f(y, {dtype})  # here
    """)
    assert cell.finding.line == cell.here
    assert 'Declare it static where the function is jitted: static_argnames="t".' in cell.said
    assert "pytree, for example" not in cell.said
    assert cell.finding.code == '@functools.partial(jax.jit, static_argnames="t")'
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize("function", ["concatenate", "stack"])
def test_a_list_among_arrays_that_are_joined(function: str) -> None:
    cell = Cell(f"x = jnp.arange(2)\ny = jnp.{function}([x, [5, 6]])  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"[5, 6] is a list, but jnp.{function} of JAX takes arrays and numbers.")
    assert cell.finding.code == f"y = jnp.{function}([x, jnp.array([5, 6])])"
    assert cell.rewritten(cell.finding.code).names["y"].ravel().tolist() == [0, 1, 5, 6]


STATE = """
from dataclasses import dataclass
{}@dataclass
class State:
    x: jax.Array
"""
REGISTERED = "@jax.tree_util.register_dataclass"


@pytest.mark.parametrize(
    "line",
    [
        "lax.scan(lambda s, t: (State(s.x + t), None), State(jnp.zeros(())), jnp.arange(3.0))",
        "jax.jit(lambda x: State(x))(jnp.ones(3))",
    ],
)
def test_a_dataclass_that_is_no_pytree(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "failing", SimpleNamespace())  # the module in which dataclasses look
    cell = Cell(f"{STATE.format('')}{line}  # here")
    assert cell.finding.line == cell.here
    assert f"f State is a dataclass of arrays, make it a pytree: {REGISTERED} above it." in cell.said
    assert Cell(f"{STATE.format(REGISTERED + chr(10))}{line}").error is None


def test_a_function_that_returns_a_text_is_no_dataclass() -> None:
    cell = Cell("jax.jit(lambda x: 'a')(1.0)  # here")
    assert "dataclass" not in cell.said
    assert cell.here.rpartition(":")[0] in cell.said


@pytest.mark.parametrize(
    ("call", "function", "whole"),
    [
        ("lax.scan(lambda c, w: (w @ c, None), x, {ws})[0]", "scan", "ws"),
        ("lax.scan(body, x, xs={ws})[0]", "scan", "ws"),
        ("lax.map(lambda w: w @ x, {ws})", "map", "ws"),
        ("jax.vmap(lambda w: w @ x)({ws})", "vmap", "a list"),
    ],
)
def test_a_list_of_arrays_is_stacked_to_go_over_it(call: str, function: str, whole: str) -> None:
    source = f"""
        x, ws = jnp.ones(3), [jnp.eye(3), 2 * jnp.eye(3)]
        def body(c, w):
            return w @ c, None
        result = {call}
    """
    cell = Cell(source.format(ws="ws"))
    assert f"{function} goes over the leading axis of each array in {whole}." in cell.said
    assert "make one array of them, jnp.stack(" in cell.said
    assert cell.finding.code is None
    assert Cell(source.format(ws="jnp.stack(ws)")).names["result"].sum() in (6, 9)


@pytest.mark.parametrize("call", ["lax.scan(lambda c, w: (c @ [c, c], None), x, x)", "jax.jit(lambda w: w @ x)(ws)"])
def test_another_list_becomes_an_array(call: str) -> None:
    cell = Cell(f"x, ws = jnp.ones(2), [jnp.ones(2), jnp.ones(2)]\n{call}")
    assert "leading axis" not in cell.said
    assert "make it an array: jnp.array(…)" in cell.said.replace("Make", "make")


def test_a_mask_of_floats_is_told_from_an_index() -> None:
    cell = Cell("x = jnp.arange(3)\nmask = jnp.array([1.0, 0.0, 1.0])\ny = x[mask]  # here")
    assert "A mask of zeros and ones selects with bools: mask.astype(bool)." in cell.said
    assert cell.rewritten("y = x[mask.astype(bool)]").names["y"].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("jnp.stack([1.0, [2.0]])", None),  # one has an axis more
        ("jnp.stack([x, [3.0, 4.0]])", "jnp.stack([x, jnp.array([3.0, 4.0])])"),
        ("jnp.stack([[1.0, 2.0], (3.0, 4.0)])", "jnp.stack([jnp.array([1.0, 2.0]), jnp.array((3.0, 4.0))])"),
        ("jnp.stack([x, [3.0]])", None),
        ("jnp.stack([x, [n, 4.0]])", "jnp.stack([x, jnp.array([n, 4.0])])"),
        ("jnp.concatenate([x, [3.0]])", "jnp.concatenate([x, jnp.array([3.0])])"),
        ("jnp.hstack((x, [3.0], x))", "jnp.hstack((x, jnp.array([3.0]), x))"),
        ("jnp.vstack([x, [3.0, 4.0]])", "jnp.vstack([x, jnp.array([3.0, 4.0])])"),
        ("jnp.vstack([x, [3.0]])", None),
        ("jnp.stack([[1.0, [2.0]], x])", None),
    ],
)
def test_a_list_among_arrays_is_made_an_array_if_they_fit(line: str, written: str | None) -> None:
    cell = Cell(f"n, x = 1.0, jnp.ones(2)\n{line}  # here")
    if "requires ndarray or scalar arguments" not in str(cell.error):
        pytest.skip("this JAX takes lists there")
    assert "of JAX takes arrays and numbers" in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None
