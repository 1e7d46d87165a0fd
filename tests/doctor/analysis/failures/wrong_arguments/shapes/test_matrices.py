"""Matrices that are not square, sizes that do not fit a signature, and lists of different lengths."""

from __future__ import annotations

import jax
import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("call", "function"),
    [
        ("jnp.linalg.inv(a)", "jnp.linalg.inv"),
        ("jnp.linalg.det(a)", "jnp.linalg.det"),
        ("jnp.linalg.slogdet(a)", "jnp.linalg.slogdet"),
        ("jnp.linalg.eigh(a)", "jnp.linalg.eigh"),
        ("jax.jit(jnp.linalg.inv)(a)", "jax.jit(jnp.linalg.inv)"),
    ],
)
def test_a_matrix_that_is_not_square(call: str, function: str) -> None:
    cell = Cell(f"a = jnp.ones((3, 4))\n{call}  # here")
    assert cell.finding.line == cell.here
    first, remedy = cell.said.splitlines()[0], cell.said.splitlines()[-1]
    assert first.startswith(f"{function} needs square matrices, but gets an array of shape (3, 4)")
    assert ("pinv" in remedy) == call.startswith("jnp.linalg.inv")


@pytest.mark.parametrize(
    ("shape", "factor", "advice"),
    [
        ((4, 3), "a.T @ a", "decompose x.T @ x. jnp.linalg.qr takes any matrix."),
        ((2, 4, 3), "a.mT @ a", "decompose x.mT @ x. jnp.linalg.qr takes any matrix."),
        ((2, 4), "a.T @ a + 1e-2 * jnp.eye(4)", "x.T @ x plus a small multiple of jnp.eye(4). jnp.linalg.qr"),
    ],
)
def test_the_factor_of_a_covariance(shape: tuple[int, ...], factor: str, advice: str) -> None:
    cell = Cell(f"a = jax.random.normal(jax.random.key(0), {shape})\njnp.linalg.cholesky(a)  # here")
    assert advice in cell.said
    assert ("x needs at least 4 rows" in cell.said) == (shape == (2, 4))
    assert not eval(f"jnp.isnan(jnp.linalg.cholesky({factor})).any()", cell.names)


@pytest.mark.parametrize(
    ("function", "other"), [("eigh", "jnp.linalg.svd takes any matrix."), ("det", "makes the array.")]
)
def test_no_factor_of_a_covariance_is_meant(function: str, other: str) -> None:
    said = Cell(f"jnp.linalg.{function}(jnp.ones((3, 4)))").said
    assert said.endswith(other)
    assert "covariance" not in said


#: Before, JAX checks the shapes itself, and says how they have to be.
vectorized = pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="JAX 0.7 does not vectorize cho_solve")


@pytest.mark.parametrize(
    ("call", "function"),
    [
        ("jnp.linalg.solve(a, b)", "jnp.linalg.solve"),
        pytest.param("jax.scipy.linalg.cho_solve((a, True), b)", "jax.scipy.linalg.cho_solve", marks=vectorized),
    ],
)
def test_a_matrix_of_equations_that_is_not_square(call: str, function: str) -> None:
    cell = Cell(f"a, b = jnp.ones((3, 4)), jnp.ones(5)\n{call}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{function} needs square matrices, but gets an array of shape (3, 4)")


@vectorized
def test_a_flag_is_no_operand() -> None:
    cell = Cell("a, b = jnp.eye(3), jnp.ones(5)\njax.scipy.linalg.cho_solve((a, True), b)  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The arguments do not fit: n in the signature (n,n),(n)->(n) is 5 and 3.")


def test_sizes_that_share_a_letter_in_a_signature() -> None:
    cell = Cell("a, b = jnp.eye(3), jnp.ones(4)\njnp.linalg.solve(a, b)  # here")
    assert cell.finding.line == cell.here
    assert cell.said.splitlines()[0].startswith("a (3, 3) and b (4,) do not fit: m in the signature (m,m),(m)")


def test_sizes_of_a_function_that_the_user_vectorized() -> None:
    cell = Cell("""
        dot = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
        x, y = jnp.ones((5, 3)), jnp.ones(4)
        dot(x, y)  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.splitlines()[0] == ("x (5, 3) and y (4,) do not fit: n in the signature (n),(n)->() is 4 and 3.")


@pytest.mark.parametrize("call", ["jnp.array(rows)", "jnp.asarray([[1.0, 2.0], [3.0]])", "jnp.array([rows, rows])"])
def test_lists_of_different_lengths(call: str) -> None:
    cell = Cell(f"rows = [[1, 2], [3]]\n{call}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("A list holds lists of different lengths or depths, which form no array.")
