"""Convolutions of Equinox, which take the channels first."""

from __future__ import annotations

import pytest
from failing_cells import Cell

pytest.importorskip("equinox")

BEGIN = """
import equinox as eqx
conv, x = eqx.nn.Conv{kind}(3, 4, 3, key=jax.random.key(0)), jnp.ones({shape})
"""


@pytest.mark.parametrize(
    ("kind", "shape", "call", "mended"),
    [
        ("2d", (16, 16, 3), "conv(x)", "conv(jnp.moveaxis(x, -1, 0))"),
        ("1d", (16, 3), "conv(x)", "conv(jnp.moveaxis(x, -1, 0))"),
        ("2d", (5, 16, 16, 3), "jax.vmap(conv)(x)", "jax.vmap(lambda x: conv(jnp.moveaxis(x, -1, 0)))(x)"),
    ],
)
def test_the_last_axis_of_each_example_is_moved_to_the_front(
    kind: str, shape: tuple[int, ...], call: str, mended: str
) -> None:
    begin = BEGIN.format(kind=kind, shape=shape)
    said = Cell(f"{begin}y = {call}  # here").said
    assert "Equinox takes one example without a batch, with the channels first" in said
    assert "of size 3, move it to the front of each example: jnp.moveaxis(example, -1, 0)." in said
    assert "flax" not in said
    assert Cell(f"{begin}y = {mended}").error is None
