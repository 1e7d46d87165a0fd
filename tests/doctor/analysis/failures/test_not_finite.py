"""NaN under ``jax_debug_nans``: the remedy keeps the user's own operand in the domain, or gives no code."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from failing_cells import Cell

#: The failing expression, and what is advised. `x` is another argument.
READ = {
    "a function": ("jnp.log(z)", "jnp.log(jnp.where(z > 0, z, 1))"),
    "arithmetic": ("jnp.sqrt(z - x)", "jnp.sqrt(jnp.where(z - x >= 0, z - x, 1))"),
    "a part of the statement": ("x + jnp.log1p(3 * z)", "jnp.log1p(jnp.where(3 * z > -1, 3 * z, 1))"),
    "the first of two": ("jnp.log(z) + jnp.log(x)", "jnp.log(jnp.where(z > 0, z, 1))"),
    "a quotient": ("(z + 2) / (z + 2)", "(z + 2) / jnp.where(z + 2 != 0, z + 2, 1)"),
    "a remainder": ("x % (z + 2)", "x % jnp.where(z + 2 != 0, z + 2, 1)"),
    "a function with two arguments": (
        "jnp.divide(z + 2, z + 2)",
        "jnp.divide(z + 2, jnp.where(z + 2 != 0, z + 2, 1))",
    ),
    "a power": ("z ** 0.5", "jnp.where(z >= 0, z, 1) ** 0.5"),
    "a negative power": ("z ** -0.5", "jnp.where(z > 0, z, 1) ** (-0.5)"),
    "an interval": ("jnp.arcsin(z)", "jnp.arcsin(jnp.where(jnp.abs(z) <= 1, z, 0))"),
    "a function of lax": ("lax.rsqrt(z)", "lax.rsqrt(jnp.where(z > 0, z, 1))"),
    "a function of another name": ("ln(z)", "ln(jnp.where(z > 0, z, 1))"),
    "an element": ("jnp.log({'a': z}['a'])", "jnp.log(jnp.where({'a': z}['a'] > 0, {'a': z}['a'], 1))"),
    "a reduction": ("jnp.log(z.sum())", "jnp.log(jnp.where(z.sum() > 0, z.sum(), 1))"),
}

HEAD = """
from jax.numpy import log as ln
def f(x, z):
    return {line}  # here
with jax.debug_nans(True):
    result = {transform}(f{option})(jnp.float32(3), jnp.float32(-2))
"""


def _cell(line: str, transform: str = "jax.jit", option: str = "") -> Cell:
    return Cell(HEAD.format(line=line, transform=transform, option=option))


@pytest.mark.parametrize("name", READ)
def test_the_example_has_the_operand_of_the_failing_expression(name: str) -> None:
    line, example = READ[name]
    cell = _cell(line)
    assert cell.finding.line == cell.here
    assert f"put another number in its place before it: {example}." in cell.said


@pytest.mark.parametrize("name", READ)
def test_the_example_has_finite_results_and_gradients(name: str) -> None:
    _, example = READ[name]
    for transform in ("jax.jit", "jax.grad"):
        option = ", argnums=1" if transform == "jax.grad" else ""
        assert _cell(example, transform, option).error is None


@pytest.mark.parametrize(
    ("name", "at", "strict"),
    [
        ("jnp.sqrt(z)", 0.0, "z > 0"),
        ("jnp.power(z, 0.5)", 0.0, "z > 0"),
        ("z ** 0.5", 0.0, "z > 0"),
        ("jnp.arcsin(z)", -1.0, "jnp.abs(z) < 1"),
        ("jnp.arccosh(z)", 1.0, "z > 1"),
    ],
)
def test_at_the_edge_of_the_domain_the_gradient_needs_a_strict_condition(name: str, at: float, strict: str) -> None:
    said = _cell(name).said
    advised = "<" if "<" in strict else ">"
    edge = "-1 and 1" if "abs" in strict else f"{at:g}"
    assert f"For jax.grad, write {advised} in place of {advised}=: at {edge} the derivative can be infinite." in said
    example = said.partition("before it: ")[2].partition(". For jax.grad")[0]
    for written, finite in ((example, False), (example.replace(f"{advised}=", advised), True)):
        gradient = jax.grad(eval(f"lambda z: {written}", {"jnp": jnp}))(at)
        assert bool(jnp.isfinite(gradient)) is finite


@pytest.mark.parametrize("line", ["z ** 1.5", "jnp.log(z)", "(z + 2) / (z + 2)"])
def test_where_no_derivative_is_infinite_nothing_is_said_of_it(line: str) -> None:
    said = _cell(line).said
    assert "before it: " in said
    assert "infinite" not in said


@pytest.mark.parametrize(
    "line",
    [
        "jax.vmap(jnp.log)(z[None])",
        "jax.scipy.special.logit(z)",
        "jnp.log(*[z])",
        "jnp.log(layer(z))",  # a second call may make other parameters
        "0 * z / jnp.linalg.norm(0 * z)",  # where() behind norm() is too late for the gradient
        "jnp.log(0 * z / jnp.sqrt(z + 2))",
        "pow(z, 0.5)",
    ],
)
def test_no_code_where_the_operand_cannot_be_read_or_not_be_repeated(line: str) -> None:
    cell = Cell("layer = lambda v: v\n" + HEAD.format(line=line, transform="jax.jit", option=""))
    assert cell.finding.line == cell.here
    assert cell.finding.remedy is not None
    assert cell.finding.remedy.facts.get("example", "") == ""
    assert "x" not in cell.said.partition("Replace ")[2].split()
    assert "where()" in cell.said


def test_no_code_for_a_derivative_of_the_line() -> None:
    cell = Cell("""
        def f(x, z):
            return jnp.where(z > 0, jnp.sqrt(z), x)
        with jax.debug_nans(True):
            jax.grad(f, argnums=1)(1.0, 0.0)  # here
    """)
    assert cell.finding.line == cell.here
    assert "Find out for which inputs it does, and replace these before the operation" in cell.said


def test_an_operand_in_another_function() -> None:
    cell = Cell("""
        def entropy(p):
            return -(p * jnp.log(p)).sum()  # here
        def f(x, q):
            return x + entropy(q - 1)
        with jax.debug_nans(True):
            jax.jit(f)(1.0, jnp.zeros(3))
    """)
    assert cell.finding.line == cell.here
    assert "jnp.log(jnp.where(p > 0, p, 1))" in cell.said


def test_an_assignment_with_an_operator() -> None:
    cell = Cell("""
        x = jnp.zeros(3)
        total = x.sum()
        with jax.debug_nans(True):
            x /= total  # here
    """)
    assert cell.finding.line == cell.here
    assert "x /= jnp.where(total != 0, total, 1)" in cell.said


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("jnp.linalg.inv(0 * z * jnp.ones((2, 2)))", "inv needs a matrix that is not singular."),
        ("jnp.linalg.solve(z * jnp.ones((2, 2)), jnp.ones((2, 1)))", "solve needs a matrix that is not singular."),
        ("jnp.linalg.cholesky(z * jnp.eye(2))", "cholesky needs a matrix that is positive definite."),
        ("jax.scipy.linalg.cholesky(z * jnp.eye(2))", "cholesky needs a matrix that is positive definite."),
    ],
)
def test_a_function_of_linear_algebra_needs_another_matrix(line: str, needs: str) -> None:
    cell = _cell(line)
    assert cell.finding.line == cell.here
    assert f"{needs.partition(' ')[0]} returned NaN" in cell.said
    assert needs in cell.said
    assert "Find out first why this one is not" in cell.said
    assert "a + 1e-6 * jnp.eye(a.shape[-1]). Otherwise the result is that of another matrix." in cell.said
    assert ("take singular matrices" in cell.said) == ("not singular" in needs)


@pytest.mark.parametrize("name", ["inv", "solve"])
def test_a_multiple_of_the_identity_makes_a_matrix_that_is_not_singular(name: str) -> None:
    more = ", jnp.ones((2, 1))" if name == "solve" else ""
    cell = _cell(f"jnp.linalg.{name}(0 * z * jnp.ones((2, 2)) + 1e-6 * jnp.eye(2){more})")
    assert cell.error is None


@pytest.mark.parametrize(
    "line",
    [
        "jax.grad(lambda x: jnp.where(x > 0, jnp.log(x), 0.0).sum())(jnp.array([0.0, 1.0]))",
        "jax.grad(lambda x: jnp.where(x > 0, x * jnp.log(x), 0.0))(0.0)",
    ],
)
def test_a_derivative_divides_where_the_line_does_not(line: str) -> None:
    with jax.debug_nans(False):
        assert not jnp.isfinite(eval(line)).all()
    cell = Cell(f"with jax.debug_nans(True):\n    {line}  # here")
    assert cell.finding.line == cell.here
    multiplies = "so can derivatives of log, sqrt and norm at 0" in cell.said
    assert multiplies or "does not apply it: a function that it calls does, or a derivative." in cell.said
    assert "a divisor other than zero" not in cell.said
    mended = line.replace("jnp.log(x)", "jnp.log(jnp.where(x > 0, x, 1))")
    assert jnp.isfinite(eval(mended)).all()


@pytest.fixture
def filtered() -> Iterator[None]:
    """Let JAX drop its own frames, as outside of IPython."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "quiet_remove_frames")
    yield
    jax.config.update("jax_traceback_filtering", before)


@pytest.mark.parametrize(
    ("called", "operation"),
    [
        ("lax.scan(lambda c, y: (c + body(y), y), 0.0, x[None])[0]", "scan"),
        ("lax.fori_loop(0, 3, lambda i, c: body(c), x)", "scan"),
        ("lax.while_loop(lambda c: c < 3, body, x)", "while"),
        ("lax.cond(x < 0, body, lambda y: y, x)", "cond"),
    ],
)
def test_an_operation_inside_a_loop_is_found_without_jit(called: str, operation: str, filtered: None) -> None:
    source = """
        def body(y):
            return jnp.log(y){inside}
        def f(x):
            return {called}{outside}
        with jax.debug_nans(True){context}:
            jax.jit(f)(jnp.float32(-1))
    """
    cell = Cell(source.format(called=called, inside="", outside="  # here", context=""))
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"An operation inside {operation} returned NaN")
    assert "below `with jax.debug_nans(True), jax.disable_jit():`" in cell.said
    with jax.debug_nans(True):
        assert "below `with jax.disable_jit():`" in cell.said
    cell = Cell(source.format(called=called, inside="  # here", outside="", context=", jax.disable_jit()"))
    assert cell.finding.line == cell.here
    assert cell.said.startswith("log returned NaN")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("invalid value (nan) encountered in div", "NaN, which jax_debug_nans makes an error."),
        ("invalid value (inf) encountered in div", "infinity, which jax_debug_infs makes an error."),
    ],
)
def test_the_value_that_jax_names_is_said(text: str, said: str) -> None:
    cell = Cell(f"""
        with jax.debug_nans({"nan" in text}), jax.debug_infs({"inf" in text}):
            jnp.{"zeros" if "nan" in text else "ones"}(2) / jnp.zeros(2)  # here
    """)
    assert cell.said.startswith(f"div returned {said}")


def test_a_number_is_not_replaced() -> None:
    cell = Cell("with jax.debug_nans(True):\n    jnp.zeros(2) / 0  # here")
    assert "where(0" not in cell.said


def test_an_overflow_is_not_explained_by_nan() -> None:
    cell = Cell("x = jnp.full(2, 1e3)\nwith jax.debug_infs(True):\n    jnp.exp(x)  # here")
    assert cell.said.startswith("exp returned infinity")
    remedy = cell.said.splitlines()[-1]
    assert "NaN" not in remedy
    assert "jnp.finfo(x.dtype).max" in remedy


MASKED = """
    import types
    nn = types.ModuleType("library.nn")  # which has functions of JAX, as flax.linen does
    nn.softmax, nn.log_softmax = jax.nn.softmax, jax.nn.log_softmax
    def attend(s, mask):
        s = jnp.where(mask, s, {masked})
        return {called}  # here
    with jax.debug_nans(True):
        result = attend(jnp.ones((2, 3)), jnp.array([[True], [False]]))
"""


@pytest.mark.parametrize("called", ["jax.nn.softmax(s)", "nn.softmax(s) @ s.T", "nn.log_softmax(s)"])
def test_softmax_of_a_row_that_is_masked_completely(called: str) -> None:
    cell = Cell(MASKED.format(called=called, masked="-jnp.inf"))
    assert cell.finding.line == cell.here
    assert "softmax subtracts the largest element of each row from all of them." in cell.said
    assert "jnp.finfo(x.dtype).min" in cell.said
    assert Cell(MASKED.format(called=called, masked="jnp.finfo(s.dtype).min")).error is None
