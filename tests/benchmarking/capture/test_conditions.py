"""What went on beside samples, and that nobody listens any longer."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.benchmarking.capture.conditions import Surroundings
from jaxmagic.benchmarking.capture.runner import Runner
from jaxmagic.runtime.clock import now_ns


def test_what_compiles_in_the_block_is_in_the_conditions_and_what_compiles_before_is_not(x: Any) -> None:
    jax.jit(lambda x: x + 17)(x)
    with Surroundings(now_ns) as beside:
        jax.jit(lambda x: x + 19)(jnp.ones(3))
    found = beside.conditions_of(Runner(lambda: 1), folded=True)
    assert [each.function for each in found.compilations].count("<lambda>") == 1
    assert found.folded
    assert found.resolution_ns > 0


def test_an_error_in_the_block_comes_through_and_leaves_no_listener(session_state: Any) -> None:
    before = session_state()
    with pytest.raises(ZeroDivisionError), Surroundings(now_ns):
        raise ZeroDivisionError
    assert session_state() == before
