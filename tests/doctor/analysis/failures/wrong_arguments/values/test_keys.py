"""Keys of two kinds, mapped keys, and random numbers of NumPy."""

from __future__ import annotations

import pytest
from failing_cells import Cell


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


def test_random_numbers_of_numpy_and_pickles_of_traced_values() -> None:
    cell = Cell("jax.jit(lambda x: np.random.normal(x))(1.0)  # here")
    assert cell.finding.line == cell.here
    assert "jax.random.normal(key, shape), in place of np.random.normal" in cell.said
    cell = Cell("import pickle\njax.jit(lambda x: pickle.dumps(x))(1.0)  # here")
    assert cell.finding.line == cell.here
    assert "call pickle.dumps with it outside of the traced function" in cell.said
