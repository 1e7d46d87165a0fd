"""An array that one call donates and gets twice: under which names."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("both(a, a)", "a is passed twice, and the call donates it twice", "Pass a copy for one of them"),
        ("one(a, a)", "a is passed twice, and the call donates it once", "while the other argument needs it"),
        (
            "both(state, 1.0)",
            "state['w'] and state['ema'] are one array, and",
            "a copy for one of them, state['ema'].copy()",
        ),
        ("both(a + 1, jnp.ones(4))", "", ""),
        (
            "both(*pair)",
            "Two arguments of the call hold the same array, and",
            "Pass a copy for one of them, or do not",
        ),
    ],
)
def test_an_array_that_is_donated_twice(code: str, said: str, written: str) -> None:
    cell = Cell(f"""
        add = lambda a, b: (jax.tree.map(lambda x: x + 1, a), b + 1)
        both, one = jax.jit(add, donate_argnums=(0, 1)), jax.jit(add, donate_argnums=0)
        a = jnp.ones(1000)
        state, pair = {{"w": a, "ema": a}}, (a, a)
        {code}  # here
    """)
    if not said:
        assert cell.error is None
        return
    assert cell.finding.line == cell.here
    assert cell.said.startswith(said)
    assert written in cell.said
