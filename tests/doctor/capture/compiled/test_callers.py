"""Which of the arrays that a call passes share their memory with others, or may."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.doctor.capture.compiled import callers


class Computed:
    """Stands for an array."""

    def __init__(self, *, ready: bool) -> None:
        self.is_ready = lambda: ready


def test_an_array_shares_its_memory_with_another_one_that_is_alive() -> None:
    one, other = jnp.ones(3), jnp.ones(3)
    again = jax.device_put(one, jax.devices()[0])
    assert callers._shared([one, other]) == ({id(one)} if again is not one else set())


def test_where_addresses_are_unknown_arrays_share_that_are_passed_twice_or_not_computed_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing: Any = lambda *_: []  # noqa: E731
    for name in ("alive", "survey", "share"):
        monkeypatch.setattr(callers, name, nothing)
    monkeypatch.setattr(callers, "_WAIT_NS", 0)
    late, twice = Computed(ready=False), Computed(ready=True)
    assert callers._shared([late, Computed(ready=True)]) == {id(late)}
    assert callers._shared([twice, twice, Computed(ready=True)]) == {id(twice)}
