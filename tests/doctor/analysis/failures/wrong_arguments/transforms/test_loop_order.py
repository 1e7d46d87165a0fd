"""The order of the arguments of a loop, by what they are."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
from failing_cells import Cell

VALUES = """
def f(i, c): return c * 0.5
def body(c, x): return c, x
def below(c): return c < 5
def next_one(c): return c + 1
def unknown(c):
    later = c
    return later
short = lambda c: (c < 5) & ~(c > 7)
v, n, half = jnp.ones(3), 10, 5.0
"""


@pytest.fixture(autouse=True)
def _all_frames() -> Iterator[None]:
    """Let tracebacks keep the calls of JAX, as they do in IPython: they have the values of all arguments."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "tracebackhide")
    yield
    jax.config.update("jax_traceback_filtering", before)


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("lax.fori_loop(0, v, n, f)", "lax.fori_loop(0, n, f, v)"),
        ("lax.fori_loop(v * 2, 0, n, f)", "lax.fori_loop(0, n, f, v * 2)"),
        ("lax.fori_loop(f, 0, len(v), 1.0)", "lax.fori_loop(0, len(v), f, 1.0)"),
        ("lax.fori_loop(f, 0, n, init_val=v)", "lax.fori_loop(0, n, f, init_val=v)"),
        ("lax.fori_loop(f, 0, 10, 0)", "lax.fori_loop(0, 10, f, 0)"),
        ("lax.fori_loop((v, 0), 0, n, lambda i, c: c)", "lax.fori_loop(0, n, lambda i, c: c, (v, 0))"),
        ("lax.scan(jnp.arange(3.0), body, 0.0)", "lax.scan(body, 0.0, jnp.arange(3.0))"),
        ("lax.scan((v, v + 1), 0.0, body)", "lax.scan(body, 0.0, (v, v + 1))"),
        ("lax.scan((0.0, v), v, body)", "lax.scan(body, (0.0, v), v)"),
        ("lax.scan(None, body, v, length=2)", "lax.scan(body, v, None, length=2)"),
        ("lax.scan(v, body, xs=v)", "lax.scan(body, v, xs=v)"),
        ("lax.while_loop(next_one, jnp.ones(()), below)", "lax.while_loop(below, next_one, jnp.ones(()))"),
        ("lax.while_loop(next_one, 0, short)", "lax.while_loop(short, next_one, 0)"),
        ("lax.while_loop(0, unknown, lambda c: c.any())", "lax.while_loop(lambda c: c.any(), unknown, 0)"),
        ("lax.fori_loop(0, v, f, n)", "lax.fori_loop(0, n, f, v)"),
        ("lax.fori_loop(v.astype(int), 0, f, n)", "lax.fori_loop(0, n, f, v.astype(int))"),
    ],
)
def test_the_order_is_the_one_that_the_arguments_allow(code: str, written: str) -> None:
    cell = Cell(f"{VALUES}\n{code}  # here")
    assert cell.finding.code == written
    if "unknown" not in code and "astype" not in code:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "lax.fori_loop(f, 0, 3, 5)",
            "The bounds lower and upper are integers, and init_val is what body_fun",
        ),
        ("lax.fori_loop(f, 0, half, 1)", "lower, upper, body_fun, init_val. The bounds"),
        ("lax.fori_loop(f, n, 0, v)", "lower, upper, body_fun, init_val. The bounds"),
        ("lax.scan(v, body, v)", "f, init, xs. init is the first carry, and scan iterates over the leading axis"),
        ("lax.scan(None, body, v)", "f, init, xs. init is the first carry"),
        ("lax.while_loop(unknown, 0, unknown)", "cond_fun returns a bool, body_fun the next value"),
        ("lax.while_loop(unknown, True, short)", "cond_fun returns a bool, body_fun the next value"),
        ("lax.while_loop(below, 0, below)", "cond_fun returns a bool, body_fun the next value"),
    ],
)
def test_no_order_is_given_that_is_not_evident(code: str, said: str) -> None:
    cell = Cell(f"{VALUES}\n{code}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code is None


def test_an_array_for_a_bound_may_be_what_the_loop_begins_with() -> None:
    for arguments in ("0, v, f, n", "0, v, f, half", "0, v.astype(int), f, v"):
        cell = Cell(f"{VALUES}\nlax.fori_loop({arguments})")
        assert "Both bounds are single integers, but v" in cell.said
        assert "has shape (3,). It may be what the loop begins with: that is init_val" in cell.said
        assert "int(n)" not in cell.said
        assert (cell.finding.code is None) == (arguments != "0, v, f, n")
    said = Cell(f"{VALUES}\nlax.fori_loop(v, v.astype(int), f, n)").said
    assert "single integers" not in said
    assert "Pass integers for both" in Cell(f"{VALUES}\nlax.fori_loop(0, half, f, v)").said
