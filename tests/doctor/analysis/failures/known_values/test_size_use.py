"""A converted number that decides a size has to be known during tracing; elsewhere the conversion is left out."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
@jax.jit
def f(x, n):
    {line}  # here
    return x
result = f(jnp.arange(6.0), {n})
"""

SIZES = [
    "for i in range(int(n)): x = x + i",
    "for i in range(1, int(n) + 1): x = x + i",
    "x = jnp.zeros(int(n))",
    "x = jnp.zeros((2, int(n)))",
    "x = jnp.zeros(shape=(int(n),))",
    "x = np.ones(2 * int(n))",
    "x = x.reshape(int(n), -1)",
    "x = jnp.reshape(x, (int(n), -1))",
    "x = x * sum([2] * int(n))",
    "x = x * len('a' * int(n))",
    "x = x[:int(n)]",
    "x = x[-int(n):]",
    "x = jnp.arange(int(n / 2))",
    "x = jnp.zeros(math.ceil(n / 2))",
    "x = jnp.zeros(max(int(n), 2))",
    "x = jnp.ones((2, 3, 4, 5)).sum(int(n))",
    "x = jnp.ones((2, 3, 4, 5)).sum(axis=int(n))",
    "x = jnp.linspace(0, 1, int(n))",
    "x = lax.top_k(x, int(n))[0]",
    "x = jax.random.normal(jax.random.key(0), (int(n),))",
    "x = jnp.split(x, int(n))[0]",
    "x = jnp.tile(x, (int(n), 1))",
    "x = jax.nn.one_hot(x, num_classes=int(n))",
    "x = sum(x for _ in range(int(n)))",
]


def check_code(cell: Cell) -> None:
    """Check that the cell with the advised code computes what the call without jit does."""
    assert cell.finding.code is not None
    again = cell.rewritten(cell.finding.code)
    assert again.error is None
    assert cell.fallback is not None
    np.testing.assert_allclose(again.names["result"], eval(cell.fallback, cell.names))


@pytest.mark.parametrize("line", SIZES)
def test_a_python_number_that_decides_a_size_is_made_static(line: str) -> None:
    cell = Cell(SOURCE.format(line=line, n=3))
    assert cell.finding.line == cell.here
    assert "n is a Python int where f is called: declare it static." in cell.said
    assert "leave out" not in cell.said
    check_code(cell)


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("for i in range(int(n)): x = x + i", "Use lax.fori_loop(0, n, body, init)"),
        ("x = x[:int(n)]", "If the size itself is traced, keep the whole array and mask it."),
        ("x = jnp.zeros(int(n))", "A size that depends on an array is unknown while the function is traced"),
        ("x = jnp.zeros(int(x.sum()))", "Take it from what is known during tracing"),
        ("x = jnp.zeros(n.item())", "Take it from what is known during tracing"),
    ],
)
def test_an_array_that_decides_a_size_is_no_array_afterwards(line: str, remedy: str) -> None:
    cell = Cell(SOURCE.format(line=line, n="jnp.int32(3)"))
    assert cell.finding.line == cell.here
    assert remedy in cell.said
    assert "Keep it an array" not in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    "line",
    [
        "x = x * int(n)",
        "x = x[int(n)]",
        "x = jnp.full((3,), int(n))",
        "x = jnp.roll(x, int(n))",
        "x = jnp.zeros(3) * int(n)",
        "x = jnp.reshape(x * int(n), (2, 3))",
        "x = x.at[int(n)].set(1)",
        "x = jnp.sum(x + int(n), axis=0)",
    ],
)
def test_an_array_may_take_the_place_of_other_numbers(line: str) -> None:
    cell = Cell(SOURCE.format(line=line, n=3))
    assert "Keep it an array: leave out int. A Python number" in cell.said
    assert Cell(SOURCE.format(line=line.replace("int(n)", "n"), n=3)).error is None


# --- through variables --------------------------------------------------------------------------------------------

STEPS = """
@jax.jit
def f(x, n):
{steps}
    return x
result = f(jnp.arange(6.0), {n})
"""


def stepped(*steps: str, n: str = "4") -> Cell:
    return Cell(STEPS.format(steps="\n".join(f"    {each}" for each in steps), n=n))


@pytest.mark.parametrize(
    ("steps", "n"),
    [
        (("k = int(n)  # here", "x = x.sum() + jnp.zeros(k)"), "4"),
        (("k = int(n)  # here", "half = max(k // 2, 1)", "x = x[:half]"), "4"),
        (("k = int(n)  # here", "for i in range(k): x = x + i"), "4"),
        (("k = int(len(x) * n)  # here", "x = jnp.sort(x)[:k]"), "0.5"),
        (("half = round(n / 2)", "x = x[:half]  # here"), "4"),
        (("more = n - x.shape[0]", "x = jnp.pad(x, (0, more))  # here"), "16"),
        (("some = n", "other = some", "if other: x = x + 1  # here"), "True"),
    ],
)
def test_a_number_that_decides_a_size_through_variables_is_made_static(steps: tuple[str, ...], n: str) -> None:
    cell = stepped(*steps, n=n)
    assert cell.finding.line == cell.here
    assert "declare it static" in cell.said
    check_code(cell)


MAPPED = """
@jax.jit
def f(x, n, m, shape):
    {first}  # here
    return {returned}
result = f(jnp.arange(12.0), 3, 4, {shape})
"""


@pytest.mark.parametrize(
    ("first", "returned", "static"),
    [
        ("s = jnp.zeros(tuple(map(int, (n, m))))", "s", '("n", "m")'),
        ("s = tuple(int(v) for v in (n, m))", "x.reshape(s)", '("n", "m")'),
        ("a, b = map(int, (n, m))", "x.reshape(a, b)", '("n", "m")'),
        ("a, b = (int(v) for v in shape)", "x.reshape(a, b)", '"shape"'),
        ("s = sorted(int(v) for v in shape)", "x.reshape(s)", '"shape"'),
        ("s = jnp.zeros([int(v) + 1 for v in shape])", "s", '"shape"'),
        ("total = sum(map(int, shape))", "jnp.arange(total)", '"shape"'),
    ],
)
def test_numbers_that_a_container_makes_a_shape_are_static(first: str, returned: str, static: str) -> None:
    cell = Cell(MAPPED.format(first=first, returned=returned, shape="(3, 4)"))
    assert cell.finding.line == cell.here
    assert "static_argnames=" + static in (cell.finding.code or "")
    check_code(cell)
    if static == '"shape"':
        cell = Cell(MAPPED.format(first=first, returned=returned, shape="[3, 4]"))
        assert "pass a tuple, and declare it static" in cell.said
    array = Cell(MAPPED.format(first=first, returned=returned, shape="jnp.array([3, 4])"))
    assert "leave out" not in array.said


@pytest.mark.parametrize(
    "steps",
    [
        ("k = int(n)  # here", "x = x * k"),
        ("k = int(n)  # here", "k = 3", "x = x[:k]"),
        ("k = int(n)  # here", "x = jnp.zeros((lambda k: 2)(k))"),
    ],
)
def test_a_variable_that_decides_no_size_may_be_an_array(steps: tuple[str, ...]) -> None:
    assert "Keep it an array: leave out int" in stepped(*steps).said


@pytest.mark.parametrize(
    "steps",
    [
        ("half = jnp.floor_divide(n, 2)", "x = x[:half]  # here"),
        ("n = n + 1", "half = n // 2", "x = x[:half]  # here"),
        ("half = n // 2", "half = half + 1", "x = x[:half]  # here"),
    ],
)
def test_what_jax_computes_or_is_assigned_twice_stays_traced(steps: tuple[str, ...]) -> None:
    said = stepped(*steps).said
    assert "declare it static" not in said
    assert "lax.dynamic_slice" in said


def test_a_float_that_decides_no_size_is_data() -> None:
    cell = stepped("large = n > 2", "if large: x = x + 1  # here", n="4.0")
    assert "declare it static" not in cell.said


@pytest.mark.parametrize(
    "steps",
    [
        ["return jnp.arange(n)[:, None] / jnp.ones(dim)  # here"],
        ["y = jnp.arange(n)[:, None]  # here", "return y / jnp.ones(dim)"],
        ["for i in range(n): x = x + i  # here", "return x + jnp.zeros((dim, 2)).sum()"],
        ["y = jnp.zeros(n)  # here", "if True: y = y.sum() + jnp.zeros(shape=(dim,))", "return y"],
    ],
)
def test_all_parameters_that_decide_sizes_are_static(steps: list[str]) -> None:
    body = "\n    ".join(steps)
    cell = Cell(f"@jax.jit\ndef f(n, dim, x=1.0, k=2):\n    {body}\nf(4, 3, 1.0, 2)")
    assert cell.finding.line == cell.here
    code = cell.finding.code
    assert code is not None
    assert code.endswith('@functools.partial(jax.jit, static_argnames=("n", "dim"))')
    assert cell.rewritten(code).error is None


def test_a_size_that_is_passed_as_an_array_is_not_declared_static_beside_another() -> None:
    cell = Cell(
        "@jax.jit\ndef f(n, dim):\n    y = jnp.zeros(n)  # here\n    return y.sum() + dim\nf(4, jnp.int32(3))",
    )
    assert cell.finding.code is not None
    assert cell.finding.code.endswith('static_argnames="n")')


@pytest.mark.parametrize(
    ("calls", "depends"),
    [
        ("for n in (2, 3): f(x, n)", True),
        ("sizes = [2, 3]\nfor i in (0, 1): f(x, n=sizes[i])", True),
        ("[f(x, n) for n in (2, 3)]", True),
        ("while n < 3: n += 1; f(x, n)", True),
        ("for i in (2, 3): f(x, n)", False),
        ("for n in (2, 3): pass\nf(x, n)", False),
        ("for n in f(x, n): pass", False),
    ],
)
def test_a_static_argument_that_a_loop_varies_compiles_a_program_for_each_value(calls: str, depends: bool) -> None:
    cell = Cell(f"""
@jax.jit
def f(x, n):
    return jnp.zeros(int(n))  # here
x, n = jnp.ones(3), 1
{calls}
""")
    assert "n is a Python int where f is called: declare it static." in cell.said
    said = "n depends on the loop around the call, which compiles a program for each new value."
    assert (said in cell.said) == depends


@pytest.mark.parametrize(
    ("size", "named"),
    [
        ("jax.ops.segment_sum(x, ids, num_segments=ids.max() + 1)", "ids.max() + 1"),
        ("jax.ops.segment_max(x, ids, ids[-1] + 1)", "ids[-1] + 1"),
        ("jnp.bincount(ids, length=ids.max())", "ids.max()"),
        ("jnp.zeros(ids.max())", "ids.max()"),
        ("jnp.zeros((ids.max(), len(x)))", "ids.max()"),
    ],
)
def test_the_expression_of_a_size_that_depends_on_data_is_named(size: str, named: str) -> None:
    cell = Cell(f"@jax.jit\ndef f(x, ids):\n    return {size}  # here\nf(jnp.ones(3), jnp.arange(3))")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{named} (i32[]) is traced, so it has no value yet")
    segments = "num_segments=len(x) for an array x with a row per segment" in cell.said
    assert segments == ("segment" in size)


def test_a_size_is_not_named_where_two_expressions_may_be_the_one() -> None:
    cell = Cell("@jax.jit\ndef f(i):\n    return jnp.zeros((i.max(), i.min()))  # here\nf(jnp.arange(3))")
    assert cell.said.startswith("A value (i32[]) is traced")
