"""Keywords of PyTorch: the line that computes what PyTorch computes, or no code where JAX's function differs."""

from __future__ import annotations

import pytest
from failing_cells import Cell

VALUES = "x = jnp.array([[1.0, 5.0, 3.0], [7.0, 2.0, 8.0]])\n"

VALUES_OF_ROWS, INDICES_OF_ROWS = [5.0, 8.0], [1, 2]


@pytest.mark.parametrize(
    ("code", "written", "results"),
    [
        ("y = x.sum(dim=1, keepdim=True)", "y = x.sum(axis=1, keepdims=True)", {"y": [[9.0], [17.0]]}),
        ("_, y = x.max(dim=1)", "y = x.argmax(axis=1)", {"y": INDICES_OF_ROWS}),
        ("y, _ = x.max(dim=1)", "y = x.max(axis=1)", {"y": VALUES_OF_ROWS}),
        (
            "y, z = x.max(dim=1)",
            "y, z = (x.max(axis=1), x.argmax(axis=1))",
            {"y": VALUES_OF_ROWS, "z": INDICES_OF_ROWS},
        ),
        (
            "y, z = jnp.sort(x, dim=1)",
            "y, z = (jnp.sort(x, axis=1), jnp.argsort(x, axis=1))",
            {"y": [[1.0, 3.0, 5.0], [2.0, 7.0, 8.0]], "z": [[0, 2, 1], [1, 0, 2]]},
        ),
        ("y = x.max(dim=1)[0]", "y = x.max(axis=1)", {"y": VALUES_OF_ROWS}),
        ("y = x.max(1, keepdim=True)[1]", "y = x.argmax(1, keepdims=True)", {"y": [[1], [2]]}),
        (
            "y = (x.max(dim=1)[1] == jnp.array([1, 2])).mean()",
            "y = (x.argmax(axis=1) == jnp.array([1, 2])).mean()",
            {"y": 1.0},
        ),
        ("y = jnp.min(x, dim=1).values.sum()", "y = jnp.min(x, axis=1).sum()", {"y": 3.0}),
        ("y = x.min(dim=0).indices", "y = x.argmin(axis=0)", {"y": [0, 1, 0]}),
        ("y = x - x.max(1, keepdim=True)", "y = x - x.max(1, keepdims=True)", {"y": [[-4, 0, -2], [-1, -6, 0]]}),
        ("y = x.var(dim=1)[0]", "y = x.var(axis=1, ddof=1)[0]", {"y": 4.0}),
        ("y = x.std(dim=1, unbiased=True)[0]", "y = x.std(axis=1, ddof=1)[0]", {"y": 2.0}),
        ("y = jnp.var(x, dim=0, unbiased=False)", "y = jnp.var(x, axis=0)", {"y": [9.0, 2.25, 6.25]}),
        ("y = jnp.var(x, dim=0, correction=0)", "y = jnp.var(x, axis=0, correction=0)", {"y": [9.0, 2.25, 6.25]}),
        ("y = x.var(0, unbiased=False)", "y = x.var(0)", {"y": [9.0, 2.25, 6.25]}),
        ("y = jnp.std(x, 1, unbiased=True)[0]", "y = jnp.std(x, 1, ddof=1)[0]", {"y": 2.0}),
        ("y = x.swapaxes(dim0=0, dim1=1)[0]", "y = x.swapaxes(axis1=0, axis2=1)[0]", {"y": [1.0, 7.0]}),
        (
            "y = jax.random.uniform(jax.random.key(0), (3,), low=2, high=2)",
            "y = jax.random.uniform(jax.random.key(0), (3,), minval=2, maxval=2)",
            {"y": [2.0, 2.0, 2.0]},
        ),
        (
            "y = jax.random.randint(jax.random.key(0), low=2, high=3, size=(2,))",
            "y = jax.random.randint(jax.random.key(0), minval=2, maxval=3, shape=(2,))",
            {"y": [2, 2]},
        ),
        ("y = jnp.clip(x, a_min=2, a_max=3)[0]", "y = jnp.clip(x, min=2, max=3)[0]", {"y": [2.0, 3.0, 3.0]}),
    ],
)
def test_the_line_computes_what_pytorch_computes(code: str, written: str, results: dict[str, object]) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    if cell.error is None:
        pytest.skip("this JAX takes the keyword")
    assert cell.finding.code == written
    rewritten = cell.rewritten(written)
    assert rewritten.error is None
    assert {name: rewritten.names[name].tolist() for name in results} == results


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("y = x.max(dim=1)", "PyTorch's max returns the values and their indices, JAX's the values only. The "),
        ("y = jax.random.normal(jax.random.key(0), size=(3,), loc=1)", "JAX calls it shape=."),
        ("print(x.sort(dim=1))", "The indices are x.argsort(axis=1)."),
        ("y = x.std(1, True, keepdim=True)", "PyTorch divides by n - 1 by default, and JAX by n"),
        ("y = x.std(dim=1, unbiased=bool(x.size))", "ddof=1 divides by n - 1."),
        ("y = jnp.median(x, dim=1)", "which jnp.quantile(x, 0.5, axis, method='lower') is in JAX, and has an index."),
        ("y = jnp.split(x, 2, dim=1)", "PyTorch's split takes the size of each part, and JAX's the number of parts."),
    ],
)
def test_what_may_mean_something_else_has_no_code(code: str, said: str) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert said in cell.said
    assert cell.finding.code is None
    assert "JAX and NumPy call it " in cell.said or "JAX calls it " in cell.said
