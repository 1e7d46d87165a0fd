"""Arrays of failed programs have no memory, and are not asked for their address: that never returns."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.memory_use.capture.array_survey import alive, share, survey
from jaxmagic.memory_use.capture.live_arrays import list_live_arrays
from jaxmagic.memory_use.capture.usage_readings import array_bytes
from jaxmagic.timing.capture.wait import has_failed


@pytest.fixture
def failed() -> Iterator[list[Any]]:
    """Arrays of a program that runs out of memory, and of two that take its result, of one size."""
    following = jax.jit(lambda y: y + 1)
    first = jax.jit(lambda p: jnp.sort(p[:, None] * p, axis=0)[0])(jnp.ones(3_000_000))
    second = following(first)
    made = [first, second, following(second)]
    for each in made:
        with pytest.raises(Exception, match="Out of memory"):
            each.block_until_ready()
    yield made
    made.clear()


def test_they_are_known_without_a_wait(failed: list[Any]) -> None:
    assert all(map(has_failed, failed))
    assert not has_failed(jnp.ones(3).block_until_ready())


def test_they_are_in_no_survey_and_take_no_bytes(failed: list[Any]) -> None:
    gc.collect()  # arrays of other tests
    assert not {id(each.array) for each in share(survey(alive()))} & set(map(id, failed))
    names = [name for each in list_live_arrays({"failed": failed[2]}).arrays for name in each.names]
    assert "failed" not in names
    with_them = array_bytes(jax.devices())
    failed.clear()
    assert array_bytes(jax.devices()) == with_them
