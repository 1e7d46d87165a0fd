"""Copies of functions and methods see other objects; the originals, their classes and their objects stay the same."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.doctor.capture.remedies.function_copies import FunctionCopies, MethodCopies
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.capture.verify import Trial, verify
from jaxmagic.doctor.record.finding import RuleFinding, Verified
from jaxmagic.progress.record import SILENT
from jaxmagic.records.note import note


def scale() -> int:
    return 2


def half() -> float:
    return 0.5


class Layer:
    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self) -> Any:
        return self.size * scale()

    @staticmethod
    def fixed() -> Any:
        return scale()

    @classmethod
    def made(cls, size: int) -> Any:
        return cls(size * scale())

    def other(self) -> int:
        return self.size


class Wide(Layer):
    def __call__(self) -> Any:
        return 10 * super().__call__()

    def wider(self) -> Any:
        yield self()


class Apart:
    def __call__(self) -> float:
        return math.pi


COPIES = FunctionCopies({id(scale): half})


def results(layer: Wide) -> list[Any]:
    return [layer(), layer.fixed(), layer.made(4).size, layer.other(), *layer.wider()]


def test_methods_see_other_objects_only_while_their_copies_are_called() -> None:
    layer, before = Wide(3), [dict(vars(each)) for each in (Wide, Layer)]
    methods = MethodCopies(COPIES, [layer, Apart(), Wide])
    assert {(kind, name) for kind, name, _, _ in methods.found} == {
        (Layer, "__call__"),
        (Layer, "fixed"),
        (Layer, "made"),
    }
    own = super(Wide, layer).__call__
    with methods:
        assert results(layer) == [60, 2, 8, 3, 60]
        assert super(Wide, layer).__call__ == own  # the same key of JAX's caches
        with methods.called():
            assert results(layer) == [15.0, 0.5, 2.0, 3, 15.0]
        assert results(layer) == [60, 2, 8, 3, 60]
    assert results(layer) == [60, 2, 8, 3, 60]
    assert [dict(vars(each)) for each in (Wide, Layer)] == before
    assert vars(layer) == {"size": 3}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_methods_are_put_back_after_an_error(error: type[BaseException]) -> None:
    before = dict(vars(Layer))
    methods = MethodCopies(COPIES, [Layer(1)])
    with pytest.raises(error), methods, methods.called():
        assert vars(Layer) != before
        raise error
    assert vars(Layer) == before
    with methods:
        assert Layer(1)() == 2


class Model:
    """Jits a function in each call."""

    def __init__(self) -> None:
        self.w = jnp.ones((2, 2))

    def __call__(self, x: Any) -> Any:
        @jax.jit
        def forward(w: Any, x: Any) -> Any:
            return x @ w

        return forward(self.w, x)


def verified(monkeypatch: pytest.MonkeyPatch, source: str, **variables: Any) -> Verified:
    monkeypatch.setattr("jaxmagic.doctor.capture.verify._LONGEST_NS", 1)  # the least number of runs
    finding = RuleFinding(rule="recompile", found=note("text"), remedy=note("text"))
    trial = Trial(TriedCode(source, {"x": jnp.ones(2), **variables}), [], 10**7, 1, 60 * 10**9)
    (found,) = verify([finding], trial, SILENT)
    assert found.verified is not None
    return found.verified


@pytest.mark.parametrize("source", ["predict(x)", "models[0](x)"])
def test_a_remedy_is_tried_inside_methods(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, model = dict(vars(Model)), Model()

    def predict(x: Any) -> Any:
        return model(x)

    found = verified(monkeypatch, source, predict=predict, models=[model])
    assert found.outputs_agree
    assert found.notes[0].kind == "doctor.made_once"
    assert vars(Model) == before
    assert list(vars(model)) == ["w"]


def test_a_remedy_is_tried_inside_a_method_that_a_variable_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verified(monkeypatch, "call(x)", call=Model().__call__)
    assert found.outputs_agree
    assert found.notes[0].kind == "doctor.made_once"


def test_a_method_that_a_container_holds_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verified(monkeypatch, "calls[0](x)", calls=[Model().__call__])
    assert found.before_ns is None
    assert [each.kind for each in found.notes] == ["doctor.not_met", "doctor.tried_runs"]


def test_a_bound_method_is_that_of_the_copy() -> None:
    class Scale:
        def __init__(self, by: int) -> None:
            self.by = by

        def times(self, x: int) -> int:
            return self.by * x

        def twice(self, x: int) -> int:
            return doubled(self.by * x)

    def doubled(x: int) -> int:
        return 2 * x

    scale = Scale(3)
    replaced = {id(Scale.times): lambda self, x: self.by + x, id(doubled): lambda x: x + 1}
    copies = FunctionCopies(replaced)
    assert (copies.of(scale.times)(5), copies.of(scale.twice)(5)) == (8, 16)
    kept = scale.times
    assert FunctionCopies({id(doubled): len}).of(kept) is kept
