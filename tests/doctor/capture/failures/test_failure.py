"""Failing lines inside of scan, of nested functions, of libraries and of modules; and exceptions that are odd."""

from __future__ import annotations

import gc
import weakref

import jax
import jax.numpy as jnp
import pytest
from failing_cells import Cell, sentence
from shells import Session

from jaxmagic.doctor.analysis.failures.explanation import explanation
from jaxmagic.doctor.capture.failures.failure import read_failure


def test_inside_of_scan() -> None:
    cell = Cell("""
        def body(carry, x):
            if carry > x:  # here
                carry = x
            return carry, x
        lax.scan(body, 0.0, jnp.arange(3.0))
    """)
    assert cell.finding.line == cell.here
    assert "depends on the arguments carry, x of body" in cell.said
    assert "traces for scan" in cell.said
    assert cell.finding.code == "carry = jnp.where(carry > x, x, carry)"
    assert cell.fallback is None  # scan traces its body with and without jit


def test_a_value_from_outside_of_scan() -> None:
    cell = Cell("""
        @jax.jit
        def f(x, y):
            def body(c, t):
                if y > 0:  # here
                    c = c + 1
                return c, t
            return lax.scan(body, x, jnp.arange(3.0))
        f(1.0, 2.0)
    """)
    assert cell.finding.line == cell.here
    assert "depends on none of its arguments" in cell.said
    assert "y (f32[]) comes from outside: it depends on y of f" in cell.said


def test_inside_of_nested_jitted_functions() -> None:
    cell = Cell("""
        @jax.jit
        def inner(a):
            return a if a > 0 else -a  # here
        @jax.jit
        def outer(z, q):
            w = z + 1
            return inner(w)
        outer(1.0, 2.0)
    """)
    assert cell.finding.line == cell.here
    assert "depends on the argument a of inner" in cell.said
    assert f"a is w in the call at {cell.file}:8, which depends on z of outer" in cell.said
    assert cell.fallback is None  # both are traced: one without jit does not help


def test_in_a_helper_that_a_library_calls() -> None:
    cell = Cell("""
        def larger(a, b):
            return a if a > b else b  # here
        @jax.jit
        def f(xs):
            return functools.reduce(larger, xs)
        f([1.0, 2.0])
    """)
    assert cell.finding.line == cell.here
    assert "depends on the arguments xs[0], xs[1] of f" in cell.said
    assert "→ larger" in cell.said


def test_in_a_helper_that_jax_calls_on_leaves() -> None:
    cell = Cell("""
        def helper(a):
            return float(a)  # here
        @jax.jit
        def f(tree):
            return jax.tree.map(helper, tree)
        f({"a": 1.0})
    """)
    assert cell.finding.line == cell.here
    assert "argument tree['a'] of f" in cell.said


@pytest.mark.parametrize(
    "transformed", ["jax.jit(jax.grad(loss))", "jax.vmap(jax.jit(loss))", "jax.grad(jax.jit(loss))"]
)
def test_under_several_transformations_there_is_no_call_without_jit(transformed: str) -> None:
    cell = Cell(f"""
        def loss(w):
            return w if w.sum() > 0 else -w  # here
        {transformed}({"jnp.ones(3)" if "vmap" in transformed else "1.0"})
    """)
    assert cell.finding.line == cell.here
    assert "argument w of loss" in cell.said
    assert cell.fallback is None


def test_vmap_alone() -> None:
    cell = Cell("""
        def loss(w):
            return w if w > 0 else -w  # here
        jax.vmap(loss)(jnp.ones(3))
    """)
    assert cell.finding.line == cell.here
    assert "It depends on the argument w of loss, which jax.vmap traces." in cell.said
    assert cell.finding.code == "return jnp.where(w > 0, w, -w)"


def test_in_a_method() -> None:
    cell = Cell("""
        class Model:
            scale = 2.0
            @functools.partial(jax.jit, static_argnums=0)
            def apply(self, x, n):
                for i in range(n):  # here
                    x = x * self.scale
                return x
        model = Model()
        model.apply(1.0, 3)
    """)
    assert cell.finding.line == cell.here
    assert "argument n of apply" in cell.said
    assert cell.fallback == "model.apply.__wrapped__(model, 1.0, 3)"
    assert float(eval(cell.fallback, cell.names)) == 8


def test_inside_of_a_flax_linen_module() -> None:
    pytest.importorskip("flax")
    cell = Cell("""
        import flax.linen as nn
        class Net(nn.Module):
            @nn.compact
            def __call__(self, x):
                x = nn.Dense(3)(x)
                if x.sum() > 0:  # here
                    x = -x
                return x
        net = Net()
        params = net.init(jax.random.key(0), jnp.ones((1, 2)))
        @jax.jit
        def predict(params, x):
            return net.apply(params, x)
        predict(params, jnp.ones((1, 2)))
    """)
    assert cell.finding.line == cell.here
    assert "params['params']['Dense_0']['kernel']" in cell.said
    assert "of predict" in cell.said
    assert cell.fallback is not None
    eval(cell.fallback, cell.names)


def test_arguments_of_a_librarys_function_are_not_named() -> None:
    pytest.importorskip("equinox")
    cell = Cell("""
        import equinox
        @equinox.filter_jit
        def step(x):
            return float(x)  # here
        step(jnp.ones(()))
    """)
    assert cell.finding.line == cell.here
    assert "dynamic" not in cell.said
    assert "/equinox/" not in cell.said


def test_inside_of_a_flax_nnx_module() -> None:
    pytest.importorskip("flax")
    cell = Cell("""
        from flax import nnx
        class Net(nnx.Module):
            def __init__(self, rngs):
                self.dense = nnx.Linear(2, 3, rngs=rngs)
            def __call__(self, x):
                y = self.dense(x)
                return float(y.sum())  # here
        net = Net(nnx.Rngs(0))
        @nnx.jit
        def predict(net, x):
            return net(x)
        predict(net, jnp.ones((1, 2)))
    """)
    assert cell.finding.line == cell.here
    assert "float needs one" in cell.said


def test_inside_of_a_plain_module_class() -> None:
    cell = Cell("""
        class Layer:
            def __call__(self, w, x):
                y = x @ w
                while y.sum() > 1:  # here
                    y = y / 2  # end
                return y
        layer = Layer()
        @jax.jit
        def predict(w, x):
            return layer(w, x)
        result = predict(jnp.ones((2, 3)), jnp.ones(2))
    """)
    assert cell.finding.line == cell.here
    assert "arguments w, x of predict" in cell.said
    assert "→ __call__" in cell.said
    assert cell.finding.code == "y = lax.while_loop(lambda y: y.sum() > 1, lambda y: y / 2, y)"
    assert cell.fallback is not None
    expected = eval(cell.fallback, cell.names)
    assert jnp.allclose(cell.rewritten(cell.finding.code).names["result"], expected)


@pytest.mark.parametrize("words", ["raise error", "raise", "raise error from None"])
def test_an_error_that_the_user_raises_again_is_still_jaxs(words: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x):
            return float(x)  # here
        try:
            f(1.0)
        except TypeError as error:
            {words}
    """)
    assert cell.finding.line == cell.here


@pytest.mark.parametrize("words", ["raise RuntimeError('mine') from error", "raise RuntimeError('mine')"])
def test_the_error_behind_another_one_is_explained(words: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x):
            return float(x)  # here
        try:
            f(1.0)
        except TypeError as error:
            {words}
    """)
    assert cell.finding.line == cell.here
    assert "This explains the ConcretizationTypeError behind the RuntimeError." in cell.said


@pytest.mark.parametrize(
    "raised",
    [
        "raise ValueError('Non-hashable static arguments are not supported. <class \\'list\\'>')",
        "raise RuntimeError('Array has been deleted with shape=float32[3].')",
        "raise TypeError('scan body function carry input and carry output must have equal types')",
        "raise FloatingPointError('invalid value (nan) encountered in log')",
        "raise jax.errors.UnexpectedTracerError('mine')",
        "raise MemoryError('RESOURCE_EXHAUSTED')",
        "{}['a']",
        "1 / 0",
    ],
)
@pytest.mark.parametrize("jitted", [True, False])
def test_an_error_of_the_users_own_is_not_explained(raised: str, jitted: bool) -> None:
    cell = Cell(f"""
        {"@jax.jit" if jitted else ""}
        def f(x):
            {raised}
        f(1.0)
    """)
    assert cell.error is not None
    assert read_failure(cell.error) is None


def test_an_error_without_a_traceback() -> None:
    assert read_failure(RuntimeError("Array has been deleted with shape=float32[3].")) is None
    cell = Cell("""
        @jax.jit
        def f(x):
            return float(x)
        f(1.0)
    """)
    assert cell.error is not None
    cell.error.__traceback__ = None
    assert cell.finding.line is None
    assert "argument x of f" in cell.said
    assert cell.finding.code is None


def test_a_circle_of_causes_ends() -> None:
    first, other = ValueError("a"), KeyError("b")
    first.__cause__, other.__cause__ = other, first
    assert read_failure(first) is None


def test_no_code_of_the_users_class_runs() -> None:
    class Odd(TypeError):
        def __str__(self) -> str:
            raise AssertionError("asked for its text")

    with pytest.raises(Odd) as raised:
        raise Odd
    assert read_failure(raised.value) is None


def test_a_message_of_a_megabyte_is_read_quickly() -> None:
    cell = Cell(f"""
        @functools.partial(jax.jit, static_argnums=0)
        def f(x):
            return x
        f(["{"c" * 1_000_000}"])  # here
    """)
    assert cell.finding.line == cell.here
    assert len(cell.said) < 2_000


def test_control_characters_do_not_reach_the_terminal() -> None:
    cell = Cell("""
        @jax.jit
        def f(params):
            if params["\\x1b[2J, and b"] > 0:  # here
                return 1
        f({"\\x1b[2J, and b": 1.0})
    """)
    assert cell.finding.line == cell.here
    assert "\x1b" not in cell.said
    assert cell.failure.traced is not None
    assert len(cell.failure.traced.arguments) == 1


def test_code_without_source_has_a_line_and_no_more() -> None:
    names = {"jax": jax}
    exec(compile("f = jax.jit(lambda x: x if x > 0 else -x)\ndef g():\n  f(1.0)", "<nowhere>", "exec"), names)
    with pytest.raises(jax.errors.TracerBoolConversionError) as raised:
        names["g"]()
    failure = read_failure(raised.value)
    assert failure is not None
    assert failure.line == "<nowhere>:1"
    assert (failure.source, failure.statement, failure.call) == (None, None, None)


def test_facts_keep_no_array_and_no_frame() -> None:
    class Kept:
        pass

    def fail() -> tuple[object, weakref.ref[Kept]]:
        kept, big = Kept(), jnp.ones(3)
        try:
            jax.jit(lambda x: float(x + big.sum()))(1.0)
        except jax.errors.ConcretizationTypeError as error:
            return read_failure(error), weakref.ref(kept)
        raise AssertionError

    failure, kept = fail()
    gc.collect()
    assert failure is not None
    assert kept() is None


MODES = "off", "tracebackhide", "remove_frames", "quiet_remove_frames"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("line", "library"),
    [
        ("jnp.zeros(x)", False),
        ("1 if x > 0 else 2", False),
        ("x.item()", False),
        ("jnp.arange(6)[jnp.arange(6) > x]", False),
        ("statistics.mean([np.sin(x)])", False),
        ("statistics.fsum([x])", False),
        ("statistics.NormalDist(0, x)", True),
    ],
)
def test_the_filter_of_tracebacks_makes_no_difference(mode: str, line: str, library: bool) -> None:
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", mode)
    try:
        cell = Cell(f"""
            import statistics
            @jax.jit
            def f(x):
                return {line}  # here
            f(2)
        """)
        assert cell.finding.line == cell.here
        assert (cell.failure.library is not None) == library
        assert "argument x of f" in cell.said
    finally:
        jax.config.update("jax_traceback_filtering", before)


def test_in_a_shell_lines_are_those_of_cells(session: Session) -> None:
    session.run("@jax.jit\ndef g(x, n):\n    for i in range(n):\n        x += 1\n    return x")
    number = session.shell.execution_count - 1
    error = session.run("%jaxtime -q g(1.0, 3)", fails=TypeError)
    failure = read_failure(error)
    assert failure is not None
    assert [each.location for each in failure.stack] == [f"cell {number + 1}:1", f"cell {number}:3"]
    finding = explanation(failure)
    assert (finding.line, finding.source) == (f"cell {number}:3", "for i in range(n):")
    assert finding.code == 'import functools\n@functools.partial(jax.jit, static_argnames="n")'
    assert f"g (cell {number}:1)" in sentence(finding.evidence[0])
    assert sentence(finding.evidence[-1]).endswith(" g.__wrapped__(1.0, 3)")
