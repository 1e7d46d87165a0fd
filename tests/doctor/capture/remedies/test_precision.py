"""Arrays of double precision that a function sees are tried in single precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.remedies.precision import propose
from jaxmagic.doctor.capture.remedies.remedy import Change, NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.records.note import note

FINDING = RuleFinding(rule="precision", found=note("doctor.double_line", function="loss"))


def jitted(weights: Any, **options: Any) -> Callable[..., Any]:
    def loss(x: Any, power: int = 1) -> Any:
        return (x * weights) ** power

    return jax.jit(loss, **options)


@pytest.fixture
def x64() -> Any:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.mark.usefixtures("x64")
def test_what_the_function_captures_is_float32_and_its_options_stay() -> None:
    x = jnp.arange(3, dtype=jnp.float32)
    loss = jitted(np.linspace(0.0, 1.0, 3), static_argnames="power")
    assert loss(x, power=2).dtype == jnp.float64
    change = propose(FINDING, TriedCode("loss(x, power=2)", {"loss": loss, "x": x}))
    assert isinstance(change, Change)
    ((_, narrowed),) = change.replacements.items()
    assert narrowed(x, power=2).dtype == jnp.float32
    assert narrowed(x, power=2).tolist() == [0.0, 0.25, 4.0]
    assert [str(each) for each in change.notes] == ["Tried with weights converted to float32 once beforehand."]


@pytest.mark.parametrize("weights", [2.0, np.ones(3, np.float32), np.ones(3, int)])
def test_without_such_an_array_nothing_is_tried(weights: Any) -> None:
    with pytest.raises(NotTried) as raised:
        propose(FINDING, TriedCode("loss(3.0)", {"loss": jitted(weights)}))
    assert [each.kind for each in raised.value.notes] == ["doctor.not_mechanical"]
