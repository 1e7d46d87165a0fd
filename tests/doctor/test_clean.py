"""Clean programs have no finding."""

from __future__ import annotations

import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis

from . import clean_loops  # noqa: F401
from .clean import PROGRAMS
from .clean_cells import SCRIPTS

pytestmark = [pytest.mark.long, pytest.mark.clock]


def test_there_are_forty_two_of_them() -> None:
    assert len(PROGRAMS) + len(SCRIPTS) == 42


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_clean_program_has_no_finding(name: str) -> None:
    """Where it is compiled, which takes a second on a busy machine, and where nothing is compiled any more."""
    run, arguments = PROGRAMS[name]()
    first, again = jaxmagic.diagnose(run, *arguments), jaxmagic.diagnose(run, *arguments)
    assert [(each.rule, str(each)) for each in first.findings if each.rule != "compile-time"] == []
    assert [(each.rule, str(each)) for each in again.findings] == []
    for found in (first, again):
        assert set(found.looked) >= {"recompile", "compile-time"}
        assert_all_rules_worked(found)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_clean_cell_that_ran_before_has_no_finding(name: str, session: Session) -> None:
    for cell in SCRIPTS[name]:
        session.run(cell)
    session.run(f"%%jaxdoctor -v found\n{SCRIPTS[name][-1]}")
    found = session.shell.user_ns["found"]
    assert [(each.rule, str(each)) for each in found.findings] == []
    assert_all_rules_worked(found)


def assert_all_rules_worked(found: Diagnosis) -> None:
    assert [str(each) for each in found.notes if each.kind == "doctor.rule_failed"] == []
