"""A traced condition that decides what JAX cannot choose gets advice that works, and no code with ``where()``."""

from __future__ import annotations

import pytest
from failing_cells import Cell

#: What is decided, and functions of a traced x and a number n that decide it.
DECIDED = {
    "recursion": [
        " if x <= 1:  # here\n  return x\n return x * f(x - 1, n)",
        " return x if x <= 1 else x * f(x - 1, n)  # here",
        " if x > 1:  # here\n  x = lax.cond(x > 2, lambda: f(x - 1, n), lambda: x)\n return x",
    ],
    "raise": [
        " if x < 0:  # here\n  raise ValueError(n)\n return x",
        " if x >= 0:  # here\n  return x\n raise ValueError(n)",
        " if n > 5:\n  pass\n elif x < 0:  # here\n  raise ValueError(n)\n return x",
        " for i in range(n):\n  if x < 0 and i:  # here\n   raise ValueError\n  x = x + i\n return x",
    ],
    "break": [
        " for _ in range(n):\n  if x < 1:  # here\n   break\n  x = x / 2\n return x",
        " while True:\n  x = x / 2\n  if x < 1:  # here\n   if n:\n    break\n return x",
    ],
    "continue": [" for i in range(n):\n  if x < i:  # here\n   continue\n  x = x - i\n return x"],
    "return": [
        " for i in range(n):\n  if x < i:  # here\n   return x\n  x = x - i\n return x",
        " for i in range(n):\n  if n:\n   if x < i:  # here\n    return x\n return x",
    ],
    "print": [
        " if x > 0:  # here\n  print('large')\n return x",
        " if x > 0:  # here\n  logging.info('a')\n else:\n  print('b')\n return x",
    ],
    "container": [
        " kept = []\n if x > 0:  # here\n  kept.append(x)\n return kept",
        " log = []\n if x > 0:  # here\n  log.append(x)\n return log",
        " def g():\n  if x > 0:  # here\n   yield x\n return list(g())",
    ],
    "value": [
        " return 'large' if x > 0 else 'small'  # here",
        " if x > 0:  # here\n  return x\n return None",
        " y = None\n if x > 0:  # here\n  y = None\n return x",
    ],
    None: [
        " if x > 0:  # here\n  return x\n x = x + 1\n return x * 2",
        " for i in range(n):\n  if x > i:  # here\n   return x\n  else:\n   return -x",
        " for i in range(n):\n  if x > i:  # here\n   x = x - i\n  x = f.__name__ and x\n return x",
        " if x > 0:  # here\n  for i in range(n):\n   if i:\n    break\n  x = x + i\n return x",
        " if x > 0:  # here\n  x = -x\n return x if n < 5 else f(x, n - 1)",
    ],
}


@pytest.mark.parametrize(("kind", "body"), [(kind, each) for kind, bodies in DECIDED.items() for each in bodies])
def test_what_the_condition_decides(kind: str | None, body: str) -> None:
    cell = Cell(f"import logging\ndef f(x, n):\n{body}\njax.jit(f, static_argnums=1)(3.0, 4)")
    assert cell.failure.kind == "bool"
    assert cell.finding.line == cell.here
    assert cell.failure.decides == kind
    assert (cell.finding.remedy is not None and cell.finding.remedy.kind == "doctor.write_decided") == (
        kind is not None
    )


def test_functions_that_call_each_other() -> None:
    cell = Cell("""
        def even(n):
            if n == 0:  # here
                return True
            return odd(n - 1)
        def odd(n):
            return False if n == 0 else even(n - 1)
        jax.jit(even)(4)
    """)
    assert cell.failure.decides == "recursion"


def test_recursion_on_a_python_number_gets_a_static_argument_that_works() -> None:
    cell = Cell("""
        @jax.jit
        def f(n):
            if n <= 1:  # here
                return 1
            return n * f(n - 1)
        result = f(5)
    """)
    assert cell.finding.code is not None
    assert int(cell.rewritten(cell.finding.code).names["result"]) == 120


#: What is advised, under jit.
ADVISED = {
    "break": "lax.while_loop(lambda c: c[0] > 1, lambda c: (c[0] / 2, c[1] + 1), (x, 0))",
    "return": """functools.reduce(
        lambda c, i: (lambda new: (c[0] | (new < i), new))(jnp.where(c[0], c[1], c[1] - i)),
        range(3), (False, x))""",
    "continue": "functools.reduce(lambda y, i: jnp.where(y < i, y, y - i), range(3), x)",
    "print": "(lax.cond(x > 0, lambda: jax.debug.print('…'), lambda: None), x)[1]",
}


@pytest.mark.parametrize("kind", ADVISED)
def test_the_advice_runs_under_jit(kind: str) -> None:
    assert Cell(f"jax.jit(lambda x: {ADVISED[kind]})(9.0)").error is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x = 1 / x if x > 0 else x", True),
        ("x = x ** 0.5 if x > 0 else x", True),
        ("x = jnp.exp(x) if x > 0 else x", True),
        ("x = jnp.log(x) if x > 0 else x", True),
        ("if x > 0: x = x / x.sum()", True),
        ("x = x / 2 if x > 0 else 3 - x * x", False),
        ("x = jnp.sin(x) if 1 / x > 0 else x", False),
        ("x = x or 2.0", False),
        ("x = x or 1 / x", True),
        ("b = bool(x)", True),
    ],
)
def test_the_gradient_of_where_is_mentioned_where_a_branch_may_not_be_finite(line: str, said: bool) -> None:
    cell = Cell(f"@jax.jit\ndef f(x):\n    {line}  # here\n    return x\nf(1.0)")
    assert cell.finding.line == cell.here
    assert cell.said.count("jax.grad can return NaN") == said


def test_the_gradient_of_where_is_nan_as_said_and_the_advice_mends_it() -> None:
    cell = Cell("""
        plain = jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(0.0)
        mended = jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1)), 0.0))(0.0)
    """)
    assert cell.error is None
    assert bool(cell.names["jnp"].isnan(cell.names["plain"]))
    assert float(cell.names["mended"]) == 0
