"""NumPy on traced values: all calls of a statement are replaced, so that its next line fails at no other of them."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell

from jaxmagic.doctor.analysis.failures import array_functions

HEAD = """
import numpy as onp
from numpy import clip
RNG = np.random.default_rng(0)
W = np.arange(9.0).reshape(3, 3)
named = {{"a, b": W}}
def f(batch, x, n=3):
    z = batch["img"]
    {line}  # here
    return y
{run}
batch = {{"img": jnp.arange(9.0).reshape(3, 3) / 7}}
result = f(batch, {x})
"""

#: Statements with several calls, and what is advised.
WHOLE = {
    "a call around": (
        'y = np.clip(np.asarray(batch["img"]) / 255.0, 0, 1)',
        "y = jnp.clip(jnp.asarray(batch['img']) / 255.0, 0, 1)",
    ),
    "several around": (
        "y = np.max(np.nan_to_num(np.array(z)))",
        "y = jnp.max(jnp.nan_to_num(jnp.array(z)))",
    ),
    "one beside": ("y = np.sin(x) + np.cos(z)", "y = jnp.sin(x) + jnp.cos(z)"),
    "in a list": ("y = np.stack([np.sin(x), np.cos(x)])", "y = jnp.stack([jnp.sin(x), jnp.cos(x)])"),
    "one that works": (
        "y = np.mean(np.abs(z - np.mean(z, axis=0)), axis=1)",
        "y = jnp.mean(jnp.abs(z - jnp.mean(z, axis=0)), axis=1)",
    ),
    "on constants and shapes": (
        "y = np.sqrt(np.prod(z.shape) + np.size(z) + n) * np.exp(x) + np.log(np.array([2.0]))",
        "y = np.sqrt(np.prod(z.shape) + np.size(z) + n) * jnp.exp(x) + np.log(np.array([2.0]))",
    ),
    "with a type": (
        "y = np.asarray(z, dtype=np.float32).sum()",
        "y = jnp.asarray(z, dtype=np.float32).sum()",
    ),
    "a type": ("y = np.float32(np.sum(z)) / 255", "y = jnp.float32(jnp.sum(z)) / 255"),
    "under other names": ("y = clip(onp.asarray(z), 0, 1)", "y = jnp.clip(jnp.asarray(z), 0, 1)"),
    "in a comprehension": (
        "y = np.stack([np.sin(x + k) for k in range(2)])",
        "y = jnp.stack([jnp.sin(x + k) for k in range(2)])",
    ),
    "of the variable of a comprehension": (
        "y = jnp.stack([np.asarray(row) / np.sum(np.asarray(row)) for row in z])",
        "y = jnp.stack([jnp.asarray(row) / jnp.sum(jnp.asarray(row)) for row in z])",
    ),
    "a method": ("y = W.dot(z)", "y = jnp.dot(W, z)"),
    "a method of a result": ("y = W.dot(np.asarray(z))", "y = jnp.dot(W, jnp.asarray(z))"),
    "a method of an element": ("y = named['a, b'].dot(z)", "y = jnp.dot(named['a, b'], z)"),
    "a method with limits": ("y = W.clip(0, x)", "y = jnp.clip(W, 0, x)"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_all_calls_on_traced_values_are_replaced(name: str) -> None:
    line, code = WHOLE[name]
    cell = Cell(HEAD.format(line=line, run="f = jax.jit(f)", x="jnp.float32(2)"))
    assert cell.finding.line == cell.here
    assert cell.finding.code == code
    again = cell.rewritten(code)
    assert again.error is None
    expected = Cell(HEAD.format(line=line, run="", x="np.float32(2)")).names["result"]
    np.testing.assert_allclose(again.names["result"], expected, rtol=1e-6)


def test_what_may_be_a_list_is_named_without_code() -> None:
    line = "y = jnp.stack([np.asarray(row) / np.linalg.norm(row) for row in z])"
    cell = Cell(HEAD.format(line=line, run="f = jax.jit(f)", x="1.0"))
    assert "Use jnp.asarray in place of np.asarray and jnp.linalg.norm in place of np.linalg.norm." in cell.said
    known = "y = jnp.stack([jnp.asarray(row) / jnp.linalg.norm(row) for row in z])"  # before Python 3.12
    assert cell.finding.code in (None, known)


def test_a_list_of_traced_values_is_traced_in_each_call() -> None:
    cell = Cell("""
        @jax.jit
        def f(a):
            rows = [a[0], a[1]]
            return np.asarray(rows) / np.sum(np.asarray(rows))  # here
        result = f(jnp.eye(2))
    """)
    assert cell.finding.code == "return jnp.asarray(rows) / jnp.sum(jnp.asarray(rows))"
    assert cell.rewritten(cell.finding.code).names["result"].tolist() == [[0.5, 0], [0, 0.5]]


def test_the_remedy_names_all_of_them_and_the_problem_the_first_one() -> None:
    cell = Cell(HEAD.format(line="y = np.max(np.abs(np.asarray(z)))", run="f = jax.jit(f)", x="1.0"))
    assert "so it has no value yet, but np.asarray needs a NumPy array." in cell.said
    assert (
        "Use jnp.asarray in place of np.asarray, jnp.abs in place of np.abs, and jnp.max in place of np.max."
    ) in cell.said


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("y = np.median(np.vectorize(abs)(np.asarray(z)))", "np.vectorize(abs) needs a NumPy array as well"),
        ("y = np.add.reduce(np.asarray(z))", "np.add.reduce needs a NumPy array as well"),
        ("y = np.random.normal(np.asarray(x))", "np.random.normal needs a NumPy array as well"),
        ("y = np.lib.scimath.sqrt(np.partition(np.asarray(z), 1))", "sqrt need a NumPy array as well"),
        ("y = np.exp(np.asarray(x).item())", "and jnp.exp in place of np.exp."),
        ("y = float(np.asarray(x))", "Use jnp.asarray in place of np.asarray."),
        ("y = np.clip(z, 0, 1, dtype=np.float32)", "Use jnp.clip in place of np.clip."),
        ("y = W.reshape(np.asarray(x))", "W.reshape needs a NumPy array as well"),
        ("y = np.sqrt(x) + np.random.normal()", "np.random.normal would draw only once, while JAX traces"),
        ("y = np.sqrt(x) + np.random.default_rng(0).normal()", "default_rng would draw only once, while JAX traces"),
        ("y = np.sqrt(x) + RNG.normal()", "RNG.normal would draw only once, while JAX traces"),
        ("y = np.ones(3).dot(np.asarray(z))", "Use jnp.asarray in place of np.asarray."),
    ],
)
def test_there_is_no_code_if_another_call_would_fail_next(line: str, left: str) -> None:
    cell = Cell(HEAD.format(line=line, run="f = jax.jit(f)", x="1.0"))
    assert cell.finding.line == cell.here
    assert left in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize("name", sorted(array_functions._SHARED))
def test_jax_has_the_functions_that_are_advised(name: str) -> None:
    home, _, function = name.rpartition(".")
    assert hasattr(getattr(jnp, home) if home else jnp, function)
    assert hasattr(getattr(np, home) if home else np, function)


@pytest.mark.parametrize("call", ["jax.random.randint(key, 0, 10, (3,))", "jax.random.randint(key, 0, 10, [3, 4])"])
def test_a_function_of_jax_that_traces_arguments_in_another_order_gets_no_advice_on_numpy(call: str) -> None:
    cell = Cell(f"key = jax.random.key(0)\ny = {call}  # here")
    finding = cell.finding
    assert finding.line == cell.here
    assert "jax.random.randint failed while tracing its own arguments" in str(finding.found).replace("'", "")
    assert "help(jax.random.randint)" in str(finding.remedy)
    assert "NumPy on traced values" not in str(finding.remedy)


STORED = {
    "grid[0] = x": "grid = jnp.asarray(grid).at[0].set(x)",
    "grid[:, 1] = x[:2]": "grid = jnp.asarray(grid).at[:, 1].set(x[:2])",
    "grid[0, 1] = x[0]": "grid = jnp.asarray(grid).at[0, 1].set(x[0])",
    "grid[i] = 3": "grid = jnp.asarray(grid).at[i].set(3)",
    "grid[1:] += x": "grid = jnp.asarray(grid).at[1:].add(x)",
}


@pytest.mark.parametrize("line", STORED)
def test_what_is_assigned_to_a_numpy_array_is_set_in_a_jax_array(line: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x, i):
            grid = np.ones((2, 3))
            {line}  # here
            return grid
        result = f(jnp.arange(3.0), 1)
    """)
    assert "write grid = grid.at[index].set(value) here." in cell.said
    assert "before it is indexed" not in cell.said
    assert cell.finding.code == STORED[line]
    grid, x, i = np.ones((2, 3)), np.arange(3.0), 1
    exec(line, {"grid": grid, "x": x, "i": i})
    assert np.array_equal(cell.rewritten(STORED[line]).names["result"], grid)


UNSURE = {
    "a part of another array": "for row in np.ones((2, 3)): row[:] = x",
    "an array of integers": "grid = np.ones((2, 3), int); grid[0] = x",
    "an index that is a list": "grid = np.ones((2, 3)); grid[[0, 1]] = x",
    "elements that occur twice": "grid = np.ones((2, 3)); grid[i, i] += x[0]",
    "a mask": "grid = np.ones(3); grid[x > 1] = x",
    "two targets": "grid = np.ones((2, 3)); grid[0], y = x, 2",
    "an attribute": "import types; a = types.SimpleNamespace(grid=np.ones((2, 3))); a.grid[0] = x",
}


@pytest.mark.parametrize("what", UNSURE)
def test_an_assignment_that_may_mean_something_else_has_no_code(what: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x, i):
            {UNSURE[what]}  # here
        f(jnp.arange(3.0), 1)
    """)
    assert ".at[index].set(value) here." in cell.said
    assert ("If it is a part of another array" in cell.said) == (what == "a part of another array")
    assert cell.finding.code is None


def test_a_traced_mask_of_a_numpy_array_keeps_the_size() -> None:
    cell = Cell("""
        @jax.jit
        def f(x):
            return np.ones(3)[x > 1]  # here
        f(jnp.arange(3.0))
    """)
    assert "jnp.where(mask, array, 0)" in cell.said


#: A line of a function in a cell.
LINE = "\n" + 12 * " "


@pytest.mark.parametrize(
    ("body", "then", "rewritten"),
    [
        ("if np.isnan(x).any():  # here| return x * 0|return x  # end", "Choose", True),
        ("if len(x) > 2 and np.isnan(x).any():  # here| x = x + 1|return x", "Test len(x)", False),
        ("if np.isclose(x, 1).all():  # here| raise ValueError|return x", "Whether", False),
        ("return x if (np.exp(x) > 1).all() else -x  # here", "Choose", False),
        ("while np.exp(x).sum() > 9:  # here| x = x - 1  # end|return x", "Use lax.while", True),
        ("if np.square(x).shape[0] > 2:  # here| return x|return -x", "", False),
        ("if float(np.exp(x).sum()) > 2:  # here| return x|return -x", "", False),
    ],
)  # fmt: skip
def test_a_condition_of_what_numpy_returned_is_explained_as_well(body: str, then: str, rewritten: bool) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x):
            {body.replace("|", LINE)}
        result = f(jnp.ones(3))
    """)
    said = str(cell.finding.remedy)
    assert said.startswith("Use jnp.")
    assert ("fails again. " in said, f"fails again. {then}" in said) == (bool(then), bool(then))
    assert (cell.finding.code is not None) == rewritten
    if cell.finding.code is not None:
        assert cell.rewritten(cell.finding.code).error is None
