"""A method that a loop calls, such as one of a library, is jitted once, where it calls what the loop computes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.jitting.called_method import method_in_loop, method_remedy
from jaxmagic.records.call_stack import Frame

FIT = """def fit(x):
    svi = SVI(model)
    state = svi.init(x)
    for _ in range(9):
        state, loss = svi.update(state, x)
        gradient = jax.grad(f)(x)
    return state


def again(svi, x):
    while x < 1:
        x = svi.update(x)
"""


@pytest.fixture
def at(tmp_path: Path) -> Any:
    file = tmp_path / "fit.py"
    file.write_text(FIT)
    return lambda line: Frame(function="fit" if line < 8 else "again", file=str(file), line=line)


@pytest.fixture
def evidence_at(timing: Any, executable: Any) -> Any:
    """Return the evidence of operations under a transformation, each first called at a line."""

    def make(*lines: Frame) -> Evidence:
        sin = Program(
            executable=executable(name="jit_sin"), module=None, function="sin", eager=True, transformed=True
        )
        programs = tuple(replace(sin, called_at=each) for each in lines)
        return Evidence(code="fit(x)", first=timing(), observed=timing(), programs=programs)

    return make


def test_the_method_of_a_library_is_to_be_jitted_before_the_loop(at: Any, evidence_at: Any) -> None:
    evidence = evidence_at(at(3), at(5))  # most programs are first run when the object is made
    assert str(method_remedy(at(5), evidence)) == (
        "Make update = jax.jit(svi.update) once, before the loop, and call update in place of svi.update, if its "
        "arguments are arrays and it changes no object. It compiles once for each svi that the code makes, which a "
        "short loop does not repay: where one serves several calls, make it once."
    )
    assert "for each svi" not in str(method_remedy(at(12), evidence_at(at(12))))


def test_another_line_of_the_loop_that_is_transformed_needs_more(at: Any, evidence_at: Any) -> None:
    assert method_remedy(at(5), evidence_at(at(5), at(6))) is None


def test_only_a_method_in_a_loop_is_jitted_there(at: Any, evidence_at: Any) -> None:
    assert [method_in_loop(at(each)) for each in (3, 5, 6, 12)] == ["", "svi.update", "", "svi.update"]
    assert method_remedy(at(3), evidence_at()) is None
    assert method_remedy(None, evidence_at()) is None
