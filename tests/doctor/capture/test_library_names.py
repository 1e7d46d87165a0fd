"""Names in the user's functions are known by the objects behind them, whatever they are called."""

from __future__ import annotations

import math
import random
import sys
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as anything
import numpy as np
import pytest
from numpy import tanh as squashed

from jaxmagic.doctor.capture.library_names import library_names, path_of

rng = np.random.default_rng(0)
vectorized = np.vectorize(lambda x: x)


def with_globals(x: Any) -> Any:
    def inside(y: Any) -> Any:
        return squashed(y) + rng.normal()

    return anything.sin(inside(x)) + with_closure


def make(xp: types.ModuleType) -> Any:
    def with_closure(x: Any) -> Any:
        return xp.tanh(x)

    return with_closure


with_closure = make(np)


class Callable:
    def __call__(self) -> None: ...

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("the user's code runs")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (np, "numpy"),
        (jnp, "jax.numpy"),
        (np.tanh, "numpy.tanh"),
        (np.mean, "numpy.mean"),
        (np.linalg.norm, "numpy.linalg.norm"),
        (np.random.normal, "numpy.random.normal"),
        (rng, "numpy.random"),
        (random.Random(0), "random"),
        (random.random, "random.random"),
        (vectorized, "numpy.ufunc"),
        (np.frompyfunc(abs, 1, 1), "numpy.ufunc"),
        (jnp.tanh, "jax.numpy.tanh"),
        (jax.nn.relu, "jax.nn.relu"),
        (jax.jit(lambda x: x), "jax.jit"),
        (math.sqrt, "math.sqrt"),
        (with_globals, ""),
        (np.ones(3), ""),
        (3, ""),
        ("numpy", ""),
    ],
)
def test_modules_and_functions_of_libraries_have_paths(value: Any, path: str) -> None:
    assert path_of(value) == path


def test_objects_of_the_users_classes_are_not_read() -> None:
    assert path_of(Callable()) == ""


def test_functions_are_described_by_their_first_lines() -> None:
    own, *functions = library_names("with_globals(x)", {"with_globals": with_globals, "x": 1.0})
    assert own.function is None
    assert own.paths == (("with_globals", ""), ("x", ""))
    found = {each.function.function: dict(each.paths) for each in functions if each.function is not None}
    assert found["with_globals"]["squashed"] == "numpy.tanh"
    assert found["with_globals"]["rng"] == "numpy.random"
    assert found["with_globals"]["anything"] == "numpy"
    assert found["with_closure"]["xp"] == "numpy"
    lines = {each.function.line for each in functions if each.function is not None}
    assert with_globals.__code__.co_firstlineno in lines


def test_attributes_of_modules_are_known_as_the_code_writes_them() -> None:
    (own,) = library_names("step(jnp.tanh, np.pi, w.T, missing)", {"jnp": jnp, "np": np, "w": jnp.ones(3)})
    assert dict(own.paths) == {"jnp": "jax.numpy", "jnp.tanh": "jax.numpy.tanh", "np": "numpy", "np.pi": "", "w": ""}


def test_a_library_with_its_own_jit_is_known_though_a_function_does_not_name_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = types.ModuleType("equinox")
    monkeypatch.setitem(sys.modules, "equinox", library)
    monkeypatch.setitem(globals(), "modules_of", library)
    _, function = library_names(None, {"make": make})
    assert ("modules_of", "equinox") in function.paths
