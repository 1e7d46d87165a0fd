"""Ten programs of the ecosystem under ``%%jaxdoctor``: nothing is found that is not there."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from shells import open_shell

from jaxmagic.doctor.record.diagnosis import Diagnosis

from .percent import Program, programs

RUN = [each for each in programs() if all(find_spec(name.partition(".")[0]) for name in each.imports)]

#: What there is to find: the rules, by program.
TRUE = {
    "n_body": ("not-jitted", "sort"),  # it is never jitted
    "numpyro_nuts": ("compile-time",),  # MCMC.run() compiles in each call
    "scan_rnn": ("sort",),  # its planted line
}

pytestmark = [pytest.mark.slow, pytest.mark.clock]


def test_no_program_is_left_out() -> None:
    if len(RUN) < len(programs()) and "JAXMAGIC_ECOSYSTEM" not in os.environ:
        pytest.skip("the nox session 'ecosystem' has the libraries")
    assert len(RUN) == len(programs())


@pytest.mark.parametrize("program", RUN, ids=lambda program: program.name)
def test_a_program_has_no_finding_that_is_not_true(program: Program) -> None:
    """Where it is compiled, which takes a second on a busy machine, and where nothing is compiled any more."""
    with open_shell() as session:
        session.run("%load_ext jaxmagic")
        for cell in program.prepare:
            session.run(cell)
        for left_out in ({"compile-time"}, set[str]()):
            session.run(f"%%jaxdoctor -q -v found\n{program.step}")
            found: Diagnosis = session.shell.user_ns["found"]
            rules = {each.rule for each in found.findings} - left_out
            assert rules <= set(TRUE.get(program.name, ())), str(found)
            assert [each for each in found.notes if each.kind == "doctor.rule_failed"] == []
