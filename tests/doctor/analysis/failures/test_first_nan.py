"""NaN in a gradient under ``jit``: the line, whether it is a value or a derivative, and where infinity was made."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell


@pytest.fixture(autouse=True)
def whole_tracebacks() -> Iterator[None]:
    """Keep JAX's frames in tracebacks, as in IPython."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")
    yield
    jax.config.update("jax_traceback_filtering", before)


CONTRASTIVE = """
    def loss(w, a, b):
        za, zb = a @ w, b @ w
        dist = jnp.sqrt(jnp.sum((za - zb) ** 2, -1))  # here
        return jnp.mean(jnp.maximum(0.0, 1.0 - dist))
    calls = []
    @jax.jit
    def train(w, a, b):
        calls.append(1)
        v, g = jax.value_and_grad(loss)(w, a, b)
        return w - g, v
    a = jnp.arange(6.0).reshape(3, 2)
    with jax.debug_nans(True):
        train(jnp.eye(2), a, a.at[1].add(1))
"""

ENTROPY = """
    @jax.jit
    def entropy_loss(logits):
        p = jax.nn.softmax(logits * 200)
        return -jnp.mean(jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0), -1))  # here
    with jax.debug_nans(True):
        {gradient}(jnp.arange(4.0))
"""


def test_a_root_of_zero_is_named_where_a_jitted_step_computes_its_gradient() -> None:
    cell = Cell(CONTRASTIVE)
    before = list(cell.names["calls"])
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The derivative of (za - zb) ** 2 has NaN, which jax_debug_nans makes an error.")
    assert "mul computed 0 times infinity." in cell.said
    root = "jnp.sqrt(jnp.sum((za - zb) ** 2, -1))"
    assert f"The infinity comes from the derivative of {root} at {cell.here}." in cell.said
    assert "v, g = jax.value_and_grad(loss)(w, a, b). To find the operation" in cell.said
    assert f"{root} has an infinite derivative at 0." in cell.said
    assert cell.names["calls"] == before


def test_the_code_for_a_root_has_the_same_loss_and_a_finite_gradient() -> None:
    cell = Cell(CONTRASTIVE)
    code = cell.finding.code
    assert code is not None
    mended = cell.rewritten(code)
    assert mended.error is None
    w, a = jnp.eye(2), jnp.arange(6.0).reshape(3, 2)
    b = a.at[1].add(1)
    assert mended.names["loss"](w, a, b) == cell.names["loss"](w, a, b)


@pytest.mark.parametrize("gradient", ["jax.grad(entropy_loss)", "jax.jit(jax.grad(entropy_loss))"])
def test_where_behind_a_logarithm_is_explained_and_mended(gradient: str) -> None:
    cell = Cell(ENTROPY.format(gradient=gradient))
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The derivative of p * jnp.log(p) has NaN")
    assert "mul computed 0 times infinity." in cell.said
    assert (f"The infinity was made by log in jnp.log(p) at {cell.here}." in cell.said) is ("jit" in gradient)
    assert ("It is not known where the infinity comes from" in cell.said) is ("jit" not in gradient)
    assert ("A later operation on the result can make it" in cell.said) is ("jit" not in gradient)
    example = "jnp.log(jnp.where(p > 0, p, 1))"
    assert f"put another number in its place before the operation: {example}." in cell.said
    assert Cell(ENTROPY.replace("jnp.log(p)", example).format(gradient=gradient)).error is None


@pytest.mark.parametrize(
    ("line", "argument", "found", "said"),
    [
        (
            "y = jnp.arctan2(x[0], x[1])",
            "jnp.zeros(2)",
            "The derivative of jnp.arctan2(x[0], x[1]) has NaN",
            "div computed 0 / 0.",
        ),
        (
            "y = x[0] * x[1] ** 0.5",
            "jnp.zeros(2)",
            "NaN",
            "x[1] ** 0.5 has an infinite derivative at 0.",
        ),
        (
            "y = jnp.linalg.norm(x, axis=-1)",
            "jnp.zeros(2)",
            "The derivative of jnp.linalg.norm(x, axis=-1) has NaN",
            "has an infinite derivative at 0.",
        ),
        (
            "y = lax.scan(lambda c, t: (c + (t - t) / (c - c), c), x[0], jnp.ones(3))[0]",
            "jnp.ones(2)",
            "div returned NaN",
            "It is inside the scan",
        ),
    ],
)
@pytest.mark.parametrize("transform", ["jax.jit(jax.grad({}))", "jax.jit(jax.vmap(jax.grad({})))"])
def test_the_line_and_the_cause_are_found(line: str, argument: str, found: str, said: str, transform: str) -> None:
    given = f"{argument}[None]" if "vmap" in transform else argument
    cell = Cell(f"""
        def f(x):
            {line}  # here
            z = jnp.sin(x)
            return jnp.sum(y) + jnp.sum(z)
        with jax.debug_nans(True):
            {transform.format("f")}({given})
    """)
    assert cell.finding.line == cell.here
    assert found in cell.said.splitlines()[0]
    assert said in cell.said
    without = cell.rewritten("y = x * 2")  # the line was found by hand: without it, nothing is NaN
    assert without.error is None
    if cell.finding.code is not None:
        assert cell.rewritten(cell.finding.code).error is None


def test_infinity_that_the_code_writes_is_found() -> None:
    cell = Cell("""
        def f(x):
            masked = jnp.where(x > 0, x, -jnp.inf)
            return jax.nn.softmax(masked)  # here
        with jax.debug_nans(True):
            jax.jit(f)(jnp.zeros(2))
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("sub in jax.nn.softmax(masked) returned NaN")
    assert "in place of the infinity in jnp.where(x > 0, x, -jnp.inf)" in cell.said


def test_nan_in_an_argument_is_not_explained_by_an_operation() -> None:
    cell = Cell("""
        bad = {"x": jnp.array([1.0, jnp.nan])}
        @jax.jit
        def f(y, data):
            return jnp.sum(jnp.tanh(y) + data["x"])  # here
        with jax.debug_nans(True):
            f(1.0, bad)
    """)
    assert cell.said.startswith("The argument data['x'] of the jitted function already had NaN")
    assert "where()" not in cell.said


def test_an_unknown_line_is_said_to_be_unknown_with_what_to_run() -> None:
    jax.config.update("jax_traceback_filtering", "quiet_remove_frames")
    cell = Cell(CONTRASTIVE.replace("  # here", ""))
    assert cell.finding.source == "v, g = jax.value_and_grad(loss)(w, a, b)"
    assert "The line with this operation is unknown" in cell.said
    assert "where()" not in cell.said
    assert (
        cell.finding.code == "with jax.debug_nans(True), jax.disable_jit():\n    train(jnp.eye(2), a, a.at[1].add(1))"
    )
    again = Cell(CONTRASTIVE.replace("train(jnp", "with jax.disable_jit():\n            train(jnp"))
    assert f"It comes from an operation at {again.here} that JAX transformed" in again.said


def test_values_that_take_much_memory_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jaxmagic.doctor.capture.failures.traced.computed._MOST_BYTES", 1)
    cell = Cell(CONTRASTIVE)
    assert cell.finding.line == cell.here  # JAX's calls tell whose derivative it was
    assert cell.said.startswith("The derivative of (za - zb) ** 2 has NaN")
    assert "none of your code ran" not in cell.said


@pytest.mark.parametrize(
    ("call", "needs"),
    [
        ("jnp.linalg.cholesky(m - 0.4 * jnp.eye(2))", "cholesky needs a matrix that is positive definite."),
        ("jnp.linalg.inv(m - m)", "inv needs a matrix that is not singular."),
        ("jax.scipy.linalg.cholesky(m - 2 * jnp.eye(2))", "cholesky needs a matrix that is positive definite."),
    ],
)
def test_a_matrix_that_has_no_decomposition_inside_a_loop_is_what_the_remedy_is_about(call: str, needs: str) -> None:
    cell = Cell(f"""
        def body(m, _):
            return {call}, None  # here
        with jax.debug_nans(True):
            jax.jit(lambda m: lax.scan(body, m, length=5)[0])(jnp.eye(2))
    """)
    assert cell.finding.line == cell.here
    assert needs in cell.said
    assert "jnp.where" not in cell.said


ENERGY = """
    def energy(x):
        d = x[:, None] - x[None]
        r = {root}
        return {value}  # here
    with jax.debug_nans(True):
        g = jax.jit(jax.grad(energy))(jnp.arange(6.0).reshape(2, 3))
"""


@pytest.mark.parametrize(
    "root", ["jnp.sqrt((d ** 2).sum(-1))", "jnp.linalg.norm(d, axis=-1)", "jnp.sum(d ** 2, -1) ** 0.5"]
)
@pytest.mark.parametrize("value", ["jnp.where(r > 0, 1 / r, 0.0).sum()", "jnp.where(r > 0, jnp.log(r), 0.0).sum()"])
def test_a_root_on_a_line_before_is_mended_at_once(root: str, value: str) -> None:
    cell = Cell(ENERGY.format(root=root, value=value))
    assert f"r = {root} has an infinite derivative at 0, so NaN would follow there" in cell.said
    assert cell.finding.code is not None
    *first, last = cell.finding.code.splitlines()
    before = "\n        ".join(first)
    source = ENERGY.replace("r = {root}", "{before}").replace("return {value}", "{last}")
    mended = Cell(source.format(before=before, last=last))
    assert mended.error is None
    assert bool(jnp.isfinite(mended.names["g"]).all())
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(mended.names["energy"](x), cell.names["energy"](x), rtol=1e-6)


@pytest.mark.parametrize("root", ["(d ** 2).sum(-1)", "jnp.exp(d).sum(-1) - 3", "jnp.sqrt(jnp.abs(d).sum(-1)) * 1.0"])
def test_another_operand_is_mended_alone(root: str) -> None:
    cell = Cell(ENERGY.format(root=root, value="jnp.where(r > 0, 1 / r, 0.0).sum()"))
    assert "Where its operand is not, put another number in its place before the operation: 1 / " in cell.said
    assert "NaN would follow" not in cell.said
    assert cell.finding.code is None
