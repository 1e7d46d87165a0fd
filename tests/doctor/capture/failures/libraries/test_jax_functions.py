"""A function of JAX that is jitted itself traces its arguments: the one that has to be static is named."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("function", "given", "name", "kind"),
    [
        ("jnp.sum", "jnp.ones((2, 3)), axis=0", "axis", "int"),
        ("jnp.nonzero", "jnp.arange(4), size=3", "size", "int"),
        ("jax.nn.one_hot", "jnp.arange(3), 5", "num_classes", "int"),
        ("jax.random.normal", "jax.random.key(0), (3, n)", "shape", "tuple"),
        ("jnp.repeat", "jnp.arange(3), n", "repeats", "int"),
        ("lax.top_k", "jnp.arange(6.0), 3", "k", "int"),
    ],
)
@pytest.mark.parametrize(
    "jitted", ["n = 2\njax.jit({})({})", "def call(n):\n    return f({1})\nf = jax.jit({0})\ncall(2)"]
)
def test_an_argument_that_has_to_be_static_is_named(
    function: str, given: str, name: str, kind: str, jitted: str
) -> None:
    cell = Cell(jitted.format(function, given))
    called = "f" if jitted.startswith("def") else f"jax.jit({function})"
    said = (
        f'{name} is a Python {kind} where {called} is called: declare it static, with static_argnames="{name}" where'
    )
    assert said in cell.said
    static = Cell(cell.source.replace(f"jax.jit({function})", f'jax.jit({function}, static_argnames="{name}")'))
    assert static.error is None


@pytest.mark.parametrize(
    ("code", "said", "unsaid"),
    [
        ("jax.jit(jnp.sum)(jnp.ones((2, 3)), axis=jnp.array(0))", "Take it from what is known", "axis is"),
        ("jax.jit(jnp.sum, static_argnums=2)(jnp.ones((2, 3)), -1)", "with 1 in static_argnums where", "argnames"),
        ("jax.jit(jnp.nonzero)(jnp.arange(4))", 'Declare size static where the function is jitted: static_a', ""),
        ("jax.jit(jnp.repeat)(jnp.arange(2), jnp.arange(2))", 'static_argnames="total_repeat_length"', ""),
        ("jax.jit(lambda x: jnp.nonzero(x))(jnp.arange(4))", "Give it size=, a number known during", "static"),
    ],
)  # fmt: skip
def test_data_and_sizes_that_depend_on_values_are_not_static(code: str, said: str, unsaid: str) -> None:
    told = Cell(code).said
    assert said in told
    assert not unsaid or unsaid not in told


@pytest.mark.parametrize("size", ["size", "size + 1"])
def test_a_size_that_is_given_and_traced_has_to_be_static(size: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x, size):
            return jnp.nonzero(x, size={size})  # here
        f(jnp.arange(4), 3)
    """)
    assert "size is a Python int where f is called: declare it static." in cell.said
    assert "Give it size=" not in cell.said
    assert cell.finding.code is not None
    assert cell.rewritten(cell.finding.code).error is None
