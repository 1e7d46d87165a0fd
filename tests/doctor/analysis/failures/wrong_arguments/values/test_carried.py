"""A float as an index that is the carry of a loop, whose body takes its arguments in another order."""

from __future__ import annotations

import pytest
from failing_cells import Cell

_SWAPPED = "The loop passes the counter first and the carry second: body(acc, i) gets the carry for i."

_C = "c = jnp.array([1.0, 2, 3])\n"


@pytest.mark.parametrize(
    "body",
    [
        "def body(acc, i): return acc * 2 + c[i]  # here",
        "def body(acc, i): return acc * 2 + c[2 - i]  # here",
        "def body(acc, i): return acc * 2 + [1.0, 2.0, 3.0][i]  # here",
        "def body(acc, i):\n    j = 2 - i\n    return acc * 2 + c[j]  # here",
        "def get(j): return c[j]  # here\ndef body(acc, i): return acc * 2 + get(i)",
        "def body(acc, i): return acc * 2 + lax.dynamic_index_in_dim(c, i)[0]  # here",
        "def body(acc, i): return acc + c.at[i].set(1.0).sum()  # here",
        "@jax.jit\ndef body(acc, i): return acc * 2 + c[i]  # here",
    ],
)
def test_the_arguments_of_a_body_of_fori_loop_are_swapped(body: str) -> None:
    cell = Cell(f"{_C}{body}\ny = lax.fori_loop(0, 3, body, 0.0)")
    assert cell.finding.line == cell.here
    assert "the carry of lax.fori_loop, not its counter. " in cell.said, cell.said
    assert _SWAPPED in cell.said
    assert "If the parameters are in the wrong order, swap them: body(i, acc)." in cell.said
    assert "astype(int)" not in cell.said
    assert cell.finding.code is None
    if "[1.0" not in body:  # no traced index of a list
        assert Cell(cell.source.replace("(acc, i)", "(i, acc)")).error is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "y = lax.fori_loop(0, 3, lambda acc, i: acc + c[i], 0.0)  # here",
            "lambda acc, i gets the carry for i.\n"
            "If the parameters are in the wrong order, swap them: lambda i, acc.",
        ),
        (
            "def body(n, acc, i): return acc + c[i]  # here\n"
            "y = lax.fori_loop(0, 3, functools.partial(body, 3), 0.0)",
            _SWAPPED,
        ),
        (
            "def body(n, acc, i): return acc + c[i]  # here\nstep = functools.partial(body, 3)\n"
            "y = lax.fori_loop(lower=0, upper=3, body_fun=step, init_val=0.0)",
            _SWAPPED,
        ),
        (
            "class A:\n    def body(self, acc, i): return acc + c[i]  # here\n"
            "    def run(self): return lax.fori_loop(0, 3, self.body, 0.0)\ny = A().run()",
            _SWAPPED,
        ),
        (
            "def body(x, carry): return carry + c[x], None  # here\ny = lax.scan(body, 0.0, jnp.arange(3))",
            "x is a float, and no index: it is the carry of lax.scan, not an element of what it iterates over. The "
            "loop passes the carry first and the element second: body(x, carry) gets the carry for x.",
        ),
        (
            "def body(s):\n    i, v = s\n    return i + 1, v + c[i]  # here\n"
            "y = lax.while_loop(lambda s: s[0] < 3, body, (0.0, 0.0))",
            "i is a float, and no index: it is a part of the carry of lax.while_loop, whose types are those of the "
            "value that it begins with.\nIf it is to be an index, let the loop begin with an integer for it",
        ),
    ],
)
def test_the_carry_of_other_loops_and_bodies(code: str, said: str) -> None:
    cell = Cell(_C + code)
    assert cell.finding.line == cell.here
    assert said in cell.said, cell.said
    assert "astype(int)" not in cell.said


@pytest.mark.parametrize(
    "code",
    [
        "y = lax.fori_loop(0, 3, lambda i, acc: acc + c[i / 2], 0.0)",
        "def body(i, acc):\n    j = i / 2\n    return acc + c[j]\ny = lax.fori_loop(0, 3, body, 0.0)",
        "def body(i, acc):\n    j = i * acc\n    return acc + c[j]\ny = lax.fori_loop(0, 3, body, 0.0)",
        "def body(i, acc): return acc + lax.dynamic_index_in_dim(acc, i / 2)\ny = lax.fori_loop(0, 3, body, c)",
        "def body(i, s): return lax.dynamic_update_index_in_dim(c, s, i / 2, 0)[0]\n"
        "y = lax.fori_loop(0, 3, body, 0.0)",
        "y = lax.scan(lambda acc, x: (acc + c[x], None), 0.0, jnp.arange(3.0))",
        "y = jax.vmap(lambda i: c[i])(jnp.ones(3))",
    ],
)
def test_another_float_is_no_carry(code: str) -> None:
    cell = Cell(_C + code)
    assert "the carry" not in cell.said
    assert "//" in cell.said
