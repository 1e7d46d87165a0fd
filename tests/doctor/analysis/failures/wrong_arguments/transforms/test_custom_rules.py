"""Rules of custom_vjp and custom_jvp that do not fit their function: what is missing, on the line that runs them."""

from __future__ import annotations

import pytest
from failing_cells import Cell

_VJP = """
    @functools.partial(jax.custom_vjp{options})
    def f({parameters}): return {result}
    def f_fwd({parameters}): return {forward}
    def f_bwd({backward}
    f.defvjp(f_fwd, f_bwd)
    jax.grad(f)({arguments})  # here
"""


def _vjp(backward: str, *, parameters: str = "x, y", result: str = "x * y", forward: str = "", **others: str) -> Cell:
    forward = forward or f"{result}, ({parameters})"
    arguments, options = others.get("arguments", "2.0, 3.0"), others.get("options", "")
    return Cell(
        _VJP.format(
            backward=backward,
            parameters=parameters,
            result=result,
            forward=forward,
            arguments=arguments,
            options=options,
        )
    )


@pytest.mark.parametrize(
    ("backward", "parameters", "said"),
    [
        ("xy, g): return (g,)", "x, y", "returns 1 cotangent, but it has to return one cotangent for each of the 2"),
        ("xy, g): return g", "x, y", "returns no tuple, but it has to return one cotangent for each of the 2 arg"),
        ("xy, g): return g", "x", "returns no tuple, but it has to return a tuple of one cotangent"),
        (
            "xy, g): return {'w': g}, (g, g)",
            "x, y",
            "returns another pytree at x than the argument there: expected *, got {'w': *}",
        ),
    ],
)
def test_cotangents_of_another_number_or_structure(backward: str, parameters: str, said: str) -> None:
    cell = _vjp(backward, parameters=parameters, result="x", arguments="2.0, 3.0"[: 8 if "y" in parameters else 3])
    assert cell.finding.line == cell.here
    assert f"The backward rule f_bwd {said}" in cell.said
    assert "(g,) for a single one, None for one without a gradient" in cell.said


def test_a_key_that_lacks_in_a_cotangent_is_named_by_its_place() -> None:
    cell = _vjp("r, g): return {'w': g}, g", parameters="p, x", result="p['w'] * x", arguments="dict(w=1., b=2.), 3.")
    assert "at p than the argument there: expected {'b': *, 'w': *}, got {'w': *}." in cell.said


def test_none_is_a_cotangent_of_any_argument() -> None:
    cell = _vjp("r, g): return None, {'k': g}", parameters="p, x", result="p['w'] * x", arguments="dict(w=1.), 3.")
    assert "returns another pytree at x than the argument there: expected *, got {'k': *}." in cell.said


def test_arguments_in_nondiff_argnums_have_no_cotangent() -> None:
    cell = _vjp("y, r, g): return g, None", options=", nondiff_argnums=(1,)")
    assert "returns 2 cotangents, but it has to return a tuple of one cotangent" in cell.said
    assert "nondiff_argnums get none: the backward rule takes them first" in cell.said


def test_a_cotangent_of_another_type() -> None:
    arguments = "jnp.ones((2, 3)), jnp.ones((3, 4))"
    cell = _vjp("r, g): x, y = r; return g * y, y", result="jnp.sum(x @ y)", arguments=arguments)
    assert cell.finding.line == cell.here
    assert "f_bwd returns f32[3,4] as the cotangent of x, but x of f has type f32[2,3]." in cell.said
    assert "g @ w.T and x.T @ g" in cell.said


def test_the_call_whose_rule_fails_is_named_where_it_is_on_another_line() -> None:
    cell = Cell("""
        @jax.custom_vjp
        def f(x): return x
        f.defvjp(lambda x: (x, None), lambda r, g: g)
        def loss(x):
            return f(x) * 2
        jax.grad(loss)(1.0)  # here
    """)
    assert cell.finding.line == cell.here
    assert f"It comes from an operation at {cell.file}:6 that JAX transformed: return f(x) * 2" in cell.said


@pytest.mark.parametrize(
    ("forward", "got"), [("x * y", "a single value"), ("x * y, x, y", "a tuple of another length")]
)
def test_a_forward_rule_without_a_pair(forward: str, got: str) -> None:
    cell = _vjp("r, g): return g, g", forward=forward)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"f_fwd, a rule of f, returns {got}, but it has to return a pair")
    assert "Return f(…), residuals" in cell.said


def test_a_jvp_rule_without_a_pair_or_with_another_tangent() -> None:
    source = """
        @jax.custom_jvp
        def f(x): return jnp.sum(x)
        @f.defjvp
        def rule(primals, tangents):
            (x,), (t,) = primals, tangents
            return {}
        jax.jit(jax.grad(f))(jnp.ones(3))  # here
    """
    cell = Cell(source.format("t"))
    assert cell.finding.line == cell.here
    assert cell.said.startswith("rule, a rule of f, returns a single value, but it has to return a pair: an output")
    cell = Cell(source.format("f(x), t"))
    assert cell.finding.line == cell.here
    assert cell.said.startswith(
        "The JVP rule rule returns a tangent of type f32[3], but the output of f needs f32[]."
    )


@pytest.mark.parametrize(
    ("rule", "function"),
    [
        ("custom_jvp", "lambda primals, tangents: (primals[0], tangents[0])"),
        ("custom_vjp", "lambda x: (x, None), lambda r, g: (g,)"),
    ],
)
def test_another_first_result_than_that_of_the_function(rule: str, function: str) -> None:
    cell = Cell(f"""
        @jax.{rule}
        def f(x): return jnp.sum(x)
        f.def{rule[-3:]}({function})
        jax.grad(jax.jit(f))(jnp.ones(3))  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The first result of the rule <lambda> is float32[3], but f returns float32[].")
    assert "so that both are the same: return f(" in cell.said
    assert "It happened in" not in cell.said  # contextlib, with which JAX decorates its own functions


@pytest.mark.parametrize("call", ["jax.jvp(f, (1.0,), (1.0,))", "jax.jacfwd(f)(1.0)"])
def test_forward_mode_through_custom_vjp(call: str) -> None:
    cell = Cell(f"""
        f = jax.custom_vjp(lambda x: x ** 2)
        f.defvjp(lambda x: (f(x), x), lambda x, g: (2 * x * g,))
        {call}  # here
    """)
    assert cell.finding.line == cell.here
    assert "differentiates a custom_vjp function in forward mode" in cell.said
    assert "jax.jacrev(jax.grad(f)) in place of jax.hessian(f)" in cell.said


def test_a_traced_value_from_outside_is_no_leak() -> None:
    cell = Cell("""
        def scaled(x, y):
            @jax.custom_vjp
            def f(y):
                return x * y  # here
            f.defvjp(lambda y: (f(y), None), lambda r, g: (g * x,))
            return f(y)
        jax.grad(scaled)(1.0, 2.0)
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("f is a custom_vjp function that uses x from outside, which is traced.")
    assert "Pass x to f as an argument" in cell.said
    assert "escaped" not in cell.said


def test_a_leak_in_a_custom_vjp_function_stays_a_leak() -> None:
    cell = Cell("""
        kept = []
        jax.jit(lambda x: kept.append(x))(1.0)
        @jax.custom_vjp
        def f(y):
            return kept[0] * y  # here
        f.defvjp(lambda y: (f(y), None), lambda r, g: (g,))
        f(2.0)
    """)
    assert cell.finding.line == cell.here
    assert cell.failure.kind == "leak"


@pytest.mark.parametrize(
    ("forward", "backward", "said", "written"),
    [
        ("x", "r, g", "JAX calls f_fwd with 2 arguments, but it takes 1.", "same arguments as f, in their order"),
        (
            "x, n",
            "r, g",
            "JAX calls f_bwd with 3 arguments, but it takes 2.",
            "takes the argument in nondiff_argnums,",
        ),
        ("x, n", "n, r, g, h", "JAX calls f_bwd without 'h'.", "the residuals, as one value, and the cotangent"),
    ],
)
def test_a_rule_with_other_parameters(forward: str, backward: str, said: str, written: str) -> None:
    cell = Cell(f"""
        @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
        def f(x, n): return x * n
        def f_fwd({forward}): return x * 2, x
        def f_bwd({backward}): return (g,)
        f.defvjp(f_fwd, f_bwd)
        jax.grad(f)(2.0, 3)  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(said)
    assert written in cell.said


def test_a_jvp_rule_with_the_arguments_of_its_function() -> None:
    cell = Cell("""
        @jax.custom_jvp
        def f(x): return x
        @f.defjvp
        def rule(x): return x, x
        jax.grad(f)(1.0)  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("JAX calls rule with 2 arguments, but it takes 1.")
    assert "two tuples: the primals and the tangents" in cell.said


RULES = {
    "no tuple": (
        "x",
        "jnp.sin(x), x",
        "return jnp.cos(res) * g",
        "jax.grad(f)(1.0)",
        "# In rule:\nreturn (jnp.cos(res) * g,)",
    ),
    "None for what has no cotangent": (
        "n, x",
        "x ** n, x",
        "return None, g * n * res",
        "jax.grad(lambda x: f(2, x))(3.0)",
        "# In rule:\nreturn (g * n * res,)",
    ),
    "a bias that was broadcast": (
        "x, b",
        "x + b, None",
        "return g, g",
        "jax.grad(lambda b: f(jnp.ones((5, 3)), b).sum())(jnp.ones(3))",
        "# In rule:\nreturn (g, jnp.sum(g, axis=0))",
    ),
    "a number that was broadcast": (
        "x, b",
        "x * b, (x, b)",
        "return g * res[1], g * res[0]",
        "jax.grad(lambda b: f(jnp.ones((5, 3)), b).sum())(2.0)",
        "# In rule:\nreturn (g * res[1], jnp.sum(g * res[0], axis=(0, 1)))",
    ),
}


@pytest.mark.parametrize("case", RULES)
def test_what_a_backward_rule_has_to_return_is_written(case: str) -> None:
    parameters, forward, backward, call, code = RULES[case]
    nondiff = ", nondiff_argnums=(0,)" if "n" in parameters else ""
    source = f"""
        @functools.partial(jax.custom_vjp{nondiff})
        def f({parameters}): return ({forward})[0]
        def f_fwd({parameters}): return {forward}
        def rule({"n, " if nondiff else ""}res, g):
            {{}}
        f.defvjp(f_fwd, rule)
        result = {call}  # here
    """
    cell = Cell(source.format(backward))
    assert cell.finding.line == cell.here
    assert f"rule is defined at {cell.file}:5, and returns at {cell.file}:6: {backward}" in cell.said
    assert cell.finding.code == code
    assert Cell(source.format(code.splitlines()[-1])).error is None


@pytest.mark.parametrize(
    ("returned", "code"),
    [
        ("dx * y + x * dy", "# In rule:\nreturn (f(*primals), dx * y + x * dy)"),
        ("f(x, y), (dx * y, x * dy)", "# In rule:\nreturn (f(x, y), dx * y + x * dy)"),
        ("f(x, y)", None),
        ("f(x, y), {'x': dx * y}", None),
    ],
)
def test_what_a_jvp_rule_has_to_return_is_written(returned: str, code: str | None) -> None:
    source = """
        @jax.custom_jvp
        def f(x, y): return x * y
        @f.defjvp
        def rule(primals, tangents):
            (x, y), (dx, dy) = primals, tangents
            return {}
        result = jax.jvp(f, (2.0, 3.0), (1.0, 10.0))  # here
    """
    cell = Cell(source.format(returned))
    assert cell.finding.line == cell.here
    assert f"rule is defined at {cell.file}:5, and returns at {cell.file}:7: return {returned}" in cell.said
    assert cell.finding.code == code
    if code is not None:
        new = Cell(source.format(code.splitlines()[-1].removeprefix("return ")))
        assert new.names["result"] == (6.0, 23.0)


def test_no_rule_is_named_where_another_one_may_have_run() -> None:
    cell = Cell("""
        f, g = jax.custom_vjp(lambda x: x), jax.custom_vjp(lambda x: x)
        f.defvjp(lambda x: (x, None), lambda r, g: g)
        g.defvjp(lambda x: (x, None), lambda r, g: (g,))
        rules = [f, g]
        jax.grad(rules[0])(1.0)  # here
    """)
    assert "The backward rule returns no tuple, but it has to return a tuple of one cotangent." in cell.said
    assert cell.finding.code is None
    cell = Cell("""
        f = jax.custom_vjp(lambda x, y: x)
        f.defvjp(lambda x, y: (x, None), lambda r, g: g)
        @functools.partial(jax.jit, inline=True)
        def other(x):
            h = jax.custom_vjp(lambda x: x)
            h.defvjp(lambda x: (x, None), lambda r, g: g)
            return h(x)
        jax.grad(other)(1.0)  # here
    """)
    assert "The backward rule returns no tuple, but it has to return a tuple of one cotangent." in cell.said


def test_the_line_that_was_transformed_tells_functions_apart() -> None:
    cell = Cell("""
        f, g = jax.custom_vjp(lambda x: x), jax.custom_vjp(lambda x: x)
        f.defvjp(lambda x: (x, None), lambda r, g: g)
        g.defvjp(lambda x: (x, None), lambda r, g: (g,))
        def loss(x):
            return f(x) * 2
        jax.grad(loss)(1.0)  # here
    """)
    assert cell.finding.code == "# What the rule returns:\n(g,)"
    assert f"<lambda> is defined at {cell.file}:3." in cell.said


def test_several_returns_are_not_told_apart() -> None:
    cell = Cell("""
        @jax.custom_vjp
        def f(x): return x
        def rule(res, g):
            if res is None:
                return g
            return (g,)
        f.defvjp(lambda x: (x, None), rule)
        jax.grad(f)(1.0)  # here
    """)
    assert f"rule is defined at {cell.file}:4." in cell.said
    assert cell.finding.code is None
