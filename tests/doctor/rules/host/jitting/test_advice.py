"""The advice to jit a method has code that runs, or none."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis

SETUP = """
import jax, jax.numpy as jnp, jaxmagic
class Filter:
    def __init__(self):
        self.w = jnp.ones(10)
    def run(self, xs):
        w = self.w
        for x in xs:
            w = w - 0.1 * jnp.tanh(x * w) * x
        return w
    def wave(self, x):
        for i in range(40): x = jnp.sin(x) * self.w
        return x
    @staticmethod
    def plain(x):
        for i in range(40): x = jnp.sin(x) * 2
        return x
    @classmethod
    def shared(cls, x):
        for i in range(40): x = jnp.sin(x) * 3
        return x
    def __call__(self, x):
        for i in range(40): x = jnp.sin(x) + self.w
        return x
def outside(x):
    for i in range(40): x = jnp.sin(x) * 4
    return x
a, xs, x = Filter(), jnp.ones((20, 10)), jnp.ones(10)
"""


def code_for(session: Session, call: str) -> list[str | None]:
    """The code to jit what a call runs."""
    session.run(f"{SETUP}\njaxmagic.diagnose({call}, only='not-jitted')")
    diagnosis = jaxmagic.history()[-1]
    assert isinstance(diagnosis, Diagnosis)
    return [each.code for each in diagnosis.findings]


@pytest.mark.parametrize("call", ["a.wave, x", "a.plain, x", "Filter.shared, x", "a, x", "Filter.wave, a, x"])
def test_a_method_is_not_jitted_by_its_name(session: Session, call: str) -> None:
    assert code_for(session, call) == [None]
    assert code_for(session, "outside, x") == ["outside = jax.jit(outside)"]


@pytest.mark.parametrize("call", ["a.run, xs", "Filter.run, a, xs"])
def test_the_rounds_of_a_method_get_a_function(session: Session, call: str) -> None:
    (code,) = code_for(session, call)
    assert code is not None
    function, _, instead = code.partition("# in the loop")
    session.run(function)
    assert instead.splitlines()[1] == "w = run_step(w, x)"
    expected = session.shell.user_ns["a"].run(session.shell.user_ns["xs"])
    w = jnp.ones(10)
    for x in jnp.ones((20, 10)):
        w = session.shell.user_ns["run_step"](w, x)
    assert jnp.allclose(jax.device_get(w), expected)
