"""The advice to jit a method has code that runs, or none; and it says which values jit keeps."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.report.how_to_jit import how_to_jit
from jaxmagic.doctor.rules.host.jitting import advice
from jaxmagic.doctor.rules.rewriting.rewritten import in_loop

pytestmark = [pytest.mark.clock, pytest.mark.usefixtures("at_any_cost")]

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


KEPT = """
import ctypes, dataclasses, types
class Options: pass
@dataclasses.dataclass(frozen=True)
class Fixed:
    gain: float = 2.0
options, fixed, space = Options(), Fixed(), types.SimpleNamespace(gain=2.0)
options.gain = 2.0
OPTIONS, GAIN, once, again, looped = options, 2.0, 2.0, 2.0, 1.0
table, changed, count = {"gain": 2.0}, {"gain": 2.0}, ctypes.c_int(0)
again = 3.0
changed["gain"] = 4.0
for looped in range(3): pass
def scaled(x):
    for i in range(30): x = jnp.sin(x) * EXPRESSION
    return x
"""


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("options.gain", "options.gain keeps the value"),
        ("space.gain", "space.gain keeps the value"),
        ("again", "again keeps the value"),
        ("looped", "looped keeps the value"),
        ("changed['gain']", "changed keeps the value"),
        ("once", None),
        ("GAIN", None),
        ("OPTIONS.gain", None),
        ("fixed.gain", None),
        ("table['gain']", None),
    ],
)
def test_values_that_can_change_are_named(session: Session, expression: str, kept: str | None, verify: bool) -> None:
    session.run(f"{SETUP}\n{KEPT.replace('EXPRESSION', expression)}")
    option = ", verify=True, budget_s=0.5" if verify else ""
    session.run(f"jaxmagic.diagnose(scaled, x, only='not-jitted'{option})")
    diagnosis = jaxmagic.history()[-1]
    assert isinstance(diagnosis, Diagnosis)
    (finding,) = diagnosis.findings
    told = str(finding.remedy)
    assert (f"Under jit, {kept} of the first call" in told) if kept else ("Under jit" not in told)


@pytest.mark.parametrize("option", ["", ", verify=True, budget_s=20"])
def test_a_trial_leaves_what_is_said_about_kept_values(session: Session, option: str) -> None:
    source = "def counted(x):\n    count.value += 1\n    for i in range(40): x = jnp.sin(x) * i\n    return x"
    session.run(f"{SETUP}\n{KEPT}\n{source}\njaxmagic.diagnose(counted, x, only='not-jitted'{option})")
    diagnosis = jaxmagic.history()[-1]
    assert isinstance(diagnosis, Diagnosis)
    assert "Under jit, count would keep the value of the first call" in str(diagnosis.findings[0].remedy)
    assert (diagnosis.findings[0].code is None) == (not option)


@pytest.mark.parametrize(
    ("code", "item"),
    [
        (f"def step(v, noise, i):\n    return v + noise[i]\n{in_loop(3, 3)}\nv = step(v, n, i)", "noise[i]"),
        (f"def step(v, noise):\n    i = v.argmax()\n    return v + noise[i]\n{in_loop(3, 3)}\nv = step(v, n)", ""),
    ],
)
def test_an_item_that_is_taken_by_an_argument_has_no_end_under_jit(code: str, item: str) -> None:
    assert advice._indexed(code) == item
    told = how_to_jit("round", "train", indexed=item)
    assert ("noise[i] beyond the end gives the last item, not an error." in told) == bool(item)
