"""A program that keeps the values of attributes is told where these have changed, and only there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding

X = jnp.linspace(0, 1, 8)


class Model:
    def __init__(self, w: Any, rate: float = 0.5) -> None:
        self.w, self.rate, self.unread = w, rate, w
        self.params = {"a": w, "b": [w * 2]}
        self.table = np.ones(8, np.float32)
        self.name, self.calls = "m", 0

    @partial(jax.jit, static_argnums=0)
    def loss(self, x: Any) -> Any:
        return jnp.sum((x * self.w) ** 2)

    @partial(jax.jit, static_argnums=0)
    def of_a_tree(self, x: Any) -> Any:
        return x * self.params["a"] + self.params["b"][0]

    @partial(jax.jit, static_argnums=0)
    def by_a_number(self, x: Any) -> Any:
        return x * self.rate

    @partial(jax.jit, static_argnums=0)
    def by_numpy(self, x: Any) -> Any:
        return x + self.table

    @partial(jax.jit, static_argnums=0)
    def by_a_method(self, x: Any) -> Any:
        return self.scaled(x) + 1

    @partial(jax.jit, static_argnums=0)
    def by_its_shape(self, x: Any) -> Any:
        return x.reshape(self.w.shape) * 2

    def scaled(self, x: Any) -> Any:
        return x * self.w

    def decay(self) -> None:
        self.rate *= 0.9


class Named(Model):
    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name


class Compared(Model):
    def __hash__(self) -> int:
        return id(self.w)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compared) and self.w is other.w


class Bound:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.loss = jax.jit(self._loss)

    def _loss(self, x: Any) -> Any:
        return jnp.sum(x * self.w)


@partial(jax.jit, static_argnames="model")
def apply(model: Any, x: Any) -> Any:
    return x * model.w


def replace_w(model: Any) -> None:
    model.w = model.w - 0.5


def set_item(model: Any) -> None:
    model.params["b"][0] = model.params["b"][0] * 2


def write(model: Any) -> None:
    model.table *= 2


def found(make: Callable[[Any], Any], call: Callable[[Any], Any], change: Callable[[Any], None]) -> list[RuleFinding]:
    def code() -> Any:
        model = make(X)
        for _ in range(3):
            result = call(model)
            change(model)
        return result

    return list(jaxmagic.diagnose(code, only=["captured-constant"]).findings)


@pytest.mark.parametrize(
    ("make", "call", "change", "names"),
    [
        (Model, lambda m: m.loss(X), replace_w, "self.w"),
        (Model, lambda m: m.of_a_tree(X), set_item, "self.params"),
        (Model, lambda m: m.of_a_tree(X), lambda m: setattr(m, "params", {"a": X, "b": [X]}), "self.params"),
        (Model, lambda m: m.by_a_number(X), Model.decay, "self.rate"),
        pytest.param(
            Model,
            lambda m: m.by_numpy(X),
            write,
            "self.table",
            marks=pytest.mark.skipif(jax.__version_info__ < (0, 8), reason="this JAX copies NumPy arrays"),
        ),
        (Model, lambda m: m.by_a_method(X), replace_w, "self.w"),
        (Named, lambda m: m.loss(X), replace_w, "self.w"),
        (Bound, lambda m: m.loss(X), replace_w, "self.w"),
        (Model, lambda m: apply(m, X), replace_w, "model.w"),
    ],
)
def test_an_attribute_that_changes_is_not_seen_by_its_program(make: Any, call: Any, change: Any, names: str) -> None:
    (finding,) = found(make, call, change)
    assert finding.found.facts["names"] == names
    assert f"{names} has been replaced or changed since" in str(finding.found)
    assert f"Pass {names} as an argument" in str(finding.remedy)


@pytest.mark.parametrize(
    ("make", "call", "change"),
    [
        (Model, lambda m: m.loss(X), lambda m: None),
        (Model, lambda m: m.loss(X), lambda m: setattr(m, "unread", X + 1)),
        (Model, lambda m: m.loss(X), lambda m: setattr(m, "name", "n")),
        (Model, lambda m: m.loss(X), lambda m: setattr(m, "calls", m.calls + 1)),
        (Model, lambda m: m.loss(X), lambda m: setattr(m, "w", m.w * 1)),
        (Model, lambda m: m.by_its_shape(X), replace_w),
        (Compared, lambda m: m.loss(X), replace_w),
    ],
)
def test_an_attribute_that_is_unread_or_compared_or_the_same_is_not_reported(
    make: Any, call: Any, change: Any
) -> None:
    assert found(make, call, change) == []


def test_an_attribute_that_is_assigned_before_the_first_call_is_not_reported() -> None:
    def code() -> Any:
        model = Model(X)
        model.w = X + 1
        return [model.loss(X) for _ in range(3)]

    assert jaxmagic.diagnose(code, only=["captured-constant"]).findings == ()


def test_a_program_for_another_shape_has_the_new_values() -> None:
    def code() -> Any:
        model = Model(X[0])
        model.loss(X)
        model.w = X[1]
        return model.loss(X[:4])

    assert jaxmagic.diagnose(code, only=["captured-constant"]).findings == ()


def test_the_line_that_assigns_and_the_numbers_are_told() -> None:
    (finding,) = found(Model, lambda m: m.by_a_number(X), Model.decay)
    (fact,) = finding.evidence
    assert (fact.facts["before"], fact.facts["now"]) == ("0.5", "0.36450000000000005")  # by hand: 0.5 * 0.9**3
    line = Model.decay.__code__.co_firstlineno + 1
    assert str(fact.facts["line"]).endswith(f"test_stale_attributes.py:{line}")
    assert finding.code is None  # a shape may depend on it
    assert "if no shape, axis or Python if depends on it" in str(finding.remedy)


@pytest.mark.parametrize(
    ("call", "pasted_call"),
    [(lambda m: m.loss(X), "loss(self, X, self.w)"), (lambda m: apply(m, X), "apply(self, X, self.w)")],
)
def test_the_code_computes_with_the_new_values(call: Any, pasted_call: str) -> None:
    (finding,) = found(Model, call, replace_w)
    assert finding.code is not None
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "partial": partial, "self": Model(X), "X": X}
    exec(finding.code, names)
    before = eval(pasted_call, names)
    names["self"].w = X + 3
    after = eval(pasted_call, names)
    assert not np.array_equal(before, after)
    np.testing.assert_allclose(after, call(Model(X + 3)), rtol=1e-6)


def test_there_is_no_code_where_other_methods_read_the_attribute() -> None:
    (finding,) = found(Model, lambda m: m.by_a_method(X), replace_w)
    assert finding.code is None
    (finding,) = found(Bound, lambda m: m.loss(X), replace_w)
    assert finding.code is None
    assert "jit Bound._loss in place of its bound method" in str(finding.remedy)
