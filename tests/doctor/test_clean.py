"""Clean programs have no finding."""

from __future__ import annotations

import pytest

import jaxmagic

from .clean import PROGRAMS

pytestmark = [pytest.mark.long, pytest.mark.clock]


def test_there_are_forty_of_them() -> None:
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_clean_program_has_no_finding(name: str) -> None:
    run, arguments = PROGRAMS[name]()
    found = jaxmagic.diagnose(run, *arguments)
    # Compiling anything takes a second where the machine is busy.
    assert [(each.rule, str(each)) for each in found.findings if each.rule != "compile-time"] == []
    assert set(found.looked) >= {"recompile", "compile-time"}
    assert [str(each) for each in found.notes if each.kind == "doctor.rule_failed"] == []
