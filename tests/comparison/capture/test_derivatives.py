"""A function and its derivatives."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.comparison.capture.derivatives import Differentiated, derivative, in_modes
from jaxmagic.runtime.functions import is_jitted


def loss(params: Any, x: Any) -> Any:
    return jnp.sum((params["w"] * x) ** 2)


PARAMS, X = {"w": jnp.array([1.0, 2.0])}, jnp.array([3.0, 4.0])


def test_a_derivative_is_that_of_jax_with_respect_to_the_first_argument() -> None:
    assert derivative(loss, "forward") is loss
    assert derivative(loss, "grad")(PARAMS, X)["w"].tolist() == jax.grad(loss)(PARAMS, X)["w"].tolist()
    value, slope = derivative(loss, "value_and_grad")(PARAMS, X)
    assert (float(value), slope["w"].tolist()) == (73.0, [18.0, 64.0])


def test_it_is_jitted_where_the_function_is() -> None:
    assert is_jitted(derivative(jax.jit(loss), "grad"))
    assert not is_jitted(derivative(loss, "grad"))


@pytest.mark.parametrize("static", [{"static_argnums": 1}, {"static_argnums": -1}, {"static_argnames": "act"}])
def test_its_static_arguments_are_those_of_the_function(static: Any) -> None:
    def layer(w: Any, act: str) -> Any:
        return getattr(jnp, act)(w * X)

    slope = derivative(jax.jit(layer, **static), "grad")
    assert slope(PARAMS["w"], "square").tolist() == [18.0, 64.0]
    if "static_argnames" in static:
        assert slope(PARAMS["w"], act="square").tolist() == [18.0, 64.0]


def test_of_several_numbers_it_is_that_of_their_sum() -> None:
    found = derivative(lambda x: {"y": x**2, "index": jnp.arange(2)}, "grad")(X)
    assert found.tolist() == [6.0, 8.0]


def test_the_same_function_is_differentiated_once() -> None:
    make = Differentiated("grad")
    assert make(lambda: jax.jit(loss)) is make(lambda: jax.jit(loss))


def test_outputs_are_compared_within_a_mode() -> None:
    found = in_modes(["f", "g"], ["forward", "grad"], "g grad")
    assert [(each.label, each.of, each.mode, each.like) for each in found] == [
        ("f", "f", "forward", "g"),
        ("f grad", "f", "grad", "g grad"),
        ("g", "g", "forward", "g"),
        ("g grad", "g", "grad", "g grad"),
    ]
    assert in_modes(["f"], ["grad"])[0].label == "f"
    assert in_modes(["f"], ["grad"])[0].like is None


def test_two_candidates_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="expected different labels, got 'f grad' twice"):
        in_modes(["f", "f grad"], ["forward", "grad"])


@pytest.mark.parametrize("modes", [[], ["backward"], ["grad", "grad"]])
def test_other_modes_are_refused(modes: Any) -> None:
    with pytest.raises(ValueError, match="modes: expected some of forward, grad, value_and_grad, each once, got"):
        in_modes(["f"], modes)
