"""JAX's explanations are intercepted, and their exceptions do not reach the measured code."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.compilation.analysis import cache_keys, jax_explanations
from jaxmagic.compilation.capture.cache_miss_log import MissLog
from jaxmagic.runtime import private_api


class Unprintable:
    """A static argument whose ``__repr__``, called by JAX's explanation, raises."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __hash__(self) -> int:
        return hash(self.factor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unprintable) and self.factor == other.factor

    def __repr__(self) -> str:
        raise RuntimeError("not to be printed")


class Incomparable(Unprintable):
    """A static argument whose ``__eq__`` raises unless the values are equal."""

    __hash__ = Unprintable.__hash__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Incomparable) or self.factor != other.factor:
            raise ValueError("not to be compared")
        return True


def twice(kind: type[Unprintable], *, by_name: bool) -> list[float]:
    """Call a function with two static arguments."""
    f: Any = functools.partial(jax.jit, static_argnames="by")(lambda x, by: x * by.factor)
    x = jnp.ones(3)
    return [float((f(x, by=kind(n)) if by_name else f(x, kind(n)))[0]) for n in (2, 3)]


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("kind", [Unprintable, Incomparable])
def test_static_arguments_that_cannot_be_told_harm_nothing(kind: type[Unprintable], by_name: bool) -> None:
    try:
        twice(kind, by_name=by_name)
    except ValueError:
        pytest.skip("this JAX compares them also without us")
    jax.clear_caches()
    with jaxmagic.stopwatch() as watch:
        watch.result = found = twice(kind, by_name=by_name)
    assert found == [2, 3]
    causes = [each.cause for each in watch.timing.compilations if each.function == "<lambda>"]
    assert len(causes) == 2
    assert "by may have a different value" in causes[1].reason
    assert "by.factor: 3 now, 2 before" in causes[1].reason


def test_a_static_argument_may_be_written_to() -> None:
    f: Any = functools.partial(jax.jit, static_argnums=1)(lambda x, by: x * by.factor)
    x, by = jnp.ones(3), Unprintable(2)
    alone: Any = functools.partial(jax.jit, static_argnums=1)(lambda x, by: x * by.factor)
    expected = []
    for by.factor in (2, 3, 4):
        expected.append(float(alone(x, by)[0]))
    found = []
    with jaxmagic.stopwatch() as watch:
        for by.factor in (2, 3, 4):
            found.append(float(f(x, by)[0]))
        watch.result = found
    assert found == expected  # on some versions JAX finds the first program again


def test_the_line_of_the_call_is_the_users(monkeypatch: Any) -> None:
    told: list[str] = []
    monkeypatch.setattr(MissLog, "filter", lambda _, record: told.append(record.getMessage()))
    with jaxmagic.stopwatch() as watch:
        watch.result = jax.jit(lambda x: x - 63)(jnp.ones(3))
    (call_site,) = [jax_explanations.call_site(each) for each in told if "<lambda>" in each]
    assert call_site.startswith(__file__)


def test_jax_has_its_own_function_back() -> None:
    place = private_api._explaining_place()
    assert place is not None
    before = getattr(*place)
    with jaxmagic.stopwatch() as watch:
        during = getattr(*place)
        watch.result = 1
    assert during is not before
    assert during.function is before
    assert getattr(*place) is before


def test_without_jaxs_function_nothing_is_guarded(monkeypatch: Any) -> None:
    monkeypatch.setattr(private_api, "_explaining_place", lambda: None)
    private_api.guard_explanations(cache_keys.ranked)
    private_api.release_explanations()
    with jaxmagic.stopwatch() as watch:
        watch.result = jax.jit(lambda x: x + 62)(jnp.ones(3))
    assert [each.cause.kind for each in watch.timing.compilations if each.function == "<lambda>"] == ["first call"]
