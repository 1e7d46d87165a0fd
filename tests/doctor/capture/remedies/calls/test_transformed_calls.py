"""Functions that ``jax.grad`` and the like returned before the code ran are jitted as well."""

from __future__ import annotations

from typing import Any

import jax
import pytest

from jaxmagic.doctor.capture.remedies.calls.transformed_calls import propose
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.records.note import note


def loss(x: Any) -> Any:
    return x**2


def grad_wrapper(x: Any) -> Any:  # what nnx.grad returns, for any function
    return x


class Wrapper:  # what eqx.filter_grad returns
    __module__ = "equinox._ad"

    def __init__(self, name: str) -> None:
        self.__name__ = name


class Other:
    def __init__(self) -> None:
        self.__name__ = "loss"


@pytest.mark.parametrize(
    ("made", "jitted"),
    [
        (jax.grad(loss), True),
        (grad_wrapper, True),
        (Wrapper("loss"), True),
        (Wrapper("other"), False),
        (Other(), False),
        (jax.grad(grad_wrapper), True),
        (jax.grad(propose), False),
    ],
)
def test_a_function_that_was_transformed_before_is_replaced(made: Any, jitted: bool) -> None:
    finding = RuleFinding(
        rule="not-jitted",
        found=note("doctor.cache_off"),
        remedy=note("doctor.not_jitted_remedy", way="outermost", function="loss"),
        applies_to="loss",
        code="loss_grad = jax.jit(jax.grad(loss))",
    )
    change = propose(finding, TriedCode("loss_grad(1.0)", {"loss_grad": made}))
    assert (id(made) in change.replacements) is jitted
