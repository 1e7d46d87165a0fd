"""Advice to jit the loop around a function names what cannot stay as it is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, HostWait
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.jitting.advice import remedy_at
from jaxmagic.doctor.rules.rewriting.jit.caveats import caveats_of_loop
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note
from jaxmagic.timing.record import Timing


@pytest.fixture
def known(tmp_path: Path, timing: Callable[..., Timing]) -> Callable[..., dict[str, Any]]:
    def find(body: str, waits: str = "") -> dict[str, Any]:
        file = tmp_path / "train.py"
        code = f"for _ in range(9):\n    x = f(x)\n    {body}\n"
        file.write_text(code)
        (loop,) = ast.parse(code).body
        line = Frame(function="<module>", file=str(file), line=2)
        wait = HostWait(
            line=Frame(function="<module>", file=str(file), line=3), function=waits, library=None, count=9, wait_ns=1
        )
        evidence = Evidence(code=None, first=timing(), observed=timing(), waits=(wait,) if waits else ())
        assert isinstance(loop, ast.For)
        return {name: fact for name, fact in caveats_of_loop(loop, line, "f", evidence).items() if fact}

    return find


@pytest.mark.parametrize(
    ("body", "waits", "expected"),
    [
        ("if float(x) < best: best = x", "__float__", {"decides": 1}),
        ("log = float(x)", "__float__", {"reads": 1}),
        ("x.block_until_ready()", "block_until_ready", {}),
        ("print(_)", "", {"once": "print"}),
        ("bar.update(1)", "", {"once": "bar.update"}),
        ("start = time.perf_counter()", "", {"once": "time.perf_counter"}),
        ("x = x + np.random.normal()", "", {"random": "np.random.normal"}),
        ("x = x[x > 0]", "__array__", {"mask": "x[x > 0]"}),
        ("i = jnp.nonzero(x)", "__int__", {"size": "jnp.nonzero", "argument": "size"}),
        ("xs.append(x)", "", {}),
        ("jax.debug.print('{}', x)", "", {}),
        ("y = x + 1", "", {}),
    ],
)
def test_the_body_of_a_loop(known: Callable[..., Any], body: str, waits: str, expected: dict[str, Any]) -> None:
    found = known(body, waits)
    assert found == expected
    plain = str(note("doctor.dispatch_bound_scan", function="f"))
    advice = str(note("doctor.dispatch_bound_scan", function="f", **found))
    assert advice.startswith(plain)
    assert (advice == plain) == (not expected)
    assert all(str(each) in advice for each in expected.values() if each != 1)


TRAIN = """def train(params):
    for _ in range(9):
        g = step(params, data, labels)
        norm = jnp.sum(g**2) * rate
        params = scaled(params, norm)
    return tested(params)
def scaled(p, norm):
    return p * decay / norm
def tested(p):
    return p * held
"""


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("count", "of_part"),
    [
        (50, "decay, held, rate"),  # the operations of the function: the jitted step has its arguments already
        (5000, "data, decay, labels, rate"),  # the body of the loop, in which step is
    ],
)
def test_variables_that_the_code_to_jit_reads_are_to_be_passed(
    tmp_path: Path, timing: Callable[..., Timing], executable: Any, count: int, of_part: str, named: bool
) -> None:
    file = tmp_path / "train.py"
    file.write_text(TRAIN)
    line = Frame(function="train", file=str(file), line=4)
    step = Program(
        executable=executable(),
        module=None,
        function="step" if named else "loss",  # or step = jax.jit(jax.grad(loss)), in another cell
        location="train.py:99",
        called_at=Frame(function="train", file=str(file), line=3),
    )
    code = "data = labels = rate = decay = held = 1"
    evidence = Evidence(code=code, first=timing(), observed=timing(), programs=(step,))
    remedy, _ = remedy_at(line, count, evidence)
    assert remedy.facts["changes"] == of_part
    assert f"Under jit, {of_part} would keep the values of the first call" in str(remedy)
