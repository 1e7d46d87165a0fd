"""A number that has to be known during tracing, in a condition, through a function, or as a part of an argument."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

SOURCE = """
import typing
class Sizes(typing.NamedTuple):
    rows: int
    columns: int
def half(n):
    return n // 2
@jax.jit
def f(x, n):
{steps}
    return x
result = f(jnp.arange(6.0), {n})
"""


def failed(*steps: str, n: str = "4") -> Cell:
    return Cell(SOURCE.format(steps="\n".join(f"    {each}" for each in steps), n=n))


@pytest.mark.parametrize(
    "steps",
    [
        ("m = max(n, 2)  # here", "x = x[:m]"),
        ("x = x[: min(n, 3)]  # here",),
        ("if n > 0:  # here", "    x = x[:n]"),
        ("if n > 2:  # here", "    x = jnp.zeros(n)", "else:", "    x = jnp.zeros(2)"),
        ("x = -x if n in (1, 4) else x  # here",),
        ("if n not in (1, 2):  # here", "    x = -x"),
        ("match n:", "    case 3: x = x + 1  # here", "    case 4: x = -x"),
        ("m = n + 1", "match m:", "    case 1 | 5: x = -x  # here"),
    ],
)
def test_what_decides_a_size_besides_is_made_static(steps: tuple[str, ...]) -> None:
    cell = failed(*steps)
    assert cell.finding.line == cell.here
    assert "n is a Python int where f is called: declare it static." in cell.said
    assert cell.finding.code is not None
    again = cell.rewritten(cell.finding.code)
    assert again.error is None
    assert cell.fallback is not None
    np.testing.assert_allclose(again.names["result"], eval(cell.fallback, cell.names))


@pytest.mark.parametrize(
    "steps", ["return jnp.repeat(x, n)  # here", "m = n + 1\n                return jnp.repeat(x, m)"]
)
def test_how_often_to_repeat_may_be_static_in_a_method_of_a_new_object(steps: str) -> None:
    cell = Cell(f"""
        class Net:
            @functools.partial(jax.jit, static_argnums=0)
            def f(self, x, n):
                {steps}
        Net().f(jnp.ones(3), 2)
    """)
    assert "n is a Python int where f is called: declare it static, with static_argnums=(0, 2) where" in cell.said
    assert "total_repeat_length" not in cell.said
    assert cell.fallback is None


def test_how_often_to_repeat_may_depend_on_an_array() -> None:
    assert "total_repeat_length=" in failed("x = jnp.repeat(x, x.sum().astype(int))  # here").said


@pytest.mark.parametrize(
    ("steps", "is_list"),
    [
        (("out = []", "for i in range(int(x[1])):  # here", "    out.append(x[i])", "x = jnp.stack(out)"), True),
        (("for i in range(int(x[1])):  # here", "    x = x.at[i].set(0)"), False),
        (("x = jnp.stack([x[i] for i in range(int(x[1]))])  # here",), True),
        (("x = sum([x[i] for i in range(int(x[1]))])  # here",), False),
    ],
)
def test_a_list_with_an_element_per_step_is_no_fori_loop(steps: tuple[str, ...], is_list: bool) -> None:
    cell = failed(*steps)
    assert cell.finding.line == cell.here
    assert ("fori_loop" in cell.said) != is_list
    assert ("take the largest, and mask the rest" in cell.said) == is_list


@pytest.mark.parametrize(
    ("steps", "remedy"),
    [
        (("m = max(n, 2)  # here", "x = x * m"), "m = jnp.maximum(n, 2)"),
        (("if x.sum() > 0:  # here", "    x = x[:3]"), "jnp.where(condition, a, b)"),
        (("if n > 2:  # here", "    x = x * n"), "jnp.where(condition, a, b)"),
    ],
)
def test_what_decides_no_size_stays_an_array(steps: tuple[str, ...], remedy: str) -> None:
    cell = failed(*steps, n="4.0")
    assert remedy in cell.said or remedy in (cell.finding.code or "")
    assert "static" not in cell.said


def test_an_array_that_decides_a_size_is_not_replaced_by_another_array() -> None:
    cell = failed("m = max(n, 2)  # here", "x = x[:m]", n="jnp.int32(4)")
    assert "maximum" not in cell.said
    assert "keep the whole array and mask it" in cell.said


def test_a_size_in_a_method_whose_call_is_unknown_may_be_static() -> None:
    cell = Cell("""
        class Net:
            @functools.partial(jax.jit, static_argnums=0)
            def f(self, x, n):
                if n > 2:  # here
                    x = x[:n]
                return x
        [Net()][0].f(jnp.arange(6.0), 3)
    """)
    assert cell.finding.line == cell.here
    assert 'If n is a Python number wherever f is called, declare it static: static_argnames="n"' in cell.said
    assert "where(" not in cell.said


@pytest.mark.parametrize(
    ("steps", "computed"),
    [
        (("x = jnp.zeros(half(n))  # here",), "half(n)"),
        (("m = x.size + half(n)", "x = x[:m]  # here"), "half(n)"),
        (("m = half(n)", "for i in range(m): x = x + i  # here"), "half(n)"),
    ],
)
def test_a_number_that_a_function_of_the_user_computes(steps: tuple[str, ...], computed: str) -> None:
    cell = failed(*steps)
    assert cell.finding.line == cell.here
    assert f"If {computed} is computed by Python alone, without functions of JAX, declare n static" in cell.said
    assert Cell(cell.source.replace("@jax.jit", '@functools.partial(jax.jit, static_argnames="n")')).error is None


def test_a_number_that_is_used_in_a_function_that_is_called() -> None:
    cell = Cell("""
        def pad(x, n): return jnp.zeros(n).at[:6].set(x)  # here
        @jax.jit
        def f(x, n):
            return pad(x, n + 3)
        f(jnp.arange(6.0), 4)
    """)
    assert cell.finding.line == cell.here
    assert "If the failing number is computed by Python alone, without functions of JAX, declare n" in cell.said


@pytest.mark.parametrize("line", ["x = jnp.zeros(jnp.floor_divide(n, 2))", "x = jnp.zeros(half(jnp.abs(n)))"])
def test_what_jax_computes_is_not_made_known_by_static_arguments(line: str) -> None:
    cell = failed(f"{line}  # here")
    assert cell.finding.line == cell.here
    assert "declare" not in cell.said


@pytest.mark.parametrize(
    ("steps", "n", "part"),
    [
        (("x = x[: n['rows']]  # here",), "{'rows': 3}", "n['rows']"),
        (("rows = n['rows']", "x = x[:rows]  # here"), "{'rows': 3}", "n['rows']"),
        (("x = jnp.zeros((n.rows, n.columns))  # here",), "Sizes(2, 3)", "n.rows"),
        (("x = x.reshape(n['shape'])  # here",), "{'shape': (2, 3)}", "n['shape']"),
        (("i, j = n['shape']", "x = x.reshape(i, j)  # here"), "{'shape': (2, 3)}", "n['shape'][0]"),
        (("x = x.reshape(n[1])  # here",), "(0.5, (2, 3))", "n[1]"),
        (("for i in range(n.rows + 1): x = x + i  # here",), "Sizes(2, 3)", "n.rows"),
    ],
)
def test_a_number_in_a_container_is_passed_on_its_own(steps: tuple[str, ...], n: str, part: str) -> None:
    cell = failed(*steps, n=n)
    assert cell.finding.line == cell.here
    assert f"{part} is a part of n, and JAX traces all numbers in it. Pass it to f as an argument" in cell.said


@pytest.mark.parametrize("size", ["n['rows'][0]", "jnp.argmax(n['rows'])", "n['rows'].sum()"])
def test_an_array_in_a_container_is_no_number(size: str) -> None:
    cell = failed(f"x = x[:{size}]  # here", n="{'rows': jnp.array([1, 2])}")
    assert cell.finding.line == cell.here
    assert "is a part of" not in cell.said


@pytest.mark.parametrize(
    "steps",
    [
        ("x = x.reshape(n)  # here",),
        ("x = x.reshape(n[0], n[1])  # here",),
        ("i, j = n", "x = x.reshape(i, j)  # here"),
        ("i = n[0] + 1", "x = x[:i]  # here"),
    ],
)
def test_a_tuple_of_numbers_is_made_static(steps: tuple[str, ...]) -> None:
    cell = failed(*steps, n="(2, 3)")
    assert cell.finding.line == cell.here
    assert "n is a Python tuple where f is called: declare it static." in cell.said
    assert cell.finding.code is not None
    again = cell.rewritten(cell.finding.code)
    assert again.error is None
    assert cell.fallback is not None
    np.testing.assert_allclose(again.names["result"], eval(cell.fallback, cell.names))


@pytest.mark.parametrize(
    ("n", "advice"),
    [
        ("[2, 3]", 'pass a tuple, and declare it static, with static_argnames="n"'),
        ("[rows, 3]", 'pass a tuple, and declare it static, with static_argnames="n"'),
        ("(rows, 9 // rows)", "n is a Python tuple where f is called: declare it static."),
        ("(rows, jnp.int32(3))", "A size that depends on an array is unknown while the function is traced"),
    ],
)
def test_what_is_passed_decides_how_numbers_become_static(n: str, advice: str) -> None:
    cell = Cell(SOURCE.replace("@jax.jit", "rows = 2\n@jax.jit").format(steps="    x = x.reshape(n)  # here", n=n))
    assert cell.finding.line == cell.here
    assert advice in cell.said


@pytest.mark.parametrize("n", ["(2, jnp.int32(3))", "[2, jnp.int32(3)]"])
def test_an_array_among_the_numbers_cannot_be_static(n: str) -> None:
    source = SOURCE.replace("result = ", f"given = {n}\nresult = ")
    cell = Cell(source.format(steps="    x = x.reshape(n)  # here", n="given"))
    assert cell.finding.line == cell.here
    assert "declare" not in cell.said


@pytest.mark.parametrize("test", ["if n['train']: x = 2 * x  # here", "x = 2 * x if not n['train'] else x  # here"])
def test_a_flag_in_a_container_is_passed_on_its_own(test: str) -> None:
    cell = failed(test, n="{'train': True}")
    assert cell.finding.line == cell.here
    assert "If it is a Python bool, pass it to f as an argument of its own, and declare that static" in cell.said
    assert "A condition on data becomes jnp.where(condition, a, b)." in cell.said


@pytest.mark.parametrize("test", ["if n['train'] > 0: x = 2 * x  # here", "if n['train'].any(): x = 2 * x  # here"])
def test_a_condition_on_an_entry_is_no_flag(test: str) -> None:
    cell = failed(test, n="{'train': jnp.ones(())}")
    assert cell.finding.line == cell.here
    assert "static" not in cell.said


def test_a_list_of_sizes_for_a_function_of_jax_becomes_a_static_tuple() -> None:
    cell = failed("x = jnp.broadcast_to(x, n)  # here", n="[2, 6]")
    assert cell.failure.error == "TracerArrayConversionError"
    assert cell.finding.line == cell.here
    assert "NumPy" not in cell.said
    assert 'pass a tuple, and declare it static, with static_argnames="n"' in cell.said
