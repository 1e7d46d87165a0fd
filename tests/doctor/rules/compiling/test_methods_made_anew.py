"""A method that is jitted anew is found at the line that jits it, however it is written there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding

X = np.linspace(0, 1, 10_000, dtype=np.float32).reshape(100, 100)
LINES = Path(__file__).read_text().splitlines()


class Scaler:
    """An object of which a method is called for something that no array can do."""

    def apply(self, x: Any) -> Any:
        return 2 * x


class Net:
    """Jits its own methods in each call."""

    def __init__(self) -> None:
        self.w, self.scaler = jnp.ones((100, 100)), Scaler()

    def forward(self, x: Any, by: float = 1.0) -> Any:
        return jnp.tanh(x @ self.w) * by

    def scaled(self, x: Any) -> Any:
        return self.scaler.apply(jnp.tanh(x @ self.w.astype(x.dtype)))

    @staticmethod
    def plain(x: Any, by: float = 1.0) -> Any:
        return jnp.tanh(x @ x) * by

    def of_partial(self, x: Any) -> Any:
        return jax.jit(partial(self.forward, by=2.0))(x)

    def of_a_value(self, x: Any, by: float = 2.0) -> Any:
        step = jax.jit(functools.partial(self.forward, by=by))
        return step(x)

    def of_a_lambda(self, x: Any) -> Any:
        return jax.jit(lambda x: self.forward(x, 2.0))(x)

    def of_scaled(self, x: Any) -> Any:
        return jax.jit(partial(self.scaled))(x)

    def in_a_loop(self, x: Any) -> Any:
        for _ in range(2):
            step = jax.jit(partial(self.plain, by=2.0))
            x = step(x)
        return x


NET = Net()


def the_one(fn: Callable[[Any], Any]) -> RuleFinding:
    (finding,) = jaxmagic.diagnose(fn, X, only=["recompile"]).findings
    return finding


def line_of(finding: RuleFinding) -> str:
    return LINES[int((finding.line or "").rpartition(":")[2]) - 1].strip()


KEPT = "A method that is jitted once, as in __init__, would keep the values that self has then."


@pytest.mark.parametrize(
    ("fn", "line", "remedy"),
    [
        (
            lambda x: NET.of_partial(x),
            "return jax.jit(partial(self.forward, by=2.0))(x)",
            f"Define and jit one function that gets self.w as an argument, outside the class. {KEPT}",
        ),
        (
            lambda x: NET.of_a_value(x),
            "step = jax.jit(functools.partial(self.forward, by=by))",
            f"Define and jit one function that gets self.w, by as arguments, outside the class. {KEPT}",
        ),
        (
            lambda x: NET.of_a_lambda(x),
            "return jax.jit(lambda x: self.forward(x, 2.0))(x)",
            f"Define and jit one function that gets self.w as an argument, outside the class. {KEPT}",
        ),
        (
            lambda x: NET.of_scaled(x),
            "return jax.jit(partial(self.scaled))(x)",
            "Define and jit one function that gets self.scaler, self.w as arguments, outside the class. It calls "
            f"methods of self.scaler: declare it static if it is not a pytree of arrays. {KEPT}",
        ),
        (
            lambda x: NET.in_a_loop(x),
            "step = jax.jit(partial(self.plain, by=2.0))",
            "plain reads nothing of self. Define and jit it once, as a function outside the class.",
        ),
    ],
)
def test_the_line_that_jits_a_method_is_told_with_what_to_pass(
    fn: Callable[[Any], Any], line: str, remedy: str
) -> None:
    finding = the_one(fn)
    assert line_of(finding) == line
    assert str(finding.remedy) == remedy


@pytest.mark.parametrize("name", ["Net.step", "JitFn"])  # as Equinox names a method, and Flax a partial
def test_the_line_is_found_whatever_a_library_names_the_method(name: str) -> None:
    class Named:
        def __init__(self) -> None:
            self.w = jnp.ones((100, 100))

        def step(self, x: Any, by: float) -> Any:
            return jnp.tanh(x @ self.w) * by

        def run(self, x: Any) -> Any:
            return jax.jit(partial(self.step, by=2.0))(x)

    Named.step.__name__ = name
    named = Named()
    finding = the_one(lambda x: named.run(x))
    assert line_of(finding) == "return jax.jit(partial(self.step, by=2.0))(x)"
    assert "gets self.w as an argument" in str(finding.remedy)
