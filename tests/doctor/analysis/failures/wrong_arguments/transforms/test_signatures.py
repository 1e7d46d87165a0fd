"""Functions that JAX calls with other arguments than they take: which function, and what it is called with."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("lax.scan(body, 0.0, x)", "lax.scan calls body with 2 arguments, but it takes 1.", "body(carry, x)"),
        (
            "lax.scan(lambda: 0, 0.0, x)",
            "lax.scan calls <lambda> with 2 arguments, but it takes 0.",
            "body(carry, x)",
        ),
        ("lax.fori_loop(0, 3, body, 0.0)", "lax.fori_loop calls body with 2 arguments, but it", "body(i, carry)"),
        ("lax.while_loop(two, body, 0)", "lax.while_loop calls two without 'b'.", "one argument, the state"),
        ("lax.cond(True, body, two, 1.0)", "lax.cond calls two without 'b'.", "calls f(x) or g(x)"),
        ("lax.switch(0, [body, two], 1.0)", "lax.switch calls two without 'b'.", "[f, g], x)"),
        ("lax.map(two, (x, x))", "lax.map calls two without 'b'.", "with a tuple, if it goes over a tuple"),
        ("jax.tree.map(two, {'a': 1})", "jax.tree.map calls two without 'b'.", "one leaf of each tree"),
    ],
)
def test_a_function_with_other_parameters(code: str, said: str, written: str) -> None:
    cell = Cell(f"""
        x = jnp.ones(3)
        def body(a): return a
        def two(a, b): return a
        {code}  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(said)
    assert written in cell.said


def test_an_inner_function_is_named_without_the_one_around_it() -> None:
    cell = Cell("""
        def outer():
            def body(a): return a
            return lax.scan(body, 0.0, jnp.ones(3))  # here
        outer()
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("lax.scan calls body with 2 arguments, but it takes 1.")
    assert (
        "lax.scan calls <lambda> with 2" in Cell("[lax.scan(lambda c: c, 0.0, jnp.ones(3)) for _ in range(1)]").said
    )


def test_a_method_is_not_counted_with_self() -> None:
    cell = Cell("""
        class Model:
            def step(self, x): return x
        @jax.jit
        def run(xs):
            return lax.scan(Model().step, 0.0, xs)  # here
        run(jnp.ones(3))
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("lax.scan calls Model.step with another number of arguments than it takes.")


@pytest.mark.parametrize("code", ["f(1)", "[f(x) for x in [1]]"])
def test_a_mistake_in_a_call_of_the_users_own_is_left_to_python(code: str) -> None:
    cell = Cell(f"def f(a, b): return a\n{code}")
    assert cell.error is not None
    assert recognize(cell.error) is None


@pytest.mark.parametrize("transform", ["jax.jit", "jax.grad", "jax.vmap"])
def test_a_result_in_place_of_a_function(transform: str) -> None:
    cell = Cell(f"x = jnp.ones(())\ny = {transform}(jnp.sin(x))  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{transform} gets the result of jnp.sin(x) where it needs a function.")
    # what jit returns is a function, which a variable is to hold
    assert cell.finding.code == ("y = jax.jit(jnp.sin)" if transform == "jax.jit" else f"y = {transform}(jnp.sin)(x)")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("y = jax.grad(loss(w, w))(w)", "y = jax.grad(loss)(w, w)"),
        ("y = jax.jit(loss(w, w))(w, w)", "y = jax.jit(loss)(w, w)"),
        ("y = jax.grad(loss(w, w), argnums=1)(w, w)", "y = jax.grad(loss, argnums=1)(w, w)"),
        ("y = jax.grad(loss(w, w))(2 * w, w)", None),
    ],
)
def test_a_result_that_is_called_with_arguments_again(line: str, code: str | None) -> None:
    cell = Cell(f"def loss(w, v): return (w * v).sum()\nw = jnp.ones(3)\n{line}  # here")
    assert cell.finding.line == cell.here
    assert cell.finding.code == code
    assert code is None or cell.rewritten(code).error is None


def test_values_in_place_of_branches_and_a_generator() -> None:
    cell = Cell("lax.cond(True, 1.0, 2.0)  # here")
    assert cell.finding.line == cell.here
    assert "lax.cond gets a value where it needs a function." in cell.said
    assert "lambda: a, lambda: b" in cell.said
    cell = Cell("def f(x): yield x\njax.jit(f)  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("f contains yield, so it returns a generator")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("lax.while_loop(lambda c: c < 3, lambda c: c)", "lax.while_loop needs init_val as well."),
        ("lax.scan(lambda c, x: (c, x))", "lax.scan needs init as well.\nIt takes, in this order: f, init, xs"),
        ("jnp.broadcast_to(jnp.ones(3), 2, 3)", "jnp.broadcast_to does not take 3 positional arguments.\nIt takes, "),
    ],
)
def test_calls_of_jax_with_other_arguments(code: str, said: str) -> None:
    cell = Cell(f"{code}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said


def test_the_order_of_a_loop_is_the_one_that_runs() -> None:
    cell = Cell("y = lax.fori_loop(0, 3, lambda i, c: c + i)  # here")
    assert "It takes, in this order: lower, upper, body_fun, init_val." in cell.said
    assert cell.rewritten("y = lax.fori_loop(0, 3, lambda i, c: c + i, 0)").names["y"] == 3


MISFITS = """
@{jit}
def step(params, batch: int, lr=0.5, *, flip=jnp.ones(3)): return params
class Model:
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, params, batch): return params
model = Model()
{code}  # here
"""


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        (
            "step(1.0, lr=2.0)",
            "called without batch: it gets 1 argument by position and lr by name.",
            "Pass batch in",
        ),
        ("step()", "is called without params and batch: it gets nothing.", "Pass params and batch in the call"),
        ("step(*[1.0])", "is called without batch.", "Pass batch in the call"),
        (
            "step(1.0, 2.0, 3.0, 4.0)",
            "called with other arguments: it gets 4 arguments by position.",
            "Pass what step",
        ),
        ("step(1.0, 2.0, foo=1)", "and has no parameter foo.", "Pass what step takes."),
        ("step(1.0, 2.0, params=1)", "and gets params by position and by name.", "Pass what step takes."),
    ],
)
def test_a_call_that_does_not_fit_a_jitted_function(code: str, said: str, written: str) -> None:
    cell = Cell(MISFITS.format(jit="jax.jit", code=code))
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The jitted function step takes (params, batch, lr=…, *, flip=…), and ")
    assert said in cell.said
    assert written in cell.said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("model.step(1.0)", "The jitted function step takes (params, batch), and is called without batch"),
        (
            "g = jax.grad(step); g(1.0)",
            "function step, which g calls, takes (params, batch, lr=…, *, flip=…), and",
        ),
        ("jax.vmap(step)(jnp.ones(3))", "function step, which jax.vmap(step) calls, takes (params, batch, lr=…"),
        ("jax.jit(lambda x: step(x))(1.0)", "The jitted function step takes (params, batch, lr=…"),
        ("g = functools.partial(step, lr=1.0); g(2.0)", "lr=…, *, flip=…), and is called without batch."),
        ("g = jax.jit(lambda a, b: a); g(1.0)", "The jitted function <lambda>, which g calls, takes (a, b), and is"),
        (
            "jax.vmap(lambda a, b, *c: a)(jnp.ones(3))",
            "takes (a, b, *c), and is called without b: it gets 1",
        ),
    ],
)
def test_a_call_that_does_not_fit_the_function_behind(code: str, said: str) -> None:
    cell = Cell(MISFITS.format(jit="jax.jit", code=code))
    assert cell.finding.line == cell.here
    assert said in cell.said


def test_a_function_that_python_alone_calls_is_no_matter_of_jax() -> None:
    source = "def helper(a, b): return a\n@jax.jit\ndef f(a): return helper(a)\nf(1.0)"
    error = Cell(source).error
    assert error is not None
    assert recognize(error) is None
