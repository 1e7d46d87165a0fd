"""The outputs of code that is tried again are what can be compared."""

from __future__ import annotations

import itertools
import textwrap
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.remedies.measured_remedy import Measured, Run, measured
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.runtime.clock import Clock

#: A class that JAX knows, whose objects can be called. Each run of this code makes a class of its own.
SCALE = """
@jax.tree_util.register_pytree_with_keys_class
class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x

    def tree_flatten_with_keys(self):
        return ((jax.tree_util.GetAttrKey("factor"), self.factor),), None

    @classmethod
    def tree_unflatten(cls, _, leaves):
        return cls(*leaves)

scale = Scale(jnp.ones(3) * amount)
"""

MODULE = """
class Layer(eqx.Module):
    weight: jax.Array
    act: object

    def __call__(self, x):
        return self.act(self.weight @ x)

layer = Layer(jnp.eye(3) * amount, lambda x: x)
"""


def run(code: str, **variables: Any) -> Run:
    body, each = TriedCode(textwrap.dedent(code), {"jax": jax, "jnp": jnp, **variables}).made({})
    return Run(body, each)


def ticking() -> Clock:
    return itertools.count(step=1000).__next__


def compared(before: Run, after: Run) -> Measured:
    return measured(before, after, budget_ns=1, deadline_ns=10**9, clock=ticking())


@pytest.mark.parametrize(
    ("code", "outputs"),
    [
        ("state.update(n=2)", {"state": {"n": 2}, "the value": None}),
        ("y = state['n']\nstate['n'] = 2", {"state": {"n": 2}, "y": 1}),
        ("state = state | {'m': 3}", {"state": {"n": 1, "m": 3}}),
    ],
)
def test_what_the_code_changes_in_fresh_values_is_an_output(code: str, outputs: dict[str, Any]) -> None:
    state = {"n": 1}
    body, each = TriedCode(code, {"state": state}).made({}, lambda: {"state": dict(state)})
    assert each is not None
    for _ in range(2):
        each()
        assert body() == outputs
    assert state == {"n": 1}


def test_functions_and_classes_are_no_outputs() -> None:
    outputs = run("double = lambda x: 2 * x\njitted = jax.jit(double)\nclass Empty: ...\ny = jitted(1)").call()
    assert list(outputs) == ["y"]


def test_a_pytree_that_can_be_called_stands_for_its_leaves() -> None:
    outputs = run(f"{SCALE}y = scale(jnp.ones(3))", amount=2.0).call()
    assert {name: value.tolist() for name, value in outputs.items()} == {"scale.factor": [2.0] * 3, "y": [2.0] * 3}


def test_such_a_pytree_with_a_deleted_array_is_no_output() -> None:
    assert run(f"{SCALE}y = scale.factor.delete()", amount=2.0).call() == {"y": None}


@pytest.mark.parametrize(("amount", "agree"), [(2.0, True), (3.0, False)])
def test_such_pytrees_are_compared(amount: float, agree: bool) -> None:
    verified = compared(run(SCALE, amount=2.0), run(SCALE, amount=amount)).verified
    assert verified.outputs_agree is agree
    if not agree:
        assert "scale.factor" in str(verified.notes[0])


@pytest.mark.parametrize(("amount", "agree"), [(2.0, True), (3.0, False)])
def test_modules_of_equinox_are_compared_by_their_arrays(amount: float, agree: bool) -> None:
    eqx = pytest.importorskip("equinox")
    before, after = (run(MODULE, eqx=eqx, amount=each) for each in (2.0, amount))
    verified = compared(before, after).verified
    assert verified.outputs_agree is agree
    np.testing.assert_array_equal(before.call()["layer.weight"], np.eye(3) * 2)
