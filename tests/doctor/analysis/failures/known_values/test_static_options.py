"""The code that jits a function is written with the argument made static, in the way in which it is jitted."""

from __future__ import annotations

import pytest
from failing_cells import Cell

SOURCE = """
    def plain(x, n, train=True):
        if train:  # here
            return x * n
        return x
    {jit}
    {call}
"""

CASES = {
    "an assignment": ("g = jax.jit(plain)", "r = g(1.0, 2.0, True)", 'g = jax.jit(plain, static_argnames="train")'),
    "a keyword": (
        "g = jax.jit(plain)",
        "r = g(1.0, 2.0, train=True)",
        'g = jax.jit(plain, static_argnames="train")',
    ),
    "other options": (
        "g = jax.jit(plain, donate_argnums=(0,))",
        "r = g(jnp.ones(()), 2.0, True)",
        'g = jax.jit(plain, donate_argnums=(0,), static_argnames="train")',
    ),
    "static_argnums": (
        "g = jax.jit(plain, static_argnums=1)",
        "r = g(1.0, 2.0, True)",
        "g = jax.jit(plain, static_argnums=(1, 2))",
    ),
    "static_argnames": (
        "g = jax.jit(plain, static_argnames=['n'])",
        "r = g(1.0, 2.0, True)",
        'g = jax.jit(plain, static_argnames=("n", "train"))',
    ),
    "a gradient": (
        "g = jax.jit(jax.grad(plain))",
        "r = g(1.0, 2.0, True)",
        'g = jax.jit(jax.grad(plain), static_argnames="train")',
    ),
    "the call": (
        "",
        "r = jax.jit(plain)(1.0, 2.0, True)",
        'r = jax.jit(plain, static_argnames="train")(1.0, 2.0, True)',
    ),
    "the call with numbers": (
        "",
        "r = jax.jit(plain, static_argnums=(1,))(1.0, 2.0, True)",
        "r = jax.jit(plain, static_argnums=(1, 2))(1.0, 2.0, True)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_code_that_jits_gets_the_option(case: str) -> None:
    jit, call, code = CASES[case]
    cell = Cell(SOURCE.format(jit=jit, call=call))
    assert cell.finding.line == cell.here
    assert "train is a Python bool where" in cell.said
    assert cell.finding.code == code
    new = Cell(SOURCE.format(jit=code if jit else "", call=call if jit else code))
    assert new.error is None
    assert float(new.names["r"]) == 2.0


@pytest.mark.parametrize(
    ("decorator", "code"),
    [
        ("@jax.jit", '@functools.partial(jax.jit, static_argnames="train")'),
        ("@functools.partial(jax.jit, static_argnums=(1,))", "@functools.partial(jax.jit, static_argnums=(1, 2))"),
        (
            "@functools.partial(jax.jit, donate_argnums=0)",
            '@functools.partial(jax.jit, donate_argnums=0, static_argnames="train")',
        ),
    ],
)
def test_a_decorator_keeps_its_options(decorator: str, code: str) -> None:
    cell = Cell(f"""
        {decorator}
        def f(x, n, train):
            return x * n if train else x  # here
        r = f(jnp.ones(()), 2.0, True)
    """)
    assert cell.finding.code == code
    assert float(cell.rewritten(code).names["r"]) == 2.0


@pytest.mark.parametrize(
    "jit",
    [
        "options = {'static_argnums': 1}; g = jax.jit(plain, **options)",
        "numbers = (1,); g = jax.jit(plain, static_argnums=numbers)",
        "g = jax.jit(plain); g = jax.jit(plain)",
        "g = (lambda f: jax.jit(f))(plain)",
        "g = jax.jit(plain, static_argnums=(1,), static_argnames=('n',))",
    ],
)
def test_nothing_is_written_where_the_options_are_unknown(jit: str) -> None:
    cell = Cell(SOURCE.format(jit=jit, call="g(1.0, 2.0, True)"))
    assert cell.finding.line == cell.here
    assert "static" in cell.said
    assert cell.finding.code is None
