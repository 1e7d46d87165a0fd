"""Keys of two kinds, mapped keys, and attributes that arrays of other libraries have."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize


@pytest.mark.parametrize("code", ["jnp.where(True, new, old)", "jnp.concatenate([new[None], old])"])
def test_keys_of_two_kinds(code: str) -> None:
    cell = Cell(f"new, old = jax.random.key(0), jax.random.PRNGKey(1)\n{code}  # here")
    assert cell.finding.line == cell.here
    assert "A key of jax.random.key() is combined with an array that is no such key" in cell.said
    assert "jax.random.wrap_key_data(old)" in cell.said


def test_one_key_for_all_elements_of_a_batch() -> None:
    source = """
        def f(key, x): return x + jax.random.normal(key)
        key = jax.random.{}(0)
        jax.vmap(f)(key, jnp.ones(2))
    """
    cell = Cell(source.format("key"))
    assert cell.said.startswith("key has shape (), so it has no axis 0 that jax.vmap could map.")
    assert "jax.random.split(key, n)" in cell.said
    cell = Cell(source.format("PRNGKey"))
    assert cell.said.startswith("jax.vmap maps over the two numbers of a single key of jax.random.PRNGKey()")
    assert "jax.random.split(key, n)" in cell.said


def test_another_argument_than_the_key_may_lack_the_mapped_axis() -> None:
    cell = Cell("key = jax.random.key(0)\njax.vmap(lambda k, x: x, in_axes=(None, 0))(key, 1.0)")
    assert cell.said.startswith("An argument has shape ()")
    assert "split" not in cell.said
    cell = Cell("keys = jax.random.split(jax.random.key(0), 3)\njax.vmap(lambda k, x: x)(keys, 1.0)")
    assert "split" not in cell.said


@pytest.mark.parametrize(
    ("code", "array", "written"),
    [
        ("x.numpy()", "x", "np.asarray(x)"),
        ("x.detach()", "x", "jax.lax.stop_gradient(x)"),
        ("x.append(1)", "x", "x = jnp.append(x, value), or x = jnp.concatenate([x, row[None]]) for rows"),
        ("x.numel()", "x", "x.size"),
        ("x.t()", "x", "x.T"),
        ("x.fill(0)", "x", "x = jnp.full_like(x, value)"),
        ("x.clamp(0, 1)", "x", "jnp.clip(x, low, high)"),
        ("x.masked_fill(x > 0, 1)", "x", "jnp.where(mask, value, x)"),
        ("x.unsqueeze(0)", "x", "jnp.expand_dims(x, axis)"),
        ("(x + 1).exp()", "x + 1", "jnp.exp(x + 1)"),
        ("jax.jit(lambda y: y.relu())(x)", "y", "jax.nn.relu(y)"),
        ("jax.jit(lambda y: y.cpu())(x)", "y", "jnp in place of NumPy"),
    ],
)
def test_attributes_of_other_libraries(code: str, array: str, written: str) -> None:
    cell = Cell(f"x = jnp.ones(3)\n{code}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{array} is a JAX array, which has no ")
    assert written in cell.said


@pytest.mark.parametrize(
    "code",
    ["x.foo", "jnp.foo", "[].numpy()", "type('ArrayImpl', (), {})().numpy", "type('MyTracer', (), {})().numpy"],
)
def test_other_attributes_have_no_explanation(code: str) -> None:
    cell = Cell(f"x = jnp.ones(3)\n{code}")
    assert cell.error is not None
    assert recognize(cell.error) is None


def test_random_numbers_of_numpy_and_pickles_of_traced_values() -> None:
    cell = Cell("jax.jit(lambda x: np.random.normal(x))(1.0)  # here")
    assert cell.finding.line == cell.here
    assert "jax.random.normal(key, shape), in place of np.random.normal" in cell.said
    cell = Cell("import pickle\njax.jit(lambda x: pickle.dumps(x))(1.0)  # here")
    assert cell.finding.line == cell.here
    assert "call pickle.dumps with it outside of the traced function" in cell.said
