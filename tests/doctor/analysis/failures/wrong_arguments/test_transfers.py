"""Transfers that ``jax.transfer_guard`` forbids: what the line transfers, and how to do it explicitly."""

from __future__ import annotations

import pytest
from failing_cells import Cell

GUARD = "x, a = jnp.ones(3), np.ones(3, np.float32)\nwith jax.transfer_guard('disallow'):\n"


@pytest.mark.parametrize(
    ("code", "type", "explicit"),
    [
        ("y = jnp.sin(a)", "f32[3]", "y = jnp.sin(jax.device_put(a))"),
        ("y = x * a", "f32[3]", "y = x * jax.device_put(a)"),
        ("y = jax.jit(lambda b: b + 1)(a)", "f32[3]", "y = jax.jit(lambda b: b + 1)(jax.device_put(a))"),
        ("y = x[1]", "i32[]", ""),
    ],
)
def test_a_transfer_to_the_device(code: str, type: str, explicit: str) -> None:
    cell = Cell(f"{GUARD}    {code}  # here")
    if cell.error is None:
        pytest.skip("this JAX transfers nothing here")
    assert cell.finding.line == cell.here
    assert f"transfers a NumPy array or a Python number ({type}) to a device, which jax.transfer_guard " in cell.said
    assert "jax.device_put(x)" in cell.said
    assert cell.rewritten(f"with jax.transfer_guard('allow'): {code}").error is None
    if explicit:
        assert cell.rewritten(explicit).error is None
