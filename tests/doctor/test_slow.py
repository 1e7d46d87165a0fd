"""Slow programs of the kind that people post: found, and faster by at least what the finding promises.

This depends on what else the machine does, so it is a suite: ``make suites``, or ``JAXMAGIC_DIAGNOSED=1``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from .slow import MENDED, PROGRAMS
from .slow_table import digest, lines_of, measure, missing

TABLE = Path(__file__).parents[2] / "docs" / "tables" / "slow.md"

suite = pytest.mark.skipif("JAXMAGIC_DIAGNOSED" not in os.environ, reason="a suite: needs a quiet machine")

#: Programs whose remedy is tried by compiling alone, or that are found without a cost.
OF_MEMORY = "rematerialise", "donation", "captured-constant"


@suite
@pytest.mark.clock
@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_slow_is_found_and_its_remedy_gains_what_it_promises(name: str) -> None:
    if missing(name):
        pytest.skip(f"waits for {missing(name)}")
    row = measure(name)
    assert row.found is not None, str(row.diagnosis)
    assert {each.rule for each in row.diagnosis.findings} <= {*PROGRAMS[name].rules, "compile-time"}, row
    if row.gained is None or row.way == "":
        pytest.skip(f"the remedy was not applied: {row.found.verified}")
    assert row.gained.outputs_agree is not False, row.gained
    assert row.gained.survives is not False or row.found.rule in OF_MEMORY, row.gained
    assert row.kept is not False, (row.promised, row.share, str(row.diagnosis))


def test_each_program_mended_by_hand_is_a_slow_one() -> None:
    assert {*MENDED} <= {*PROGRAMS}


def test_the_table_of_the_manual_is_of_these_programs() -> None:
    text = TABLE.read_text()
    assert digest() in text, "run `make tables`: what the table was made by has changed"
    shown = {name: line.split(" | ")[1] for name, line in lines_of(text).items()}
    assert [*shown] == [each for each in PROGRAMS if each in shown]
    assert all(rule in PROGRAMS[name].rules for name, rule in shown.items())


def test_each_remedy_in_the_table_of_the_manual_gained_what_was_promised() -> None:
    kept = 0
    for line in lines_of(TABLE.read_text()).values():
        promised, gained = (re.findall(r"(\d+)%", cell) for cell in line.split(" | ")[3:5])
        if promised and gained:  # a share of the same thing
            assert int(promised[0]) <= max(map(int, gained)) + 1, line  # both are rounded
            kept += 1
    assert kept > len(PROGRAMS) / 2
