"""The call without jit is offered only where no call of a jitted function would fail in it as well."""

from __future__ import annotations

import jax
import pytest
from failing_cells import Cell

FIB = """
@jax.jit
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
fib(5)
"""

MUTUAL = """
@jax.jit
def even(n):
    return True if n == 0 else odd(n - 1)
@jax.jit
def odd(n):
    return False if n == 0 else even(n - 1)
even(4)
"""

THROUGH_ANOTHER = """
def step(n):
    return fact(n - 1) * n
@jax.jit
def fact(n):
    return n if n < 2 else step(n)
fact(4)
"""

METHOD = """
class Tree:
    @functools.partial(jax.jit, static_argnums=0)
    def depth(self, n):
        if n < 2:
            return n
        return self.depth(n - 1) + 1
tree = Tree()
tree.depth(3)
"""

LATER = """
@jax.jit
def repeat(x, n):
    for _ in range(n):
        x = x + 1
    return x
@jax.jit
def f(x, n):
    y = x * jnp.zeros(n)
    return repeat(y, n)
f(1.0, 3)
"""


@pytest.mark.parametrize(
    ("source", "call"),
    [
        (FIB, "fib.__wrapped__(5)"),
        (MUTUAL, "even.__wrapped__(4)"),
        (THROUGH_ANOTHER, "fact.__wrapped__(4)"),
        (METHOD, "tree.depth.__wrapped__(tree, 3)"),
        (LATER, "f.__wrapped__(1.0, 3)"),
    ],
)
def test_a_call_that_fails_without_jit_as_well_is_not_offered(source: str, call: str) -> None:
    cell = Cell(source)
    assert cell.fallback is None
    with pytest.raises((TypeError, jax.errors.ConcretizationTypeError)):
        eval(call, cell.names)


@pytest.mark.parametrize(
    ("made", "stored", "held", "call"),
    [
        ("a = Counter()", "a.n = a.n + x", "a.n", "f.__wrapped__(a, 1.0)"),
        ("a = Counter()", "a.d['n'] = a.d['n'] + x", "a.d['n']", "f.__wrapped__(a, 1.0)"),
        ("a = Counter()", "kept['n'] = kept['n'] + x", "kept['n']", "f.__wrapped__(a, 1.0)"),
        ("a = Counter()", "y = a.n + x", "", "f.__wrapped__(a, 1.0)"),
    ],
)
def test_a_call_is_not_offered_where_the_failed_one_left_traced_values(
    made: str, stored: str, held: str, call: str
) -> None:
    cell = Cell(f"""
        class Counter:
            def __init__(self):
                self.n, self.d = 0.0, {{"n": 0.0}}
        kept = {{"n": 0.0}}
        {made}
        @functools.partial(jax.jit, static_argnums=0)
        def f(a, x):
            {stored}
            return x if x > 0 else -x  # here
        f(a, 1.0)
    """)
    assert cell.finding.line == cell.here
    assert (f"{held} holds a traced value, which cannot be used after this error" in cell.said) == bool(held)
    assert cell.fallback == (None if held else call)
    if held:
        with pytest.raises(jax.errors.UnexpectedTracerError):
            eval(call, cell.names)


@pytest.mark.parametrize("decorated", ["@jax.jit", ""])
def test_jitted_functions_called_before_the_failing_line_are_no_obstacle(decorated: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def double(x):
            return x * 2
        {decorated}
        def twice(x):
            return double(x)
        @jax.jit
        def f(x, n):
            y = twice(x)
            for _ in range(n):
                y = y + 1
            return y
        f(1.0, 3)
    """)
    assert cell.fallback is not None
    assert eval(cell.fallback, cell.names) == 5


@pytest.mark.parametrize("size", ["next(sizes)", "listed.pop()", "random.randint(2, 3)", "np.random.randint(2, 3)"])
def test_a_call_that_would_draw_again_is_not_offered(size: str) -> None:
    cell = Cell(f"""
        import random
        sizes, listed = iter([2, 3]), [2, 3]
        @jax.jit
        def f(x, n):
            return jnp.zeros(n) + x  # here
        f(1.0, {size})
    """)
    assert "n is a Python int where f is called" in cell.said
    assert cell.fallback is None
