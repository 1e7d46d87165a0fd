"""What a function may call is known by the objects that it reads, and nothing of the user's runs for it."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.called_code import calls_of


def deep(v: Any) -> float:
    return float(v)


class Meter:
    @staticmethod
    def running(v: Any) -> float:
        return float(v)

    @classmethod
    def of(cls, v: Any) -> float:
        return float(v)


class Smooth:
    def __call__(self, v: Any) -> float:
        return float(v)

    def __getitem__(self, key: str) -> Any:
        raise AssertionError("the user's code runs")


class Proxy:
    def known(self, v: Any) -> Any:
        return v

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("the user's code runs")


class Point(NamedTuple):
    x: float


smooth, proxy, array = Smooth(), Proxy(), jnp.ones(3)
hooks = {"m": deep, "k": [1]}
bound, part = proxy.known, functools.partial(deep, 0.5)
mapped, compiled, vectorized = jax.vmap(deep), jax.jit(deep), np.vectorize(deep)
own = types.ModuleType("own")
own.__dict__.update(near=deep, inner=types.ModuleType("inner"))
own.inner.__dict__["away"] = deep


@pytest.mark.parametrize(
    ("caller", "calls"),
    [
        (lambda v: Meter.running(v), {"Meter.running": ["running"]}),
        (lambda v: Meter.of(v), {"Meter.of": ["of"]}),
        (lambda v: smooth(v), {"smooth": ["__call__"], "smooth[]": None}),
        (lambda v: proxy.known(v), {"proxy.known": ["known"], "proxy.proxy": None}),
        (lambda v: proxy.other(v), {"proxy.other": None, "proxy.proxy": None}),
        (lambda v: hooks["m"](v), {"hooks[]": ["deep"], "hooks.get()": ["deep"]}),
        (lambda v: own.near(v), {"own.near": ["deep"]}),
        (lambda v: own.inner.away(v), {"own.inner.away": ["deep"]}),
        (lambda v: bound(part(v)), {"bound": ["known"], "part": ["deep"]}),
        (lambda v: mapped(vectorized(v)), {"mapped": ["deep"], "vectorized": ["deep"]}),
        (lambda v: compiled(v), {}),  # what is jitted reads no values
        (lambda v: jnp.max(array.sum() + v), {}),
        (lambda v: Point(v), {}),
    ],
)
def test_objects_tell_what_runs(caller: types.FunctionType, calls: dict[str, list[str] | None]) -> None:
    found = {text: None if run is None else [each.__name__ for each in run] for text, run in calls_of(caller).items()}
    assert found == calls


def test_functions_around_a_function_are_found() -> None:
    def make(hook: Callable[[Any], Any]) -> Any:
        return lambda v: hook(v)

    assert calls_of(make(deep)) == {"hook": (deep,)}
