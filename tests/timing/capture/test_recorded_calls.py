from __future__ import annotations

import warnings
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


async def begun_by_nobody() -> Any:
    return jnp.ones(3) + 1


def leaves_another_one() -> Any:
    begun_by_nobody()
    return begun_by_nobody()


@pytest.mark.parametrize("verb", [jaxmagic.profile, jaxmagic.diagnose])
@pytest.mark.parametrize(("fn", "own"), [(begun_by_nobody, 0), (leaves_another_one, 1)])
def test_a_coroutine_that_a_call_returns_is_dropped_without_a_warning(
    verb: Callable[..., Any], fn: Callable[[], Any], own: int
) -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        record = verb(fn)
    told = [each for each in shown if "never awaited" in str(each.message)]
    assert {each.filename for each in told} == ({__file__} if own else set())
    assert "The result is a coroutine that has not run" in str(record)
