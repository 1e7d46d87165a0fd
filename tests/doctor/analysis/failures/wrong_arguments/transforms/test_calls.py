"""Arguments that jit, grad, vmap and JAX's loops do not take: which one it is, and that the remedy works."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell

from jaxmagic.doctor.analysis.failures.wrong_arguments.transforms.derivatives import explain_grad_output
from jaxmagic.records.call_stack import Frame


@pytest.mark.parametrize(
    ("given", "called"), [("1.0, 'double'", "f"), ("1.0, mode='double'", "f"), ("1.0, mode", "f")]
)
def test_a_string_becomes_a_static_argument(given: str, called: str) -> None:
    cell = Cell(f"""
        mode = "double"
        @jax.jit
        def f(x, mode):
            return x * 2 if mode == "double" else x
        result = {called}({given})  # here
    """)
    assert cell.finding.line == cell.here
    assert "(str) is passed to f" in cell.said
    assert 'static_argnames="mode"' in cell.said
    assert cell.finding.code == '@functools.partial(jax.jit, static_argnames="mode")'
    assert float(cell.rewritten(cell.finding.code).names["result"]) == 2


@pytest.mark.parametrize("function", ["jnp.tanh", "jax.nn.relu", "abs", "np.square", "lambda x: x"])
def test_a_function_becomes_a_static_argument(function: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x, act):
            return act(x)
        result = f(0.5, {function})  # here
    """)
    assert cell.finding.line == cell.here
    assert "for act" in cell.said
    assert cell.finding.code == '@functools.partial(jax.jit, static_argnames="act")'
    if function != "np.square":  # which needs a number
        assert cell.rewritten(cell.finding.code).error is None


def test_a_function_that_is_jitted_without_a_decorator_has_no_decorator_to_replace() -> None:
    for called in ("jax.jit(f)", "g", "C().step"):
        cell = Cell(f"""
            def f(x, mode): return x
            g = jax.jit(f)
            class C:
                def __init__(self): self.step = jax.jit(self.inner)
                def inner(self, x, mode): return x
            {called}(1.0, "a")  # here
        """)
        assert cell.finding.line == cell.here
        assert 'static where the function is jitted: static_argnames="mode"' in cell.said
        assert cell.finding.code is None


def test_a_string_in_a_dictionary() -> None:
    cell = Cell("""
        config = {"rate": 1.0, "name": "adam"}
        @jax.jit
        def f(x, options): return x
        f(1.0, config)  # here
    """)
    assert cell.finding.line == cell.here
    assert "config['name'] (str) is passed to f for options['name']" in cell.said
    assert "Pass options['name'] as an argument of its own that is static" in cell.said


def test_a_method_is_not_made_static_in_self() -> None:
    cell = Cell("""
        class Model:
            @jax.jit
            def apply(self, x): return x
        model = Model()
        model.apply(1.0)  # here
    """)
    assert cell.finding.line == cell.here
    assert "model (Model) is passed to model.apply for self" in cell.said
    assert "Make Model a pytree" in cell.said
    assert "static_argn" not in cell.said


def test_an_object_of_another_class_may_be_a_pytree_or_static() -> None:
    cell = Cell("class C: pass\n@jax.jit\ndef f(x, c): return x\nf(1.0, C())  # here")
    assert "If C holds arrays, make it a pytree" in cell.said
    assert cell.finding.code is None


def test_functions_of_jax_have_no_static_arguments_to_declare() -> None:
    for code in ("jnp.sin('a')", "jnp.mean('a')", "jax.grad(lambda x: x)('a')", "jax.vmap(lambda x: x)('a')"):
        cell = Cell(f"{code}  # here")
        assert cell.finding.line == cell.here
        assert "'a' (str) is passed to" in cell.said
        assert "static_argnames" not in cell.said


def test_a_result_that_is_no_array() -> None:
    for code, transform in (("jax.jit(f)(1.0)", "jit"), ("lax.scan(lambda c, x: (c, f(x)), 0, jnp.ones(3))", "scan")):
        cell = Cell(f"def f(x): return {{'name': 'a', 'x': x}}\n{code}  # here")
        assert cell.finding.line == cell.here
        assert "returns a value of type str" in cell.said
        assert f"under {transform} a function returns arrays" in cell.said
    assert "returned in it" in Cell("jax.grad(lambda x: 'a')(1.0)").said


@pytest.mark.parametrize("condition", ["mask", "x > 0"])
def test_a_condition_of_cond_with_several_elements(condition: str) -> None:
    cell = Cell(f"""
        mask = jnp.array([True, False])
        def f(x):
            return lax.cond({condition}, lambda x: x, lambda x: -x, x)  # here
        jax.jit(f)(jnp.array([1.0, -2.0]))
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{condition} has shape (2,), but lax.cond needs a single true or false.")
    assert "jnp.where(condition, a, b)" in cell.said


def test_conditions_of_other_types() -> None:
    assert "'a' has type str" in Cell("lax.cond('a', lambda: 1, lambda: 2)").said
    cell = Cell("lax.while_loop(lambda c: c > 0, lambda c: c - 1, jnp.ones(3))  # here")
    assert cell.finding.line == cell.here
    assert "lambda c: c > 0 returns bool[3]" in cell.said
    assert "Return a comparison" in Cell("lax.while_loop(lambda c: c, lambda c: c - 1, 1.0)").said
    assert "more than one value" in Cell("lax.while_loop(lambda c: (c > 0, 1), lambda c: c - 1, 1.0)").said
    cell = Cell("lax.fori_loop(0, jnp.ones(3, int), lambda i, c: c, 0)")
    assert "A bound of lax.fori_loop is an array" in cell.said


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ("0.5", "int(0.5)"),
        ("t", "t.astype(int)"),
        ("t / 2", ("(t / 2).astype(int)", "jnp.asarray(t / 2, int)")),  # if JAX removed its calls
        ("s", "s.astype(int)"),
    ],
)
def test_the_index_of_switch_is_converted_as_it_is_written(index: str, said: str | tuple[str, ...]) -> None:
    cell = Cell(f"s, f = jnp.float32(1), lambda t, s: lax.switch({index}, [jnp.sin, jnp.cos], 1.0)  # here\nf(s, s)")
    new = [said] if isinstance(said, str) else said
    assert any(f"Pass an integer: {each} cuts off the fraction." in cell.said for each in new)
    line = cell.source.splitlines()[1].partition("  #")[0]
    for each in new:
        assert cell.rewritten(line.replace(f"switch({index}", f"switch({each}")).error is None


def test_the_index_of_switch_and_the_bounds_of_a_loop() -> None:
    assert "i has shape (3,)" in Cell("i = jnp.ones(3, int)\nlax.switch(i, [lambda: 1, lambda: 2])").said
    assert "i has type float32" in Cell("i = jnp.float32(1)\nlax.switch(i, [lambda: 1, lambda: 2])").said
    cell = Cell("n = 3.0\nlax.fori_loop(0, n, lambda i, c: c, 0)")
    assert "0 is int32 and n is float32" in cell.said


def test_scan_over_different_sizes() -> None:
    cell = Cell("xs, ys = jnp.ones((3, 2)), jnp.ones(4)\nlax.scan(lambda c, t: (c, t[0]), 0.0, (xs, ys))  # here")
    assert cell.finding.line == cell.here
    assert "sizes 3 and 4: xs (3, 2) and ys (4,)." in cell.said
    cell = Cell("xs = {'a': jnp.ones((3, 2)), 'b': jnp.ones(4)}\nlax.scan(lambda c, t: (c, 0.0), 0.0, xs)")
    assert "xs['a'] (3, 2) and xs['b'] (4,)" in cell.said
    cell = Cell("class all_the_data: of_this_long_run = {'a': jnp.ones(3), 'b': jnp.ones(4)}\n"
                "lax.scan(lambda c, t: (c, 0.0), 0.0, all_the_data.of_this_long_run)")  # fmt: skip
    assert "of sizes 3 and 4: xs['a'] (3,) and xs['b'] (4,)." in cell.said
    cell = Cell("xs = jnp.ones(3)\nlax.scan(lambda c, t: (c, t), 0.0, xs, length=4)")
    assert "length=4, but xs (3,) has leading axes of size 3" in cell.said


def test_scan_over_nothing_and_a_body_without_output() -> None:
    assert "no length=" in Cell("lax.scan(lambda c, x: (c, c), 0)").said
    assert "n has none" in Cell("n = 1.0\nlax.scan(lambda c, x: (c, c), 0, n)").said
    cell = Cell("def body(c, x): return c + x\nlax.scan(body, 0.0, jnp.ones(3))")
    assert cell.said.startswith("body returns f32[], but a body of scan returns two things")


def test_a_library_that_differentiates_has_an_option_of_its_own() -> None:
    failure = Cell("def f(x): return x.sum(), x\njax.grad(f)(jnp.ones(3))").failure
    inside = Frame(function="run", file="/lib/python3.11/site-packages/jaxopt/_src/base.py", line=1)
    assert str(explain_grad_output(replace(failure, library=inside)).remedy) == (
        "jaxopt differentiates the function. Return the number alone, or use the option of jaxopt for a function "
        "with an extra result, if it has one, such as has_aux=True."
    )


@pytest.mark.parametrize("transform", ["jax.grad", "jax.value_and_grad"])
def test_the_gradient_of_an_array(transform: str) -> None:
    cell = Cell(f"def f(x): return x * 2\n{transform}(f)(jnp.ones(3))  # here")
    assert cell.finding.line == cell.here
    assert "returns an array of shape (3,)" in cell.said
    cell = Cell(f"def f(x): return x.sum(), x\n{transform}(f)(jnp.ones(3))")
    assert "returns a tuple" in cell.said
    assert "has_aux=True" in cell.said
    jax.value_and_grad(lambda x: (x.sum(), x), has_aux=True)(jnp.ones(3))
    assert "returns None" in Cell(f"def f(x): x.sum()\n{transform}(f)(jnp.ones(3))").said


def test_gradients_of_integers() -> None:
    cell = Cell("w, x = jnp.arange(3), jnp.ones(3)\njax.grad(lambda w, x: (w * x).sum())(w, x)  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("w has dtype int32, but grad differentiates with respect to floats.")
    assert jax.grad(lambda w: (w * 1.0).sum())(jnp.asarray(jnp.arange(3), jnp.float32)).shape == (3,)
    assert "Indices, labels and counts have no gradient: differentiate with respect to another argument" in cell.said
    cell = Cell("p = {'w': jnp.ones(3), 'n': 3}\njax.grad(lambda p: p['w'].sum())(p)")
    assert cell.said.startswith("p['n'] has dtype int32")
    assert "returns int32" in Cell("jax.grad(lambda x: x.sum().astype(int))(jnp.ones(3))").said


@pytest.mark.parametrize(
    "code",
    [
        "jax.grad(lambda a, b: (a * b * 1.0).sum(), argnums=1)(i, j)",  # both are integers
        "jax.grad(lambda p: 1.0)({'a': {'n': 3}})",
        "jax.grad(lambda a, p: 1.0 * a, argnums=1)(i, {'a': {'n': 3}})",
    ],
)
def test_an_integer_is_not_named_where_it_may_be_another_one(code: str) -> None:
    cell = Cell(f"i, j = jnp.arange(3), jnp.arange(3)\n{code}")
    assert cell.said.startswith("A differentiated argument has dtype int32")


def test_arguments_of_grad() -> None:
    cell = Cell("x = jnp.ones(3)\njax.grad(lambda x: x.sum(), argnums=1)(x)")
    assert "argnums=1 is beyond the positional arguments of the call. It has one, number 0." in cell.said
    cell = Cell("jax.grad(lambda a, b: a * b, argnums=2)(1.0, 2.0)")
    assert (
        "argnums=2 is beyond the positional arguments of the call. It has 2, with the numbers 0 and 1." in cell.said
    )
    assert "Pass x by position" in Cell("x = jnp.ones(3)\njax.grad(lambda x: x.sum())(x=x)").said
    assert "has_aux=True" in Cell("jax.grad(lambda x: x.sum(), has_aux=True)(jnp.ones(3))").said


def test_vmap_over_different_sizes() -> None:
    cell = Cell("def f(x, y): return x * y\njax.vmap(f)(jnp.ones((3, 2)), jnp.ones(4))  # here")
    assert cell.finding.line == cell.here
    assert "3 for axis 0 of argument x (float32[3,2]); 4 for axis 0 of argument y (float32[4])" in cell.said
    cell = Cell("jax.vmap(lambda p, y: y)({'w': jnp.ones(3), 'b': jnp.ones(5)}, jnp.ones(3))")
    assert "5 for axis 0 of argument p['b'] (float32[5])" in cell.said


def test_vmap_over_a_scalar() -> None:
    cell = Cell("x, y = jnp.ones((3, 2)), 2.0\njax.vmap(lambda x, y: x * y)(x, y)  # here")
    assert cell.finding.line == cell.here
    assert "y has shape (), so it has no axis 0" in cell.said
    assert "in_axes=(0, None)" in cell.said
    np.testing.assert_array_equal(jax.vmap(lambda x, y: x * y, in_axes=(0, None))(jnp.ones((3, 2)), 2.0), 2)
    cell = Cell("x, y = 1.0, 2.0\njax.vmap(lambda x, y: x * y)(x, y)")
    assert "An argument has shape ()" in cell.said
    cell = Cell("x = jnp.ones((3, 2))\njax.vmap(lambda x: x, in_axes=2)(x)")
    assert "x has shape (3, 2), so it has no axis 2" in cell.said
    assert "Correct in_axes=" in cell.said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("in_axes=(0,)", "in_axes= has 1 entry for 2 positional arguments."),
        ("in_axes=(None, None)", "in_axes= maps no argument."),
        ("out_axes=None", "out_axes= is None for a result that depends on a mapped argument"),
    ],
)
def test_options_of_vmap(options: str, said: str) -> None:
    assert said in Cell(f"jax.vmap(lambda x, y: x * y, {options})(jnp.ones(3), jnp.ones(3))").said


def test_options_of_jit() -> None:
    cell = Cell("def f(x, n): return x\njax.jit(f, static_argnums=2)(1.0, 2)  # here")
    assert cell.finding.line == cell.here
    assert "static_argnums=(2,), but the function takes 2 positional arguments." in cell.said
    assert "the last one is 1" in cell.said
    assert "static_argnames= names 'm'" in Cell("def f(x, n): return x\njax.jit(f, static_argnames='m')").said


def test_a_traced_value_in_nondiff_argnums() -> None:
    cell = Cell("""
        @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
        def f(x, n):
            return x * n
        f.defvjp(lambda x, n: (f(x, n), ()), lambda n, _, g: (g * n,))
        jax.jit(jax.grad(f))(1.0, 2)  # here
    """)
    assert cell.finding.line == cell.here
    assert "custom_vjp has in nondiff_argnums" in cell.said


def test_a_parameter_of_an_operation_that_is_traced() -> None:
    cell = Cell("@jax.jit\ndef f(x, n):\n    return jnp.tile(x, n)  # here\nf(jnp.ones(4), 2)")
    if cell.failure.kind != "number":
        pytest.skip("this JAX says it in other words")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("n (i32[]) is traced, so it has no value yet, but jnp.tile needs one.")
    assert "depends on the argument n of f" in cell.said


@pytest.mark.parametrize(
    "text",
    [
        "add got incompatible shapes for broadcasting: (3,), (4,).",
        "Pred must be a scalar, got [1 2] of shape (2,).",
        "JAX arrays are immutable and do not support in-place item assignment.",
        "Gradient only defined for scalar-output functions. Output had shape: (3,).",
    ],
)
def test_the_same_words_of_other_code_are_not_explained(text: str) -> None:
    from jaxmagic.doctor.capture.failures.recognize import recognize

    cell = Cell(f"raise TypeError({text!r})")
    assert cell.error is not None
    assert recognize(cell.error) is None


def test_an_object_with_a_function_in_it() -> None:
    cell = Cell("""
        import collections
        Transform = collections.namedtuple("Transform", "init update")
        optimizer = Transform(len, max)
        @jax.jit
        def step(x, optimizer): return x
        step(1.0, optimizer)  # here
    """)
    assert cell.finding.line == cell.here
    assert "optimizer.init (builtin_function_or_method) is passed to step" in cell.said
    assert "optimizer is a pytree with a value of type builtin_function_or_method in it." in cell.said


def test_a_function_that_takes_any_arguments_has_no_name_for_one() -> None:
    cell = Cell("def f(*args, **kwargs): return 1.0\njax.jit(f)(1.0, 'a')  # here")
    assert cell.finding.line == cell.here
    assert "static_argnames" not in cell.said
    assert "only arrays and numbers in args" not in cell.said


def test_an_array_of_text() -> None:
    cell = Cell("@jax.jit\ndef f(x): return x\nnames = np.array(['a'])\nf(names)  # here")
    assert cell.finding.line == cell.here
    assert "names (ndarray) is passed to f for x" in cell.said
    assert "Its elements are no numbers" in cell.said


def test_a_map_is_a_scan() -> None:
    cell = Cell("n, x = 1.0, jnp.ones(3)\nlax.map(lambda t: t, (n, x))  # here")
    assert cell.finding.line == cell.here
    assert "the leading axis of each array, but one of them has none" in cell.said
