"""The call without jit passes numbers as the user did, unless the function uses what only arrays have."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell

KEPT = [
    ("return x[: int(n * x.shape[0])].sum()", "0.29"),
    ("return x.reshape(int(n), -1).T", "4"),
    ("return x.reshape(n, -1).mean(axis=0)", "4"),
    ("rows, scale = n, 2.0 * n\n    return (x * scale).reshape(rows, -1).sum(0)", "4"),
    ("y = x\n    for i in range(1, n, 2):\n        y = y.at[i].set(n * i)\n    return y.astype(float)", "5"),
    ("out = []\n    for i in range(n):\n        out.append(x * i)\n    return jnp.stack(out).sum(axis=0)", "3"),
    ("return jnp.zeros(n).at[0].set(x.max())", "3"),
    ("k = max(int(n * x.size), 1)\n    return jnp.sort(x)[-k:].mean()", "0.29"),
    ("y = x.sum() if n > 2 else x.mean()\n    return y.astype(float)", "4"),
    ("m = math.floor(n * 100)\n    return x[:m].sum()", "0.29"),
    ("def body(i, c):\n        return c + n * c.sum()\n    return jax.lax.fori_loop(0, 2, body, x)[: int(n)]", "2"),
    ("return (x[:, None] * jnp.ones(int(n))[None]).sum(axis=1)", "2"),
    ("return sum(x[i].astype(float) for i in range(n))", "3"),
    ("return halves(x, n).sum()", "0.29"),
    ("return helper(x, frac=n)[:2].sum()", "0.29"),
    ("return Twice().of(x).sum() * jnp.ones(int(n))", "3"),
    ("return f'{int(n)}' and x.sum()", "3"),
    ("return jax.grad(lambda v: (v * n).sum())(x)[: int(n)].sum()", "2"),
    ("def loss(w):\n        return (w * n).sum()\n    return jax.grad(loss)(x)[: int(n)].sum()", "2"),
    ("g = jax.grad(lambda v: (v * n).sum())\n    return g(x)[: int(n)].sum()", "2"),
    ("def cut(v, part):\n        return v[: int(part * v.shape[0])]\n    return cut(x, n).sum()", "0.29"),
    ("t = weights * n\n    return t.sum() * x[: int(n)].sum()", "2"),
]

WRAPPED = [
    ("return x[: int(n.sum())].sum()", "3"),
    ("return x[: int(n)].sum() + n.astype(float)", "3"),
    ("y = n * 2\n    return x[: int(n)].sum() + y.astype(float)", "3"),
    ("return x[: int(n)].sum() + n[None].sum()", "3"),
    ("pair = (x, n)\n    return x[: int(n)].sum() + pair[1].sum()", "3"),
    ("return x[: int(n)].sum() + wide(n)", "3"),
    ("return x[: int(n)].sum() + deeper(n)", "3"),
    ("return x[: int(n)].sum() + Twice().of(n).sum()", "3"),
    ("inner = lambda v: v.sum()\n    return x[: int(n)].sum() + inner(n)", "3"),
    ("def inner(v):\n        return v.sum()\n    return x[: int(n)].sum() + inner(n)", "3"),
    ("def inner(v):\n        return v * 2\n    return x[: int(n)].sum() + inner(v=n).sum()", "3"),
    ("def inner(v):\n        return v.sum()\n    return x[: int(n)].sum() + [*map(inner, [n])][0]", "3"),
    ("return x[: int(n)].sum() + jax.tree.map(lambda v: v.sum(), [n])[0]", "3"),
    ("return x[: int(n)].sum() + list(map(lambda v: v.sum(), [n]))[0]", "3"),
    ("return x[: int(n)].sum() + (1 if isinstance(n, jax.Array) else 2)", "3"),
    (
        "y = 0\n    for i in range(2):\n        y = y.sum() if i else y\n        y = y + n\n    return x[: int(y)]",
        "3",
    ),
    ("return x[: int(n)].sum() + (n > 2).sum()", "3"),
    ("return jnp.where(~(n > 2), x, -x)[: int(n)]", "3"),
]

BEFORE = """
    import math
    weights = jnp.ones(4)
    class Twice:
        def of(self, v):
            return v * 2
    def halves(v, part):
        return v[: int(part * v.shape[0])]
    def helper(v, *, frac=0.5):
        return halves(v, frac)
    def wide(v):
        return v.sum()
    def deeper(v):
        return wide(v * 2)
"""


def _cell(body: str, number: str) -> Cell:
    lines = "\n".join(f"    {line}" for line in f"    {body}".split("\n"))
    head = "\n    @jax.jit\n    def f(x, n):\n"
    return Cell(f"{BEFORE}{head}{lines}  # here\n    f(jnp.arange(100.0), {number})\n")


def _runs(cell: Cell) -> None:
    eval(cell.fallback, cell.names)  # type: ignore[arg-type]


@pytest.mark.parametrize(("body", "number"), KEPT, ids=range(len(KEPT)))
def test_a_number_is_passed_as_it_is_where_the_function_takes_it(body: str, number: str) -> None:
    cell = _cell(body, number)
    assert cell.fallback == f"f.__wrapped__(jnp.arange(100.0), {number})"
    _runs(cell)


@pytest.mark.parametrize(("body", "number"), WRAPPED, ids=range(len(WRAPPED)))
def test_a_number_of_which_only_an_array_has_what_is_used_is_made_one(body: str, number: str) -> None:
    cell = _cell(body, number)
    assert cell.fallback == f"f.__wrapped__(jnp.arange(100.0), jnp.asarray({number}))"
    _runs(cell)


def test_the_call_without_jit_computes_what_python_computes() -> None:
    cell = _cell("return x[: int(n * x.shape[0])].sum()", "0.29")
    assert eval(cell.fallback, cell.names) == jnp.arange(28.0).sum()


@pytest.mark.parametrize(
    ("call", "fallback"),
    [
        ("f(3, 3)", "f.__wrapped__(jnp.asarray(3), 3)"),
        ("f(3, n=2)", "f.__wrapped__(jnp.asarray(3), n=2)"),
        ("f(np.ones(3), 2)", "f.__wrapped__(jnp.asarray(np.ones(3)), 2)"),
        ("f(jnp.ones(3), n=2)", "f.__wrapped__(jnp.ones(3), n=2)"),
    ],
)
def test_each_argument_is_judged_by_itself(call: str, fallback: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x, n):
            return x.sum() + jnp.zeros(n)  # here
        {call}
    """)
    assert cell.fallback == fallback
    assert np.isfinite(eval(cell.fallback, cell.names)).all()


@pytest.mark.parametrize(
    ("parameters", "used", "fallback"),
    [
        ("x, *sizes", "jnp.zeros(sizes[0])", "f.__wrapped__(jnp.ones(3), 2)"),
        ("x, *sizes", "jnp.zeros(sizes[0]) + sizes[0].sum()", "f.__wrapped__(jnp.ones(3), jnp.asarray(2))"),
    ],
)
def test_arguments_without_a_name_are_judged_by_the_parameter_that_collects_them(
    parameters: str, used: str, fallback: str
) -> None:
    cell = Cell(f"""
        @jax.jit
        def f({parameters}):
            return x.sum() + {used}  # here
        f(jnp.ones(3), 2)
    """)
    assert cell.fallback == fallback
    eval(cell.fallback, cell.names)
