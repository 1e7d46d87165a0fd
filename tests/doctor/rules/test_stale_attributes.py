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


W = X
RATE = 0.5
TRACES = 0
HELD: dict[str, Any] = {"w": X}


@jax.jit
def by_a_variable(x: Any) -> Any:
    return jnp.sum((x * W) ** 2)


@jax.jit
def by_a_dictionary(x: Any) -> Any:
    return x * HELD["w"]


@jax.jit
def by_a_rate(x: Any) -> Any:
    global TRACES
    TRACES += 1
    return x * RATE


def scaled(x: Any) -> Any:
    return x * W


@jax.jit
def by_another_function(x: Any) -> Any:
    return scaled(x) + 1


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the variables of this file, and forget the programs."""
    for name in ("W", "RATE", "TRACES"):
        monkeypatch.setitem(globals(), name, globals()[name])
    monkeypatch.setitem(HELD, "w", X)
    for each in (by_a_variable, by_a_dictionary, by_a_rate, by_another_function):
        each.clear_cache()


def replace_variables() -> None:
    global W, RATE
    W, RATE = W - 0.5, RATE * 0.9
    HELD["w"] = HELD["w"] * 2


@pytest.mark.parametrize(
    ("call", "names", "pasted"),
    [
        (by_a_variable, "W", "by_a_variable(X, W)"),
        (by_a_dictionary, "HELD", "by_a_dictionary(X, HELD)"),
        (by_a_rate, "RATE", None),  # a shape may depend on it
        (by_another_function, "W", None),  # another function reads it
    ],
)
def test_a_variable_that_changes_is_not_seen_by_a_program(call: Any, names: str, pasted: str | None) -> None:
    (finding,) = found(lambda _: None, lambda _: call(X), lambda _: replace_variables())
    assert finding.found.facts["names"] == names
    assert f"Pass {names} as an argument" in str(finding.remedy)
    assert (finding.code is None) is (pasted is None)
    if finding.code is not None and pasted is not None:
        written = {**globals()}
        exec(finding.code, written)
        call.clear_cache()
        np.testing.assert_allclose(eval(pasted, written), call(X), rtol=1e-6)


def test_a_variable_that_does_not_change_or_that_a_new_function_reads_is_not_reported() -> None:
    def unchanged() -> Any:
        return [by_a_variable(X), by_a_dictionary(X), by_a_rate(X)]

    def made_anew() -> Any:
        w = X
        result = jax.jit(lambda x: x * w)(X)
        w = w + 1
        return result, w

    for code in (unchanged, made_anew):
        assert jaxmagic.diagnose(code, only=["captured-constant"]).findings == ()


def test_a_variable_of_an_enclosing_function_counts_where_a_loop_changes_it() -> None:
    def code() -> Any:
        w = X

        @jax.jit
        def step(x: Any) -> Any:
            return x * w + 1

        for _ in range(3):
            result = step(X)
            w = w * 2
        return result

    (finding,) = jaxmagic.diagnose(code, only=["captured-constant"]).findings
    assert finding.found.facts["names"] == "w"


def test_a_function_that_is_out_of_date_is_not_said_to_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jaxmagic.doctor.rules.host.same_result.is_worth_it", lambda cost_ns, evidence: True)

    def code() -> Any:
        total = X
        for _ in range(4):
            total = total + by_a_dictionary(X)
            replace_variables()
        return total

    kinds = {each.found.kind for each in jaxmagic.diagnose(code, only=["captured-constant"]).findings}
    assert kinds == {"doctor.stale"}
