"""JAX does not name the arguments that ``jax.vmap`` traces: the line and the values on it do."""

from __future__ import annotations

import pytest
from failing_cells import Cell

SOURCE = """
    def f(x, i, n, batch):
        k = n + 1
        {line}  # here
    jax.vmap(f)(jnp.ones((2, 4)), jnp.arange(2), jnp.arange(2), {{"n": jnp.arange(2), "size": jnp.arange(2)}})
"""


@pytest.mark.parametrize(
    ("line", "value", "arguments"),
    [
        ("return jnp.zeros(n)", "n (i32[])", "argument n"),
        ("return jnp.ones((n, 3)) * i", "n (i32[])", "argument n"),
        ("return jnp.full((n,), i)", "n (i32[])", "argument n"),
        ("return x[:n].sum() + i", "n (i32[])", "argument n"),
        ("return x[: n // 2]", "n // 2 (i32[])", "argument n"),
        ("return x[i:n]", "A value (i32[])", "arguments i, n"),
        ("return jnp.reshape(x, (n, -1))", "n (i32[])", "argument n"),
        ("return lax.dynamic_slice(x, (i,), (n,))", "n (i32[])", "argument n"),
        ("return jnp.arange(k)", "k (i32[])", "argument n"),
        ("return jnp.tile(x, n)", "n", "argument n"),
        ("return jnp.zeros(batch['n'])", "batch['n'] (i32[])", "argument batch['n']"),
        ("return [x for _ in range(n)]", "n (i32[])", "argument n"),
        ("return 1 if i > n else 2", "i > n (bool[])", "arguments i, n"),
        ("return max(i, n)", "A value (bool[])", "arguments i, n"),
    ],
)
def test_an_argument_that_vmap_traces_is_named(line: str, value: str, arguments: str) -> None:
    cell = Cell(SOURCE.format(line=line))
    assert cell.finding.line == cell.here
    typed = f"{value} (i32[])"  # JAX 0.7 says so of tile()
    assert cell.said.startswith((f"{value} is traced", f"{typed} is traced")), cell.said
    assert f"It depends on the {arguments} of f, which jax.vmap traces." in cell.said
    assert "does not say" not in cell.said


def test_an_argument_is_named_inside_of_a_comprehension() -> None:
    cell = Cell(SOURCE.format(line="return [jnp.zeros(n) for _ in range(3)]"))
    assert "It depends on the argument n of f, which jax.vmap traces." in cell.said


def test_a_variable_of_an_outer_function_is_named_without_a_function() -> None:
    cell = Cell("""
        def f(n):
            def body(carry, _):
                return carry + jnp.zeros(n).sum(), None  # here
            return lax.scan(body, 0.0, None, length=3)[0]
        jax.vmap(f)(jnp.arange(3))
    """)
    assert "It depends on n, which jax.vmap traces." in cell.said


@pytest.mark.parametrize("line", ["return np.clip(x, i, n)", "return np.interp(i, x, x)"])
def test_no_argument_is_named_where_several_may_have_failed(line: str) -> None:
    cell = Cell(SOURCE.format(line=line))
    assert "The line runs inside jax.vmap, which traces its function." in cell.said
    assert "It depends on" not in cell.said


def test_the_elements_of_a_batch_in_a_container_rule_out_the_call_without_jit() -> None:
    cell = Cell("""
        @jax.jit
        def f(batch):
            return jax.vmap(lambda each: jnp.zeros(each["n"]).sum())(batch)  # here
        f({"n": jnp.arange(3)})
    """)
    assert cell.fallback is None
    assert "It depends on the argument each['n'] of <lambda>, which jax.vmap traces." in cell.said
