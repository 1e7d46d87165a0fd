"""Functions, devices and keys that stand in the wrong place, or are missing."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = """
def f(x, y=2.0): return (x * y).sum()
def body(c, x): return c, x
x, seed = jnp.ones(3), 3
"""


def failing(code: str) -> Cell:
    return Cell(f"{VALUES}\n{code}  # here")


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("y = jax.vmap(f, x)", "y = jax.vmap(f)(x)"),
        ("y = jax.grad(f, x)", "y = jax.grad(f)(x)"),
        ("y = jax.grad(f, x)(x)", "y = jax.grad(f)(x)"),
        ("y = jax.grad(f, 1.0)", "y = jax.grad(f)(1.0)"),
        ("y = jax.jit(f, x)", "y = jax.jit(f)(x)"),
        ("y = jax.value_and_grad(f, x, x)", "y = jax.value_and_grad(f)(x, x)"),
        ("y = jax.hessian(lambda x: x.sum(), x)", "y = jax.hessian(lambda x: x.sum())(x)"),
        ("y = jax.grad(f, x)(x + 1)", None),
    ],
)
def test_arguments_beside_the_function(code: str, written: str | None) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert "takes a function and returns another one, but gets the arguments of that function as well" in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("lax.fori_loop(lambda i, c: c + i, 0, 3, x)", "lax.fori_loop(0, 3, lambda i, c: c + i, x)"),
        ("lax.fori_loop(0, 3, x, lambda i, c: c + i)", "lax.fori_loop(0, 3, lambda i, c: c + i, x)"),
        ("y = lax.fori_loop(0, 3, x, f)", "y = lax.fori_loop(0, 3, f, x)"),
        (
            "lax.while_loop(lambda c: c < 3, 0, lambda c: c + 1)",
            "lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0)",
        ),
        (
            "lax.while_loop(0, lambda c: c < 3, lambda c: c + 1)",
            "lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0)",
        ),
        ("lax.scan(0.0, body, x)", "lax.scan(body, 0.0, x)"),
        ("lax.scan(0.0, x, body)", "lax.scan(body, 0.0, x)"),
        ("lax.associative_scan(x, jnp.add)", "lax.associative_scan(jnp.add, x)"),
        ("lax.map(x, jnp.sin)", "lax.map(jnp.sin, x)"),
        ("lax.fori_loop(0, 3, x, x)", None),
        ("lax.while_loop(x, x, x)", None),
    ],
)
def test_functions_in_other_places(code: str, written: str | None) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert "gets a value where it needs a function.\nIt takes, in this order: " in cell.said
    assert cell.finding.code == written
    if written is not None and "fori_loop(0, 3, f" not in written:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("jax.device_put(x, 'cpu')", "jax.device_put(x, jax.devices('cpu')[0])"),
        ("jax.device_put(x, 'cpu:0')", "jax.device_put(x, jax.devices('cpu')[0])"),
        ("jax.device_put(x, 0)", "jax.device_put(x, jax.devices()[0])"),
        ("y = jax.device_put(x, device='cpu')", "y = jax.device_put(x, device=jax.devices('cpu')[0])"),
        ("jnp.ones(3, device='cpu')", "jnp.ones(3, device=jax.devices('cpu')[0])"),
        ("jnp.array([1.0], device='cpu')", "jnp.array([1.0], device=jax.devices('cpu')[0])"),
        ("jnp.zeros(3, device='home')", None),
    ],
)
def test_a_name_or_a_number_for_a_device(code: str, written: str | None) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert " stands in place of a device, but is " in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("jax.random.normal(0, (3,))", "gets the number 0", "jax.random.normal(jax.random.key(0), (3,))"),
        ("jax.random.normal(seed, (3,))", "gets the number 3", "jax.random.normal(jax.random.key(seed), (3,))"),
        (
            "jax.random.normal(key=0, shape=(3,))",
            "gets the number 0",
            "jax.random.normal(key=jax.random.key(0), shape=(3,))",
        ),
        ("jax.random.split(42)", "gets the number 42", "jax.random.split(jax.random.key(42))"),
        ("jax.random.uniform(shape=(3,))", "gets none", "jax.random.uniform(jax.random.key(0), shape=(3,))"),
        ("jax.random.normal((3,))", "gets none", "jax.random.normal(jax.random.key(0), (3,))"),
        ("jax.random.normal(3)", "gets the number 3", None),
        ("jax.random.choice(5, (3,))", "gets the number 5", None),
    ],
)
def test_a_seed_or_nothing_for_a_key(code: str, said: str, written: str | None) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert "needs a key as its first argument" in cell.said
    assert said in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("jax.random.key(0.5)", "The seed of a key is a float"),
        ("jax.random.PRNGKey(jax.random.key(0))", "PRNGKey makes a key of a seed, but gets a key."),
        ("jax.random.split(x)", "needs a key, but gets an array of shape (3,)."),
        ("jax.random.bernoulli(0.5)", "needs a key, but gets 0.5."),
    ],
)
def test_other_values_for_seeds_and_keys(code: str, said: str) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    "code",
    [
        "def g(key): ...\ng()",
        "'text'._is_concrete",
        "def jit(f): ...\njit(f, x)",
        "raise TypeError('lax.scan: f argument should be a callable.')",
    ],
)
def test_similar_errors_have_no_explanation(code: str) -> None:
    cell = Cell(f"{VALUES}\n{code}")
    assert cell.error is not None
    assert recognize(cell.error) is None


@pytest.mark.parametrize("maker", ["key", "PRNGKey"])
@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("jax.random.normal((3,), key)", "jax.random.normal(key, (3,))"),
        ("jax.random.uniform((3,), key, minval=0.5)", "jax.random.uniform(key, (3,), minval=0.5)"),
        ("jax.random.bernoulli(0.5, key)", "jax.random.bernoulli(key, 0.5)"),
        ("jax.random.randint((3,), 0, 5, key)", "jax.random.randint(key, (3,), 0, 5)"),
        ("jax.random.normal((3,), key=key)", "jax.random.normal(key, (3,))"),
        ("jax.random.normal((3,), shape=key)", "jax.random.normal(key, shape=(3,))"),
        ("jax.random.normal((3,), dtype=key)", "jax.random.normal(key, (3,))"),
        ("jax.random.normal(key=(3,), shape=key)", "jax.random.normal(key=key, shape=(3,))"),
        ("jax.random.normal(key, key=(3,))", "jax.random.normal(key, shape=(3,))"),
        ("jax.random.split(2, key)", "jax.random.split(key, 2)"),
        ("jax.random.fold_in(2, key)", "jax.random.fold_in(key, 2)"),
        ("jax.random.permutation(jnp.arange(5), key)", "jax.random.permutation(key, jnp.arange(5))"),
        ("jax.random.multivariate_normal(x, jnp.eye(3), key)", "jax.random.multivariate_normal(key, x, jnp.eye(3))"),
        ("jax.random.normal((3,), jax.random.key(1))", "jax.random.normal(jax.random.key(1), (3,))"),
        ("init((3,), key)", "init(key, (3,))"),
    ],
)
def test_a_key_that_is_passed_as_another_argument(maker: str, code: str, written: str) -> None:
    cell = failing(f"key, init = jax.random.{maker}(0), jax.nn.initializers.normal()\n{code}")
    assert cell.finding.line == cell.here
    assert "takes the key first, but gets it as another argument" in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


def test_a_traced_key_that_is_passed_as_another_argument() -> None:
    cell = Cell(
        """
        @jax.jit
        def f(key):
            return jax.random.normal((3,), key)  # here
        f(jax.random.key(0))
        """
    )
    assert cell.finding.code == "return jax.random.normal(key, (3,))"
