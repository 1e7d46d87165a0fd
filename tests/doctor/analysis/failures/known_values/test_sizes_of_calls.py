"""A size in a call that gets computed arrays as well, and an index of a list that makes an array."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    "code",
    [
        "jnp.linspace(x.min(), x.max(), bins + 1)",
        "jnp.linspace(jnp.min(x), jnp.max(x), num=bins)",
        "jnp.histogram(x, bins)[0]",
        "jnp.histogram(jnp.sqrt(x), bins)[0]",
        "jnp.histogram(x - x.mean(), bins=2 * bins)[0]",
        "jnp.histogram_bin_edges(x.ravel(), bins)",
        "jnp.histogram2d(x.ravel(), x, bins)[0]",
        "jnp.histogramdd(x.reshape(-1, 1), bins=bins)[0]",
    ],
)
def test_the_argument_that_decides_the_size_is_made_static(code: str) -> None:
    cell = Cell(f"@jax.jit\ndef count(x, bins):\n    y = {code}  # here\n    return y\nr = count(jnp.arange(9.0), 3)")
    assert cell.finding.line == cell.here
    assert "bins is a Python int where count is called: declare it static." in cell.said
    new = cell.finding.code
    assert new == '@functools.partial(jax.jit, static_argnames="bins")'
    assert cell.rewritten(new).error is None


def test_what_a_function_of_jax_computes_of_the_argument_stays_traced() -> None:
    code = "jnp.linspace(0, 1, jnp.minimum(bins, 4))"
    cell = Cell(f"@jax.jit\ndef count(x, bins):\n    return {code}  # here\ncount(jnp.arange(9.0), 3)")
    assert "declare it static" not in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("items", "table"),
    [
        ("[1.0, 2.0]", True),
        ("[True, False]", True),
        ("(jnp.ones(2), np.zeros(2))", True),
        ("[jnp.ones(2), jnp.ones(3)]", False),
        ("['a', 'b']", False),
        ("[jnp.sin, jnp.cos]", False),
        ("[]", False),
    ],
)
def test_the_index_of_a_list_may_stay_traced_if_the_list_makes_an_array(items: str, table: bool) -> None:
    cell = Cell(f"lst = {items}\n@jax.jit\ndef f(i):\n    y = lst[i]  # here\n    return y\nr = f(1)")
    assert "declare it static" in cell.said
    assert ("Or keep it traced, as an index of an array: jnp.array(lst)[i]" in cell.said) == table
    if table:
        assert cell.rewritten("y = jnp.array(lst)[i]").error is None


def test_the_index_of_a_list_of_sizes_is_static() -> None:
    cell = Cell("lst = [1, 2]\n@jax.jit\ndef f(i):\n    return jnp.zeros(lst[i])  # here\nf(1)")
    assert "declare it static" in cell.said
    assert "keep it traced" not in cell.said


STEPS = """
    {decorator}
    def steps(x, end, dt): return lax.scan(lambda c, t: (c + dt * t, c), x, jnp.arange(0.0, end, dt))  # here
    y = steps(1.0, {end}, 0.5)
"""


def test_floats_of_arange_become_static_together() -> None:
    cell = Cell(STEPS.format(decorator="@jax.jit", end="2.0"))
    assert cell.said.startswith("end (f32[]) is traced")
    assert "end and dt are Python floats where steps is called: declare both static." in cell.said
    assert cell.finding.code == '@functools.partial(jax.jit, static_argnames=("end", "dt"))'
    assert cell.rewritten(cell.finding.code).error is None
    cell = Cell(STEPS.format(decorator="@functools.partial(jax.jit, static_argnames='end')", end="2.0"))
    assert cell.said.startswith("dt (f32[]) is traced")
    assert 'declare it static, with static_argnames=("end", "dt") where the function is jitted.' in cell.said


def test_an_array_of_arange_does_not_become_static() -> None:
    assert "declare" not in Cell(STEPS.format(decorator="@jax.jit", end="jnp.array(2.0)")).said
    assert "declare" not in Cell("@jax.jit\ndef f(n): return jnp.zeros(n)\nf(2.0)").said
