from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

import jaxmagic


@pytest.mark.parametrize("verb", [jaxmagic.profile, jaxmagic.diagnose])
def test_calls_that_fail_leave_a_record_and_keep_no_argument(verb: Callable[..., Any]) -> None:
    calls = []

    def fails_later(x: Any) -> Any:
        calls.append(x.shape)
        if len(calls) == 2:
            raise ZeroDivisionError
        return x + 1

    argument = jnp.ones(3)
    kept = weakref.ref(argument)
    extra = {"repeat": True} if verb is jaxmagic.diagnose else {"n": 3}
    with pytest.raises(ZeroDivisionError):
        verb(fails_later, argument, **extra)
    record = jaxmagic.last()
    assert record.error == "ZeroDivisionError"
    assert calls == [(3,), (3,)]
    del argument
    assert kept() is None
