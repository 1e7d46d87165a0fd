"""What a function reads of an object is told by its code, and is unknown where this does not tell."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import pytest

from jaxmagic.compilation.capture.attributes import attributes_read


class Base:
    k = 2

    def total(self) -> Any:
        return self.w


class Model(Base):
    def plain(self, x: Any) -> Any:
        return x @ self.w.T + self.params["b"] * x

    def in_a_function(self, x: Any) -> Any:
        scaled = lambda y: y * self.w + x  # noqa: E731
        return scaled(x)

    def in_a_comprehension(self, xs: Any) -> Any:
        return [self.w * each for each in xs], sum(self.b * each for each in xs)

    def through_a_method(self, x: Any) -> Any:
        return self.plain(x) + self.total() + self.static(x)

    def through_a_property(self, x: Any) -> Any:
        return self.scale * x

    def through_a_jitted_method(self, x: Any) -> Any:
        return self.jitted(x)

    def recursive(self, n: int) -> Any:
        return self.recursive(n - 1) * self.w if n else self.k

    def writes(self, x: Any) -> Any:
        self.last = x
        self.count += 1
        return x

    def another(self, other: Any) -> Any:
        return other.w

    def passes_on(self, x: Any) -> Any:
        return scaled_by(self, x)

    def calls(self, x: Any) -> Any:
        return self(x)  # type: ignore[operator]

    def renames(self, x: Any) -> Any:
        model = self
        return model.w * x

    def replaces(self, x: Any) -> Any:
        self = x
        return self.w

    def by_name(self, x: Any) -> Any:
        return getattr(self, "w") * x  # noqa: B009

    def of_the_base(self) -> Any:
        return super().total()

    def of_the_class(self) -> Any:
        return self.made()

    @functools.partial(jax.jit, static_argnums=0)
    def jitted(self, x: Any) -> Any:
        return x * self.rate

    @property
    def scale(self) -> Any:
        return self.w * 2

    @staticmethod
    def static(x: Any) -> Any:
        return x

    @classmethod
    def made(cls) -> Any:
        return cls.k


class Guessing(Model):
    def __getattr__(self, name: str) -> Any:
        return 0


def scaled_by(model: Any, x: Any) -> Any:
    return x * model.w


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (Model.plain, {"w", "params"}),
        (Model.in_a_function, {"w"}),
        (Model.in_a_comprehension, {"w", "b"}),
        (Model.through_a_method, {"w", "params"}),
        (Model.through_a_property, {"w"}),
        (Model.through_a_jitted_method, {"rate"}),
        (Model.recursive, {"w", "k"}),
        (Model.writes, {"count"}),
        (Model.another, set()),
    ],
)
def test_what_a_method_reads_of_its_object(function: Any, names: set[str]) -> None:
    assert attributes_read(function, "self", Model) == names
    assert attributes_read(function, "self", Guessing) is None


@pytest.mark.parametrize(
    "function",
    [
        Model.passes_on,
        Model.calls,
        Model.renames,
        Model.replaces,
        Model.by_name,
        Model.of_the_base,
        Model.of_the_class,
    ],
)
def test_what_may_read_anything_is_unknown(function: Callable[..., Any]) -> None:
    assert attributes_read(function, "self", Model) is None  # type: ignore[arg-type]


def test_any_parameter_may_take_the_object() -> None:
    assert attributes_read(scaled_by, "model", Model) == {"w"}
    assert attributes_read(Model.another, "other", Model) == {"w"}  # type: ignore[arg-type]
