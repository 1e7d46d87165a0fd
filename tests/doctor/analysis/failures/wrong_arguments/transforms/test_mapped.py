"""Tests for mapped axes of different sizes."""

import pytest
from failing_cells import Cell

CELL = """
    def f(p, t, x): return p * t + x
    t, x = jnp.arange(5.0), jnp.ones((2, 7))
    y = {call}  # here
"""


@pytest.mark.parametrize(
    ("call", "pairs"),
    [
        (
            "jax.vmap(f, in_axes=(None, 0, 1))(2.0, t, x)",
            "jax.vmap(jax.vmap(f, in_axes=(None, None, 1)), in_axes=(None, 0, None))(2.0, t, x)",
        ),
        (
            "jax.vmap(f, (0, 0, -1))(t, t, x)",
            "jax.vmap(jax.vmap(f, in_axes=(None, None, -1)), in_axes=(0, 0, None))(t, t, x)",
        ),
    ],
)
def test_a_function_is_mapped_for_all_pairs(call: str, pairs: str) -> None:
    cell = Cell(CELL.format(call=call))
    assert cell.finding.line == cell.here
    assert f"map it twice: {pairs}, of which the result begins with the axes (5, 7)." in cell.said
    assert "of t with x" in cell.said or "of t and t with x" in cell.said
    assert cell.finding.code is None  # equal sizes may be meant
    assert Cell(CELL.format(call=pairs)).names["y"].shape == (5, 7, 2)


@pytest.mark.parametrize(
    "call",
    [
        "jax.vmap(f, in_axes=axes)(2.0, t, x)",
        "jax.vmap(f, in_axes=(None, 0, 1), out_axes=1)(2.0, t, x)",
        "jax.vmap(f)(t, jnp.ones(5), x)",
        "jax.vmap(f, in_axes=(0, 0, 1))(jnp.ones(3) * 2, t, x)",
        "jax.vmap(f, in_axes=(None, 0, 1))(*(2.0, t, x))",
        "g(2.0, t, x)",
    ],
)
def test_other_calls_get_an_example(call: str) -> None:
    source = CELL.replace("y =", "axes = (None, 0, 1); g = jax.vmap(f, in_axes=axes); y =")
    cell = Cell(source.format(call=call))
    assert "The mapped axes have different sizes" in cell.said
    assert "as in jax.vmap(jax.vmap(f, in_axes=(None, 0)), in_axes=(0, None))(a, b)." in cell.said


PAIRED = """
    def f(a, b):
        "Multiply."
        c = 2 * b
        return a * c
    g, h = lambda a, b: jnp.outer(a, b), jax.jit(f)
    a, b = jnp.ones((6, {first})), jnp.ones((5, {second}))
    y = jax.vmap({function})(a, b)  # here
"""


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        ("lambda s, w: s * w", 4, 3),
        ("lambda s, w: 2 * -s - w", 4, 3),
        ("lambda s, w: jnp.sum(s * w)", 4, 3),
        ("lambda s, w: s @ w", 4, 3),
        ("f", 4, 3),
        ("h", 4, 3),
    ],
)
def test_all_pairs_are_not_advised_if_their_elements_do_not_fit(function: str, first: int, second: int) -> None:
    cell = Cell(PAIRED.format(function=function, first=first, second=second))
    assert "Calling it for all pairs of a with b would fail as well" in cell.said
    assert "arguments of the shapes (4,) and (3,) do not fit." in cell.said
    assert "map it twice" not in cell.said
    pairs = f"jax.vmap(jax.vmap({function}, in_axes=(None, 0)), in_axes=(0, None))"
    again = Cell(cell.source.replace(f"jax.vmap({function})", pairs).replace("  # here", ""))
    assert isinstance(again.error, ValueError | TypeError)


@pytest.mark.parametrize(
    ("function", "first", "second", "fits"),
    [
        ("lambda s, w: s * w", 4, 4, True),
        ("lambda s, w: s * w", 4, 1, True),
        ("lambda s, w: s @ w + 1", 4, 4, True),
        ("lambda s, w: jnp.sum(s * w)", 4, 4, False),
        ("lambda s, w: jnp.outer(s, w)", 4, 3, False),
        ("lambda s, w: s[:3] * w", 4, 3, False),
        ("lambda s, w: s[..., None] @ w[None]", 4, 3, False),
        ("f", 4, 4, True),
        ("g", 4, 3, False),
    ],
)
def test_elements_of_pairs_have_to_fit_what_the_function_computes(
    function: str, first: int, second: int, fits: bool
) -> None:
    cell = Cell(PAIRED.format(function=function, first=first, second=second))
    pairs = f"jax.vmap(jax.vmap({function}, in_axes=(None, 0)), in_axes=(0, None))(a, b)"
    assert f"map it twice: {pairs}, of which the result begins with the axes (6, 5)." in cell.said
    condition = f"If the function takes arguments of the shapes (4,) and ({second},), it can be called for all pairs"
    assert (condition in cell.said) != fits
    again = cell.rewritten(f"y = {pairs}")
    assert again.error is None
    assert again.names["y"].shape[:2] == (6, 5)


def test_the_shapes_of_unmapped_containers_are_left_out() -> None:
    function = "lambda p, s, w: (s * p['k']) @ w"
    cell = Cell(f"""
        p, a, b = {{"k": 2.0}}, jnp.ones((6, 4)), jnp.ones((5, 4))
        y = jax.vmap({function}, in_axes=(None, 0, 0))(p, a, b)  # here
    """)
    assert "If the function takes arguments of the shapes (4,) and (4,), it can be called for all pairs" in cell.said


@pytest.mark.parametrize("product", ["w @ r", "jnp.matmul(w, r)", "a[None] @ w"])
def test_no_pairs_of_numbers_are_advised_for_a_matrix_product(product: str) -> None:
    cell = Cell(f"""
        def f(w, r):
            return {product}
        a, b = jnp.ones(5), jnp.ones((100, 4))
        y = jax.vmap(f)(a, b)  # here
    """)
    assert "arguments of the shapes () and (4,) do not fit." in cell.said
    assert "map it twice" not in cell.said
