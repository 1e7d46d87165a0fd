"""Arrays where Python needs one truth value, one number or a hash, and lists where JAX needs arrays."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell, fails_in_callback

from jaxmagic.doctor.capture.failures.recognize import recognize


def _on(line: str, x: str = "jnp.array([1, 2, 3])") -> Cell:
    return Cell(f"x = {x}\nz = None\n{line}  # here\nresult = z")


def _jitted(line: str, x: str = "jnp.array([1, 2, 3])") -> Cell:
    return Cell(f"@jax.jit\ndef f(x):\n    {line}  # here\n    return z\nresult = f({x})")


@pytest.mark.parametrize(
    ("line", "words", "remedy"),
    [
        ("if x > 0: z = 1", "x > 0 has several elements", "reduce the condition with .all() or .any()"),
        ("z = 1 if x > 0 else 2", "but a conditional expression (if … else) needs", "jnp.where(condition, a, b)"),
        ("z = not x", "x has several elements", "Write jnp.logical_not(…) in place of not"),
        ("z = x > 0 and x < 3", "the operator and needs one", "Write jnp.logical_and(…) in place of and"),
        ("z = x > 2 or x < 1", "the operator or needs one", "Write jnp.logical_or(…) in place of or"),
        ("z = 0 < x < 2", "An array has several elements", "Write jnp.logical_and(a < b, b < c) in place of a < b"),
        ("z = max(x, 2 * x)", "but max needs one truth", "Use jnp.maximum(a, b) in place of max(a, b)"),
        ("z = x in [x + 1]", "but the operator in needs", "any(x is each for each in items)"),
        ("z = bool(x)", "An array has several elements", "reduce the condition"),
    ],
)
def test_an_array_with_several_elements_is_no_condition(line: str, words: str, remedy: str) -> None:
    for cell in (_on(line), _jitted(line)):
        assert cell.failure.kind == "truth"
        assert cell.finding.line == cell.here
        assert words in cell.said
        assert remedy in cell.said


def test_the_same_error_of_numpy_is_not_explained() -> None:
    error = _on("if x > 0: z = 1", "np.arange(3)").error
    assert isinstance(error, ValueError)
    assert recognize(error) is None


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("z = math.sqrt(x)", "z = jnp.sqrt(x)", np.sqrt([1, 2, 3])),
        ("z = math.atan2(x, x)", "z = jnp.arctan2(x, x)", np.arctan2([1, 2, 3], [1, 2, 3])),
        ("z = float(x)", None, None),
        ("z = int(x[:2])", None, None),
    ],
)
def test_an_array_with_axes_is_no_number(line: str, code: str | None, expected: object) -> None:
    for cell in (_on(line), _jitted(line)):
        assert cell.failure.kind == "scalar"
        assert cell.finding.line == cell.here
        assert "it gets an array with 1 axis." in cell.said
        assert cell.finding.code == code
        if code is not None:
            np.testing.assert_allclose(cell.rewritten(code).names["result"], expected, rtol=1e-6)


@pytest.mark.parametrize("line", ["z = {x: 1}", "z = {x}", "z = {1: 2}.get(x)", "z = functools.lru_cache(abs)(x)"])
def test_an_array_has_no_hash(line: str) -> None:
    for cell, words in (
        (_on(line, "jnp.array(1)"), "A JAX array has no hash"),
        (_jitted(line, "jnp.array(1)"), "A traced value has no hash"),
    ):
        assert cell.finding.line == cell.here
        assert cell.said.startswith(words)


def test_membership_in_a_set_is_computed_by_isin() -> None:
    cell = _jitted("z = x in {1, 2}", "2")
    assert cell.finding.code == "z = jnp.isin(x, jnp.array([1, 2]))"
    assert cell.rewritten(cell.finding.code).names["result"]


def test_other_values_without_a_hash_are_not_explained() -> None:
    error = _on("z = {[1]: 2}").error
    assert error is not None
    assert recognize(error) is None


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("z = jnp.sum([1, 2])", "z = jnp.sum(jnp.array([1, 2]))", 3),
        ("z = jnp.sum([x, x])", "z = jnp.sum(jnp.array([x, x]))", 12),
        ("y = [1, 2]; z = jnp.mean(y)", None, None),
        ("z = jnp.dot(x, [1, 2, 3])", "z = jnp.dot(x, jnp.array([1, 2, 3]))", 14),
        ("z = x + [1, 2, 3]", "z = x + jnp.array([1, 2, 3])", [2, 4, 6]),
        ("z = [1, 2, 3] - x", None, None),
        ("z = jnp.sum([x, x[0]])", None, None),
        ("z = jnp.concatenate([1, 2])", "z = jnp.stack([1, 2])", [1, 2]),
        ("z = jnp.concatenate(x, x)", "z = jnp.concatenate([x, x])", [1, 2, 3, 1, 2, 3]),
        ("z = x[[0, 2]]", "z = x[jnp.array([0, 2])]", [1, 3]),
        ("z = x.at[[0, 2]].set(0)", "z = x.at[jnp.array([0, 2])].set(0)", [0, 2, 0]),
        ("z = x[1.0]", None, None),
    ],
)
def test_a_list_in_place_of_an_array(line: str, code: str | None, expected: object) -> None:
    cell = _on(line)
    assert cell.finding.line == cell.here
    if code is not None:
        assert cell.finding.code == code
        again = cell.rewritten(code)
        assert again.error is None
        np.testing.assert_array_equal(again.names["result"], expected)


def test_items_of_different_shapes_are_no_array() -> None:
    finding = _on("z = jnp.sum([x, x[0]])").finding
    assert finding.code is None
    assert str(finding.remedy).endswith("Otherwise, pass one of them.")
    assert str(_on("z = jnp.sum([x, x])").finding.remedy) == "Make it an array: jnp.array(…)."


def test_a_function_of_jax_in_a_pytree_may_be_of_a_module() -> None:
    said = _on("z = jax.grad(lambda tree: jnp.sum(tree[0]))((x * 1.0, jax.nn.relu))").said
    assert "Leave the custom_jvp out" in said
    assert said.endswith("If it is in a module of Equinox, use equinox.filter_grad or equinox.filter_jit.")


def test_none_in_place_of_an_array() -> None:
    for line, function in (("z = x + z", "+"), ("z = jnp.sin(z)", "jnp.sin")):
        assert _on(line).said.startswith(f"z is None, but {function} of JAX takes arrays and numbers.")


@pytest.mark.parametrize("line", ["x.at[0] = 5", "x.at[1, ] = 5"])
def test_an_assignment_to_at(line: str) -> None:
    cell = Cell(f"x = jnp.array([1, 2, 3])\n{line}  # here\nresult = x")
    assert cell.finding.line == cell.here
    assert cell.finding.code is not None
    assert cell.rewritten(cell.finding.code).names["result"].max() == 5


KEY = "key = jax.random.key(0)\nkeys = jax.random.split(key, 4)\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("jax.random.normal(keys, (3,))", "normal takes one key, but gets an array of keys of shape (4,)."),
        ("jax.random.split(keys)", "split takes one key, but gets an array of keys of shape (4,)."),
        ("jax.jit(lambda k: jax.random.uniform(k))(keys)", "uniform takes one key"),
        ("jax.random.normal(0, (3,))", "needs a key as its first argument, but gets the number 0."),
        ("jax.random.normal((3,))", "needs a key as its first argument, but gets none."),
        ("jax.random.normal(None)", "needs a key, but gets None."),
        ("jax.random.normal(jnp.ones(2))", "needs a key, but gets an array of type float32."),
        ("key + 1", "key is a key of random numbers. It is no number, and add does not take it."),
        ("jax.random.split(key)[0] + 1", "jax.random.split(key)[0] is a key of random numbers."),
        ("2 * keys[1]", "keys[1] is a key of random numbers. It is no number, and multiply does not take it."),
        ("jnp.sin(key)", "key is a key of random numbers."),
        ("jax.random.normal(jnp.uint32(3))", "A function of jax.random gets an array of one number where it needs a"),
        ("jax.vmap(lambda k: k * 2.0)(keys)", "multiply does not take it."),
        ("np.asarray(key)", "NumPy does not take it."),
    ],
)
def test_a_key_is_one_key_and_no_number(line: str, said: str) -> None:
    cell = Cell(f"import numpy as np\n{KEY}{line}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said


def test_the_advice_on_keys_works() -> None:
    cell = Cell(f"""{KEY}
one = jax.random.normal(keys[0])
each = jax.vmap(jax.random.normal)(keys)
other = jax.random.normal(jax.random.fold_in(key, 1))
data = jax.random.key_data(key)
""")
    assert cell.error is None
    assert cell.names["each"].shape == (4,)


@pytest.mark.parametrize("operator", ["*", "**", "+"])
def test_none_in_arithmetic(operator: str) -> None:
    cell = Cell(f"@jax.jit\ndef f(x, y=None):\n    return x {operator} y  # here\nf(1.0)")
    assert cell.finding.line == cell.here
    assert "None" in cell.said


@fails_in_callback
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return np.float32({}[int(x)])", "KeyError: 1"),
        ("raise ValueError('negative')", "ValueError: negative"),
        ("return np.linalg.inv(np.zeros((2, 2)))", "LinAlgError: Singular matrix"),
    ],
)
def test_an_exception_in_a_callback_is_told_with_its_line(body: str, error: str) -> None:
    cell = Cell(f"""
        import numpy as np
        def look(x):
            {body}
        @jax.jit
        def f(x):
            return jax.pure_callback(look, jax.ShapeDtypeStruct((), jnp.float32), x)
        jax.block_until_ready(f(1.0))  # here
    """)
    assert cell.finding.line == cell.here
    assert f"the Python function of a callback, look, raised {error} at " in cell.said
    assert f"{cell.here.rpartition(':')[0]}:{int(cell.here.rpartition(':')[2]) - 4}" in cell.said


def test_a_gradient_that_is_unpacked_comes_without_its_value() -> None:
    cell = Cell("loss, g = jax.grad(lambda x: x**2)(3.0)  # here")
    assert cell.finding.line == cell.here
    assert cell.finding.code == "loss, g = jax.value_and_grad(lambda x: x ** 2)(3.0)"
    again = cell.rewritten(cell.finding.code)
    assert (float(again.names["loss"]), float(again.names["g"])) == (9, 6)


@pytest.mark.parametrize(
    "line", ["for _ in jnp.array(3): pass", "a, b = jnp.array(3)", "a, b = jax.grad(f)(1.0) * 2"]
)
def test_other_scalars_are_not_iterated_over(line: str) -> None:
    for code in (f"f = lambda x: x\n{line}  # here", "f = lambda x: x\njax.jit(lambda n: list(n))(3)  # here"):
        cell = Cell(code)
        assert cell.finding.line == cell.here
        assert "A scalar is unpacked, or iterated over" in cell.said
        assert cell.finding.code is None


def test_the_iteration_of_numpy_is_not_explained() -> None:
    error = Cell("for _ in np.array(3): pass").error
    assert isinstance(error, TypeError)
    assert recognize(error) is None


@pytest.mark.parametrize("wrapped", ["jax.jit", ""])
@pytest.mark.parametrize("memo", ["{}", "collections.defaultdict(int)"])
@pytest.mark.parametrize("compared", ["in", "not in"])
def test_a_dictionary_is_a_memo_and_no_list_of_numbers(wrapped: str, memo: str, compared: str) -> None:
    cell = Cell(
        f"""
        import collections
        memo = {memo}
        def f(x):
            if x {compared} memo:  # here
                return memo[x]
            return x
        {wrapped}(f)(jnp.float32(1.0))
        """
    )
    assert cell.finding.line == cell.here
    assert "memo is a dictionary, which finds a key by its hash." in cell.said
    assert "isin" not in cell.said
    assert ("Look it up outside of the traced function" in cell.said) is bool(wrapped)
    assert "x.item()" in cell.said


IN_LIST = """
    @jax.jit
    def f(x, items):
        {code}  # here
        return y
    result = f({x}, [{x} + 1, {x}])
"""


@pytest.mark.parametrize(
    ("x", "remedy"),
    [
        ("jnp.arange(3)", "jnp.stack([jnp.array_equal(x, each) for each in items]).any()"),
        ("jnp.int32(3)", "jnp.isin(x, jnp.array(items))"),
    ],
)
@pytest.mark.parametrize("items", ["items", "[items[0], items[1]]"])
def test_a_traced_value_is_looked_for_in_a_list_with_functions_of_jax(x: str, remedy: str, items: str) -> None:
    cell = Cell(IN_LIST.format(code=f"y = 1 if x in {items} else 0", x=x))
    assert remedy.replace("items))", "[…]))") in cell.said
    assert "That is traced as well: use it in jnp.where(condition, a, b), not in an if." in cell.said
    assert "any((x == each).all()" not in cell.said
    mended = Cell(IN_LIST.format(code=f"y = jnp.where({remedy}, 1, 0)", x=x))
    assert int(mended.names["result"]) == 1


def test_an_array_is_looked_for_in_a_list_with_python() -> None:
    cell = Cell("""
        x = jnp.arange(3)
        items = [x + 1, x]
        y = x in items  # here
    """)
    assert "any((x == each).all() for each in items), if all have one shape." in cell.said
    assert "traced" not in cell.said
    assert Cell("x = jnp.arange(3); y = any((x == each).all() for each in [x + 1, x])").names["y"]
