"""A stack of very many arrays takes long to compile, and is to be collected in another way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.compiling.compile_time import RULE
from jaxmagic.doctor.rules.compiling.eager import joined_arrays
from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.hlo import HloModule, Sharded


def seen(
    timing: Any,
    compilation: Any,
    executable: Any,
    *,
    arrays: int,
    xla_ns: int = 10**9,
    name: str = "stack",
    **of: Any,
) -> Evidence:
    """Evidence of a program with many arguments, and of one of the user's that compiles for two seconds."""
    inputs = tuple(Sharded(name="", shape="f32[40]", pieces=None) for _ in range(arrays))
    program = Program(
        executable=executable(name=f"jit_{name}"),
        module=HloModule(f"jit_{name}", {}, {}, {}, inputs=inputs),
        function=name,
        called_at=Frame(function="integrate", file="path.py", line=7),
    )
    stages = {"tracing_ns": 10**8, "lowering_ns": 0}
    joined = replace(compilation(function=name, compilation_ns=xla_ns, **stages), **({"location": None} | of))
    other = replace(compilation(function="f", compilation_ns=2 * 10**9, **stages), location="cell.py:1")
    first = timing(joined, other)
    return Evidence(code="f(x)", first=first, observed=first, programs=(program,))


def test_a_stack_of_many_arrays_is_a_finding_of_its_own(timing: Any, compilation: Any, executable: Any) -> None:
    joined, other = RULE.look(seen(timing, compilation, executable, arrays=1201))
    assert str(joined.found) == (
        "stack of 1,201 arrays takes 1.10 s to compile, as each of them is an argument of its program."
    )
    assert (joined.line, joined.cost_ns, joined.per) == ("path.py:7", 1.1e9, "first run")
    assert joined.remedy is not None
    assert "let jax.lax.scan collect them inside one jitted function" in str(joined.remedy)
    assert "Or join them with np.stack" in str(joined.remedy)
    assert other.found.facts["function"] == "f"
    assert other.cost_ns == 2.1e9


@pytest.mark.parametrize(
    "changes",
    [
        {"arrays": 99},
        {"arrays": 1201, "xla_ns": 10**9 - 1},
        {"arrays": 1201, "name": "step"},
        {"arrays": 1201, "location": "cell.py:9"},  # the user's own function of this name
    ],
)
def test_other_programs_are_not_said_to_join(timing: Any, compilation: Any, executable: Any, changes: Any) -> None:
    found = RULE.look(seen(timing, compilation, executable, **changes))
    assert "doctor.compile_time_joined" not in [each.found.kind for each in found]


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="joins 16 arrays at a time")
@pytest.mark.parametrize("join", [jnp.stack, jnp.concatenate])
def test_the_programs_of_jax_are_recognized(monkeypatch: pytest.MonkeyPatch, join: Any) -> None:
    monkeypatch.setattr(joined_arrays, "LEAST_SHARE", 0.0)
    monkeypatch.setattr(joined_arrays, "LEAST_ARRAYS", 20)
    monkeypatch.setattr("jaxmagic.doctor.rules.compiling.compile_time._LEAST_NS", 0)
    arrays = [jnp.ones(7)] * 23
    jax.clear_caches()
    found = jaxmagic.diagnose(lambda: join(arrays), only="compile-time").findings
    joined = [each for each in found if each.found.kind == "doctor.compile_time_joined"]
    assert [each.found.facts["arrays"] for each in joined] == [23]
    assert joined[0].source == 'found = jaxmagic.diagnose(lambda: join(arrays), only="compile-time").findings'
