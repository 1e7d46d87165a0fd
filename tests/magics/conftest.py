"""A real shell with the extension loaded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from shells import Session, open_shell


@pytest.fixture
def bare() -> Iterator[Session]:
    """A shell without the extension."""
    with open_shell() as session:
        yield session


@pytest.fixture
def session(bare: Session) -> Session:
    """A shell with the extension, with JAX imported and a jitted function `f` and an array `x`."""
    bare.run("%load_ext jaxmagic")
    bare.run("import jax, jax.numpy as jnp\nf = jax.jit(lambda x: x * 2)\nx = jnp.ones((8, 8))\ny = f(x)")
    return bare
