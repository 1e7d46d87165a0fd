"""Which operations some lines may call, and which line is named, on evidence that was never measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate import hlo

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostShare, HostUse
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.calling_line import calling_line
from jaxmagic.doctor.rules.host.functions.first_called import first_called, is_called_in, most_called
from jaxmagic.doctor.rules.host.functions.inside_function import SourceRange
from jaxmagic.doctor.rules.host.functions.spared_in_loop import spared_in_loop
from jaxmagic.doctor.rules.host.host_time import HostTime
from jaxmagic.doctor.rules.rewriting.loops.jitted_round import JittedRound
from jaxmagic.records.call_stack import Frame

SOURCE = """def loop(w, g):
    for i in range(15):
        w, nrm = upd(w, w * 0.5)
        y = jnp.tanh(w)
        if i % 5 == 0:
            z = jnp.cos(w)
        for k in range(3):
            total += float(w[k])
        w = -w
        w = scaled(w)
    return w

def scaled(w):
    return jnp.exp(w)
"""
STEP, TANH, SOMETIMES, READ, LATER, CALL, SCALED = 3, 4, 6, 8, 9, 10, 14

#: The device is idle for 20 µs before each call.
COUNTS = {"multiply": 15, "dynamic_slice": 45, "squeeze": 45}


@pytest.fixture
def evidence(timing: Any, executable: Any, tmp_path: Path) -> Callable[..., Evidence]:
    file = tmp_path / "train.py"
    file.write_text(SOURCE)

    def make(samples: dict[int, int] | None = None, **first: int | None) -> Evidence:
        """Plant samples of lines, and the lines that called the programs of operations first."""
        known = {"upd": STEP, "multiply": STEP, "dynamic_slice": READ, "squeeze": READ} | first
        made = [
            Program(
                executable=executable(name=f"jit_{name}"),
                function=name,
                eager=name != "upd",
                called_at=at,
                module=hlo.module(hlo.instruction(name, stack=() if at is None else (at,)), name=f"jit_{name}"),
            )
            for name, line in known.items()
            for at in [None if line is None else Frame(function="loop", file=str(file), line=line)]
        ]
        run = timing(dispatch_ns=20_000_000, wait_ns=0)
        return Evidence(
            code="loop(w, g)",
            first=timing(),
            observed=run,
            timed=(run,),
            programs=tuple(made),
            host=tuple(
                HostShare(line=line, called="jax.numpy.sin", samples=count, stack=(line,))
                for number, count in (samples or {}).items()
                for line in [Frame(function="loop", file=str(file), line=number)]
            ),
            host_use=HostUse(dispatches=calls(), idle_ns=2_100_000, waited_ns=0, waits=0),
        )

    return make


def calls(**others: int) -> tuple[Dispatch, ...]:
    counted = COUNTS | others
    return tuple(
        Dispatch(name=name, count=count, host_ns=1_000 * count, exposed_ns=20_000 * count)
        for name, count in counted.items()
    )


def at(tmp_path: Path, line: int) -> SourceRange:
    return SourceRange(str(tmp_path / "train.py"), line, line)


@pytest.mark.parametrize(
    ("line", "first", "share"),
    [
        (STEP, {}, 15 / 105),  # its operator, and no index
        (STEP, {"squeeze": STEP}, 60 / 105),  # it was seen to call it
        (STEP, {"squeeze": None}, 60 / 105),  # it is unknown which line called it
        (STEP, {"dynamic_slice": 99, "squeeze": 99}, 15 / 105),
        (READ, {}, 1.0),  # an index may call any
        (TANH, {}, 15 / 105),
        (LATER, {}, 0.0),
        (LATER, {"multiply": LATER}, 15 / 105),
        (TANH, {"multiply": TANH}, 15 / 105),  # what a later line called first, this one would have called before
        (TANH, {"squeeze": STEP, "multiply": LATER}, 45 / 105),
        (SOMETIMES, {}, 1.0),  # it need not run in the first round
        (CALL, {}, 1.0),  # it is unknown what a function of the user's calls
    ],
)
def test_a_line_calls_what_its_syntax_and_the_order_allow(
    evidence: Any, tmp_path: Path, line: int, first: dict[str, int | None], share: float
) -> None:
    assert most_called([at(tmp_path, line)], calls(), evidence(**first)) == pytest.approx(share)


def test_an_operation_with_an_unknown_program_may_be_anywhere(evidence: Any, tmp_path: Path) -> None:
    assert most_called([at(tmp_path, STEP)], calls(sin=105), evidence()) == pytest.approx(120 / 210)
    assert most_called([at(tmp_path, STEP)], (), evidence()) == 1


def test_the_functions_that_lines_call_are_part_of_them(evidence: Any, tmp_path: Path) -> None:
    made = evidence(exp=SCALED)
    known = calls(exp=105)
    for line, share in ((CALL, 0.5), (STEP, 15 / 210), (TANH, 0)):
        own = is_called_in([at(tmp_path, line)], made)
        assert first_called(own, known, made) == pytest.approx(share)
    assert first_called(lambda line: True, calls()[:1], evidence(multiply=None)) is None


@pytest.mark.parametrize(
    ("samples", "first", "line"),
    [
        ({STEP: 3, READ: 2}, {}, READ),
        ({STEP: 30, READ: 2}, {}, READ),  # a thread that waits for the interpreter's lock is seen where it is free
        ({STEP: 3}, {}, READ),  # nothing else was sampled, but the line calls few operations
        ({READ: 2, STEP: 90}, {"dynamic_slice": STEP, "squeeze": STEP}, STEP),
        ({STEP: 3, READ: 4}, {"dynamic_slice": None, "squeeze": None, "multiply": None}, READ),
        ({READ: 90, TANH: 4}, {"multiply": TANH, "dynamic_slice": TANH, "squeeze": TANH}, READ),  # as in a first call
    ],
)
def test_the_line_that_calls_most_operations_is_named(
    evidence: Any, samples: dict[int, int], first: dict[str, int | None], line: int
) -> None:
    found = calling_line(list(calls()), evidence(samples, **first))
    assert found is not None
    assert found.line == line


@pytest.mark.parametrize(
    ("samples", "share", "kind"),
    [
        ({STEP: 90, READ: 10}, 15 / 105, "doctor.not_jitted_lines_called"),
        ({STEP: 3}, 15 / 105, "doctor.not_jitted_lines_called"),
        ({STEP: 5, READ: 95}, 0.05, "doctor.not_jitted_lines"),
    ],
)
def test_the_lines_of_a_round_spare_their_operations_only(
    evidence: Any, tmp_path: Path, samples: dict[int, int], share: float, kind: str
) -> None:
    made = evidence(samples)
    time = HostTime(made.host_use, 1.0, (), 0, 0, 2_100_000, 1.0, 0)
    one = JittedRound("", Frame(function="loop", file="", line=STEP), (at(tmp_path, STEP),), 1, 1)
    found = spared_in_loop(one, calls(), made, time)
    assert found.time_ns == pytest.approx(105 * 20_000 * share - 15 * 1_500)  # its calls take longer
    assert [each.kind for each in found.evidence] == [kind]
    assert found.evidence[0].facts["share"] == pytest.approx(share)


@pytest.mark.parametrize("compiles", [True, False])
def test_the_time_in_lines_that_are_compiled_counts_at_least(
    evidence: Any, timing: Any, tmp_path: Path, compiles: bool
) -> None:
    """Python may need longer between operations than the device is idle at them: here for 1 s of 1 ms per sample."""
    run = replace(timing(), dispatch_ns=10**9, wait_ns=0, code_wait_ns=0, compilation_ns=0, compilations=())
    made = replace(evidence({STEP: 1000}), first=run, observed=run, timed=(run,))
    time = HostTime(made.host_use, 1.0, (), 0, 0, 2_100_000, 1.0, 0)
    here = Frame(function="loop", file="", line=STEP)
    one = JittedRound("", here, (at(tmp_path, STEP),), 1, 1, compiles=compiles)
    assert (spared_in_loop(one, calls(), made, time).time_ns > 0.9 * 10**9) == compiles
