"""The functions in which JAX waits are where they have been."""

from __future__ import annotations

import jax

from jaxmagic.timing.capture.wait_points import wait_points

#: Two classes of JAX have ``block_until_ready``.
NAMES = ["__dlpack__", "_value", "batched_block_until_ready", "block_until_ready", "block_until_ready", "item"]


def test_no_function_in_which_jax_waits_has_moved() -> None:
    found = sorted(point.name for point in wait_points() if point.name != "__buffer__")  # from Python 3.12 on
    assert found == NAMES, f"JAX {jax.__version__} waits elsewhere: code_wait_ns misses what waits there"
