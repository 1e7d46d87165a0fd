"""The four errors that stop most first tries: the line, the argument, the rewritten line and the call without jit."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

#: Cells that set ``result``; the arguments on which the value depends; whether a line is rewritten.
CELLS = {
    "several of max and min": (
        "x, y",
        True,
        """
        @jax.jit
        def f(x, y):
            return min(x, y) + min(max(x, 0.0), 1.0) * max(2, 3)  # here
        result = f(1.5, 2.0)
    """,
    ),
    "if with two returns": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            if x > 0:  # here
                return x
            else:
                return -x  # end
        result = f(-2.0)
    """,
    ),
    "if that returns before another return": (
        "x, limit",
        True,
        """
        @jax.jit
        def f(x, limit):
            if x > limit:  # here
                return limit
            return x * 2  # end
        result = f(1.5, 2.0)
    """,
    ),
    "if that returns before other statements": (
        "x",
        False,
        """
        @jax.jit
        def f(x):
            if x > 2:  # here
                return x
            x = x + 1
            return x * 2
        result = f(1.5)
    """,
    ),
    "if with an assignment": (
        "x",
        True,
        """
        @jax.jit
        def f(x, y):
            if 0 < x < 3 and not x > 2:  # here
                y = x * 2 + y  # end
            return y
        result = f(1.0, 2.0)
    """,
    ),
    "if with a return that is followed by another": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            y = x * 2
            if y > 0:  # here
                return y
            return -y  # end
        result = f(-2.0)
    """,
    ),
    "if with branches of different shapes": (
        "x",
        False,
        """
        @jax.jit
        def f(x, y):
            if x > 0:  # here
                y = 0.0
            return y
        result = f(1.0, jnp.ones(3))
    """,
    ),
    "elif": (
        "x",
        False,
        """
        @jax.jit
        def f(x, n=1):
            if n > 3:
                x = x + 1
            elif x > 0:  # here
                x = x + 2
            return x
        f = jax.jit(f.__wrapped__, static_argnames="n")
        result = f(1.0)
    """,
    ),
    "if with calls": (
        "x",
        False,
        """
        def g(x):
            return x + 1
        @jax.jit
        def f(x):
            if x > 0:  # here
                x = g(x)
            return x
        result = f(1.0)
    """,
    ),
    "conditional expression": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            return x if x > 0 else -x  # here
        result = f(-3.0)
    """,
    ),
    "while": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            while x > 1:  # here
                x = x / 2  # end
            return x
        result = f(9.0)
    """,
    ),
    "while with two arrays": (
        "x",
        True,
        """
        @jax.jit
        def f(x, y):
            while not x < 1 or x > 3 * y:  # here
                x = x / y  # end
            return x
        result = f(9.0, jnp.float32(2))
    """,
    ),
    "while with a number as the condition": (
        "x",
        False,
        """
        @jax.jit
        def f(x):
            while x:  # here
                x = x - 1
            return x
        result = f(3.0)
    """,
    ),
    "while with an integer that becomes a float": (
        "x",
        False,
        """
        @jax.jit
        def f(x):
            while x > 1:  # here
                x = x / 2
            return x
        result = f(9)
    """,
    ),
    "not": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            y = not x  # here
            return y
        result = f(0.0)
    """,
    ),
    "assert": (
        "x",
        False,
        """
        @jax.jit
        def f(x):
            assert x > 0  # here
            return x
        result = f(1.0)
    """,
    ),
    "and": (
        "x",
        False,
        """
        @jax.jit
        def f(x, y):
            return x and y  # here
        result = f(1.0, 2.0)
    """,
    ),
    "max": (
        "x, y",
        True,
        """
        @jax.jit
        def f(x, y):
            return max(x, y) + 1  # here
        result = f(1.0, 2.0)
    """,
    ),
    "in": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            return x in [1, 2]  # here
        result = f(1)
    """,
    ),
    "flag": (
        "train",
        True,
        """
        @jax.jit
        def f(x, train):
            if train:  # here
                return x + 1
            return x
        result = f(1.0, True)
    """,
    ),
    "leaf of a dictionary": (
        "params['w']",
        True,
        """
        @jax.jit
        def f(params):
            h = params["w"].sum()
            if h > 0:  # here
                return params["b"]
            return h  # end
        result = f({"w": jnp.ones(3), "b": 2.0})
    """,
    ),
    "float": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            return float(x) * 2  # here
        result = f(1.5)
    """,
    ),
    "int": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            return int(x) + 1  # here
        result = f(-1.5)
    """,
    ),
    "item": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            return x.item() + 1  # here
        result = f(1.5)
    """,
    ),
    "float in a shape": (
        "n",
        False,
        """
        @jax.jit
        def f(n):
            return jnp.zeros(int(n))  # here
        result = f(jnp.float32(2))
    """,
    ),
    "math": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            y = math.sqrt(x + 1)  # here
            return y
        result = f(3.0)
    """,
    ),
    "math with a base": (
        "x",
        True,
        """
        @jax.jit
        def f(x):
            y = math.log(x, 2)  # here
            return y
        result = f(3.0)
    """,
    ),
    "a number that is used as an array elsewhere": (
        "n",
        False,
        """
        @jax.jit
        def f(x, n):
            y = n.astype(float)
            return x[:n] * y  # here
        result = f(jnp.ones(6), 3)
    """,
    ),
    "arange": (
        "n",
        True,
        """
        @jax.jit
        def f(n):
            return jnp.arange(n)  # here
        result = f(3)
    """,
    ),
    "zeros": (
        "n",
        True,
        """
        @jax.jit
        def f(n, x):
            return jnp.zeros((n, 2)) + x  # here
        result = f(3, x=1.0)
    """,
    ),
    "reshape": (
        "n",
        True,
        """
        @jax.jit
        def f(x, n):
            return x.reshape(n, -1)  # here
        result = f(jnp.ones(6), n=3)
    """,
    ),
    "slice": (
        "n",
        True,
        """
        @jax.jit
        def f(x, n):
            return x[:n]  # here
        result = f(jnp.ones(6), 3)
    """,
    ),
    "axis": (
        "n",
        True,
        """
        @jax.jit
        def f(x, n):
            return x.sum(axis=n)  # here
        result = f(jnp.ones((2, 3)), 1)
    """,
    ),
    "nonzero": (
        "x",
        False,
        """
        @jax.jit
        def f(x):
            return jnp.nonzero(x)[0]  # here
        result = f(jnp.ones(3))
    """,
    ),
    "range": (
        "n",
        True,
        """
        @jax.jit
        def f(x, n):
            for i in range(n):  # here
                x = x + i
            return x
        result = f(1.0, 3)
    """,
    ),
    "range of an array": (
        "n",
        False,
        """
        @jax.jit
        def f(x, n):
            for i in range(n):  # here
                x = x + i
            return x
        result = f(1.0, jnp.int32(3))
    """,
    ),
    "range of something else that depends on it": (
        "n",
        False,
        """
        @jax.jit
        def f(x, n):
            n = n + 1
            for i in range(n):  # here
                x = x + i
            return x
        result = f(1.0, 3)
    """,
    ),
    "list": (
        "i",
        True,
        """
        @jax.jit
        def f(i):
            return [1, 2, 3][i]  # here
        result = f(jnp.int32(1))
    """,
    ),
}


@pytest.mark.parametrize("name", CELLS)
def test_the_line_and_the_argument_are_named(name: str) -> None:
    arguments, _, source = CELLS[name]
    cell = Cell(source)
    assert cell.finding.line == cell.here
    assert cell.failure.traced is not None
    assert ", ".join(cell.failure.traced.arguments) == arguments
    assert arguments in cell.said
    assert "f (" in cell.said


@pytest.mark.parametrize("name", CELLS)
def test_the_rewritten_line_computes_what_the_call_without_jit_does(name: str) -> None:
    _, has_code, source = CELLS[name]
    cell = Cell(source)
    assert cell.fallback is not None
    expected = eval(cell.fallback, cell.names)
    code = cell.finding.code
    assert (code is not None) == has_code
    if code is not None:
        again = cell.rewritten(code)
        assert again.error is None, code
        np.testing.assert_allclose(again.names["result"], expected)


def test_a_static_argument_is_proposed_for_python_numbers_alone() -> None:
    for name, (argument, _, source) in CELLS.items():
        proposed = "static_argnames" in (Cell(source).finding.code or "") + Cell(source).said
        assert proposed == (name in {"flag", "arange", "zeros", "reshape", "slice", "axis", "range"}), (
            name,
            argument,
        )


def test_what_an_expression_passed_is_known_from_the_call() -> None:
    cell = Cell("""
        sizes = {"a": 3}
        @jax.jit
        def f(n):
            return jnp.zeros(n)  # here
        f(sizes.get("a"))
    """)
    assert "n is a Python int where f is called" in cell.said
    assert cell.finding.code is not None
    assert cell.rewritten(cell.finding.code).error is None


def test_what_a_function_returns_is_traced_even_for_a_static_argument() -> None:
    cell = Cell("""
        @jax.jit
        def f(n):
            return jnp.zeros(abs(n))  # here
        f(3)
    """)
    assert "static_argnames" not in cell.said


UNHASHABLE = {
    "list": ("cfg", True, "cfg=[1, 2]"),
    "name of a list": ("cfg", True, "cfg=settings"),
    "nested list": ("cfg", True, "cfg=[[1], 2]"),
    "positional": ("cfg", True, "[1, 2]"),
    "array": ("cfg", False, "jnp.ones(2)"),
}


@pytest.mark.parametrize("name", UNHASHABLE)
def test_an_unhashable_static_argument(name: str) -> None:
    argument, has_code, passed = UNHASHABLE[name]
    cell = Cell(f"""
        settings = [1, 2]
        @functools.partial(jax.jit, static_argnames="cfg")
        def f(x, cfg):
            return x * (cfg[0] if not isinstance(cfg[0], (list, tuple)) else 1)
        result = f(2.0, {passed})  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.finding.found.facts["argument"] == argument
    assert cell.fallback is not None
    expected = eval(cell.fallback, cell.names)
    assert (cell.finding.code is not None) == has_code
    if cell.finding.code is not None:
        again = cell.rewritten(cell.finding.code)
        assert again.error is None
        np.testing.assert_allclose(again.names["result"], expected)


@pytest.mark.parametrize("passed", ["{1, 2}", "cfg=chosen", "chosen"])
def test_an_unhashable_set_is_passed_as_a_frozenset(passed: str) -> None:
    cell = Cell(f"""
        chosen = {{1, 2}}
        @functools.partial(jax.jit, static_argnames="cfg")
        def f(x, cfg):
            return x * 2 if 1 in cfg else x
        result = f(2.0, {passed})  # here
    """)
    assert cell.finding.code is not None
    assert cell.said.endswith("Pass cfg as a frozenset.")
    again = cell.rewritten(cell.finding.code)
    assert again.error is None
    assert again.names["result"] == 4.0


@pytest.mark.parametrize("passed", ["{'scale': 3.0, 'kind': 'relu'}", "cfg=settings", "settings"])
def test_an_unhashable_dictionary_is_passed_as_pairs_and_made_again_inside(passed: str) -> None:
    cell = Cell(f"""
        settings = {{"scale": 3.0, "kind": "relu"}}
        @functools.partial(jax.jit, static_argnames="cfg")
        def f(x, cfg):
            cfg  # inside
            return getattr(jax.nn, cfg["kind"])(x) * cfg["scale"]
        result = f(2.0, {passed})  # here
    """)
    assert cell.said.endswith("pass it as a tuple of pairs, of which f makes a dictionary again.")
    assert cell.finding.code is not None
    where, inside, call, statement = cell.finding.code.splitlines()
    assert (where, inside, call) == ("# In f, before anything else:", "cfg = dict(cfg)", "# The call:")
    cell.source = cell.source.replace("cfg  # inside", inside)
    again = cell.rewritten(statement)
    assert again.error is None
    assert again.names["result"] == 6.0


def test_a_dictionary_that_holds_a_list_is_passed_as_pairs_with_a_tuple() -> None:
    cell = Cell("""
        @functools.partial(jax.jit, static_argnames="cfg")
        def f(x, cfg):
            cfg  # inside
            return x * len(cfg["sizes"])
        result = f(2.0, {"sizes": [1, 2]})  # here
    """)
    assert cell.finding.code is not None
    _, inside, _, statement = cell.finding.code.splitlines()
    cell.source = cell.source.replace("cfg  # inside", inside)
    assert cell.rewritten(statement).names["result"] == 4.0


def test_a_size_given_as_an_array_is_passed_as_a_python_number() -> None:
    cell = Cell("""
        @functools.partial(jax.jit, static_argnames="n")
        def f(x, n):
            return x + jnp.zeros(n)
        f(1.0, n=jnp.array(3))  # here
    """)
    assert "If n decides a size, a number of steps or a branch, pass a Python number, int(jnp.array(3))" in cell.said
    assert cell.rewritten("f(1.0, n=int(jnp.array(3)))").error is None


def test_an_unhashable_static_argument_inside_of_another_jitted_function() -> None:
    cell = Cell("""
        @functools.partial(jax.jit, static_argnums=(1, 2))
        def g(x, a, b):
            return x
        @jax.jit
        def f(x):
            return g(x, 1, {"k": 1})  # here
        f(1.0)
    """)
    assert cell.finding.line == cell.here
    assert cell.finding.found.facts["argument"] == "b"
    assert cell.fallback == "g.__wrapped__(x, 1, {'k': 1})"


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("b = b or x", "To test for None, write x if b is None else b. jnp.where(b != 0, b, x) chooses"),
        (
            "b = b and x",
            "To test for None, write b if b is None else x. jnp.where(b != 0, x, b) chooses for each element.",
        ),
        ("b = x if b or x else b", "Write jnp.logical_or(…) in place of or."),
        ("b = (b > 0) or x", "Write jnp.logical_or(…) in place of or."),
    ],
)
def test_or_is_a_condition_or_a_choice_between_its_operands(line: str, remedy: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x, b):
            {line}  # here
            return b
        f(1.0, 2.0)
    """)
    assert cell.finding.line == cell.here
    assert remedy in cell.said


@pytest.mark.parametrize(
    ("call", "argument"), [("jnp.bincount(x)", "length="), ("jnp.repeat(x, x)", "total_repeat_length=")]
)
def test_functions_whose_results_are_as_long_as_the_values_say(call: str, argument: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x):
            return {call}  # here
        f(jnp.arange(3))
    """)
    assert cell.finding.line == cell.here
    assert f"Say how many with {argument}, a number" in cell.said


def test_a_traced_value_for_a_static_argument() -> None:
    for around in (
        "jax.jit(lambda n, x: f(n, x))(2, 1.0)",
        "jax.vmap(lambda n, x: f(n, x))(jnp.arange(2), jnp.ones(2))",
    ):
        cell = Cell(f"@functools.partial(jax.jit, static_argnums=0)\ndef f(n, x): return x\n{around}  # here")
        assert cell.finding.line == cell.here
        assert cell.said.startswith("n of f is static, but the value passed for it is traced")
        assert "dataclass" not in cell.said
        assert cell.fallback is None


def _under(line: str, result: str = "f(2.0, 1.0)") -> Cell:
    """Return a cell whose jitted function has one statement in front of ``return x``."""
    return Cell(f"n = 3\n@jax.jit\ndef f(x, y=None):\n    {line}  # here\n    return x\nresult = {result}")


@pytest.mark.parametrize(
    ("test", "python"),
    [
        ("y is not None and x > y", "y is not None"),
        ("not (y is None or x > y)", "y is None"),
        ("x > 0 and isinstance(n, int)", "isinstance(n, int)"),
        ("x.ndim == 1 or x > 3", "x.ndim == 1"),
        ("n > 2 and x > 0", "n > 2"),
        ("len('ab') > 1 and x > 0", "len('ab') > 1"),
        ("x.shape[:1] != n and x > 0", "x.shape[:1] != n"),
        ("x > 0 and n in (1, 3)", None),
        ("x > 0 and (lambda: True)()", None),
        ("x > 0 or True", None),
    ],
)
def test_an_operand_that_may_guard_the_others_stays_in_python(test: str, python: str | None) -> None:
    for line in (f"if {test}: x = -x", f"x = -x if {test} else x", f"while {test}: x = x - 1"):
        cell = _under(line)
        assert cell.finding.line == cell.here
        assert cell.finding.code is None
        assert (python is None) == ("with a Python if around the rest" not in cell.said)
        assert python is None or f"Test {python} with" in cell.said


def test_an_assertion_with_an_operand_of_python_chooses_nothing() -> None:
    said = _under("assert x.ndim == 0 and x < 0").said
    assert "checkify.check()" in said
    assert "with a Python if around the rest" not in said


def test_a_condition_on_two_traced_values_is_still_rewritten() -> None:
    code = _under("if x > 0 and not y > n: x = -x").finding.code
    assert code == "x = jnp.where(jnp.logical_and(x > 0, jnp.logical_not(y > n)), -x, x)"


def test_an_operand_beside_the_failing_expression_is_no_guard_of_it() -> None:
    cell = _under("x = n > 2 and abs(x if x > 0 else y)")
    assert "Choose between two results" in cell.said


@pytest.mark.parametrize(
    "line",
    [
        "if [x] == [y]: x = -x",
        "if not [x] + [x] == 2 * [y]: x = -x",
        "if {'a': x} != {'a': y}: x = -x",
        "x = -x if (x,) == (y,) else x",
        "x = not [x] == [y]",
        "a, b = [x], [y]\n    if a == b: x = -x",
        "match x:\n        case 1: x = -x",
        "match x:\n        case n.real | 2: x = -x",
    ],
)
def test_lists_and_constants_are_never_called_traced(line: str) -> None:
    cell = _under(line)
    assert cell.said.startswith("A value (bool[]) is traced")
    assert cell.finding.code is None


def test_an_array_made_of_a_list_is_called_traced() -> None:
    assert _under("if jnp.stack([x])[0] > 0: x = -x").said.startswith("jnp.stack([x])[0] > 0 (bool[]) is traced")


@pytest.mark.filterwarnings("ignore:Python iterable type:DeprecationWarning")
@pytest.mark.parametrize(
    ("call", "is_array"),
    [
        ("any(v > 0 for v in x)", False),
        ("all([v > 0 for v in x])", False),
        ("any(list(x))", False),
        ("any(x)", True),
        ("all(x > 0)", True),
    ],
)
def test_any_and_all_of_jax_take_arrays_alone(call: str, is_array: bool) -> None:
    cell = _under(f"x = {call}", "f(jnp.ones(3))")
    assert ("It takes no generator" not in cell.said) == is_array
    advised = Cell(f"result = jax.jit(lambda x: jnp.{call})(jnp.ones(3))")
    assert (advised.error is None) == is_array


@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("jnp.any(jnp.isnan(x))", "jnp.any(jnp.isnan(x))"),
        ("(x > 0).all()", "(x > 0).all()"),
        ("not jnp.any(x)", "jnp.any(x)"),
        ("x.ndim == 1 and (x > 0).any()", "(x > 0).any()"),
        ("len(x) > 2 and x.any()", "x.any()"),
        ("not (x.shape[0] == 1 or x.any()) or n", "x.any()"),
        ("x.shape[0] < 2 and (x > 0).all() or not x.any()", "x.any()"),
        ("x is not None and x.any() and n in (3, 4)", "x.any()"),
        ("n in (3, 4) and x[0]", "x[0]"),
        ("(y is None or n > 3) and (n if n < 3 else x[0])", "x[0]"),
    ],
)
def test_what_is_tested_is_the_result_of_a_call(test: str, value: str) -> None:
    """The test has the position of the call from Python 3.13 on, that of a comparison before it in Python 3.11."""
    said = _under(f"if {test}: x = -x", "f(jnp.ones(3))").said
    assert said.startswith((f"{value} (bool[]) is traced", f"{value} (f32[]) is traced"))
    assert "jnp.any needs one" not in said
    assert "in needs one" not in said
    assert any(f"but {what}" in said for what in ("an if statement needs", "the operator ", "Python needs"))


def test_a_comparison_before_a_call_on_several_lines_is_not_called_traced() -> None:
    said = _under("if x.ndim == 1 and x\\\n    .any(): x = -x", "f(jnp.ones(3))").said
    assert said.startswith(("A value (bool[]) is traced", "x.any() (bool[]) is traced"))


def test_an_argument_that_decides_a_shape_is_to_be_known() -> None:
    cell = _under("x = jax.lax.top_k(x, y)[0]", "f(jnp.ones(3), 2)")
    assert "declare it static" in cell.said
    assert "jnp.where" not in cell.said


@pytest.mark.parametrize("test", ["not x", "not x > 0", "x > 0 and y > 0", "0 < x < y"])
def test_a_condition_may_be_an_option_of_the_function_that_gets_it(test: str) -> None:
    cell = Cell(f"""
        def layer(x, deterministic):
            return x if deterministic else -x
        @jax.jit
        def f(x, y):
            return layer(x, deterministic={test})  # here
        result = f(1.0, 2.0)
    """)
    assert cell.finding.line == cell.here
    assert cell.finding.code is None
    assert "If layer decides by this value while it is traced" in cell.said


def test_a_condition_that_a_function_of_jax_gets_is_rewritten() -> None:
    assert _under("x = jnp.where(not x > 0, x, -x)").finding.code == "x = jnp.where(jnp.logical_not(x > 0), x, -x)"


@pytest.mark.parametrize(
    ("conversion", "kept"),
    [
        ("int(x * 2.7)", "(x * 2.7).astype(int)"),
        ("float(jnp.int32(x))", "jnp.int32(x).astype(float)"),
        ("complex(x + 1)", "(x + 1).astype(complex)"),
    ],
)
def test_a_conversion_to_another_dtype_stays_a_conversion(conversion: str, kept: str) -> None:
    said = _under(f"x = x + {conversion}", "f(-1.5)").said
    name = conversion.partition("(")[0]
    assert f"write x.astype({name}) in place of {name}(x)" in said
    assert "leave out" not in said
    names = Cell(f"x = jnp.float32(-1.5)\nresult = {conversion}, {kept}").names
    assert names["result"][0] == names["result"][1]


def test_a_set_function_is_not_replaced_by_where() -> None:
    assert "three arguments" in _under("y = jnp.where(x)", "f(jnp.ones(3))").said
    assert "three arguments" not in _under("y = jnp.unique(x)", "f(jnp.ones(3))").said


def test_an_argument_of_checkpoint_may_be_static() -> None:
    source = """
        def f(x, train):
            if train:  # here
                return jnp.sin(x)
            return x
        result = jax.grad(lambda x: jax.checkpoint(f{option})(x, True))(0.0)
    """
    cell = Cell(source.format(option=""))
    assert cell.finding.line == cell.here
    assert "If train is a Python value where f is called, it stays one with static_argnums= of" in cell.said
    assert Cell(source.format(option=", static_argnums=(1,)")).names["result"] == 1
