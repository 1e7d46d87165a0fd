"""Convolutions whose input, kernel or padding do not fit."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("shape", "kernel", "written"),
    [("(3, 8, 8)", "(4, 3, 3, 3)", "x[None]"), ("(1, 3, 8, 8)", "(3, 3)", "axes for its output and its input")],
)
def test_an_input_and_a_kernel_with_different_axes(shape: str, kernel: str, written: str) -> None:
    cell = Cell(f"""
        x, w = jnp.ones({shape}), jnp.ones({kernel})
        lax.conv_general_dilated(x, w, (1, 1), "SAME")  # here
    """)
    assert cell.finding.line == cell.here
    assert f"the same number of axes, but they are x {shape} and w {kernel}." in cell.said
    assert written in cell.said


def test_a_convolution_under_vmap_lacks_the_batch() -> None:
    cell = Cell("""
        def f(x): return lax.conv(x, jnp.ones((4, 3, 3, 3)), (1, 1), "SAME")  # here
        jax.vmap(f)(jnp.ones((2, 3, 8, 8)))
    """)
    assert cell.finding.line == cell.here
    assert "without the mapped axis" in cell.said
    assert "x[None]" in cell.said


def test_a_padding_without_pairs() -> None:
    source = (
        "x, w = jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3))\nlax.conv_general_dilated(x, w, (1, 1), {})  # here"
    )
    cell = Cell(source.format("(1, 2)"))
    assert cell.finding.line == cell.here
    assert "Write [(1, 1), (2, 2)] to pad both sides alike" in cell.said
    assert Cell(source.format("[(1, 1), (2, 2)]")).error is None
