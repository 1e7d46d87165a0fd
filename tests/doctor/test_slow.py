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

#: Found without a promise: how long a placement takes depends on what connects the devices.
UNPROMISED = {"resharding_in_every_call"}


@suite
@pytest.mark.clock
@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_slow_is_found_and_its_remedy_gains_what_it_promises(name: str) -> None:
    assert not missing(name)
    row = measure(name)
    assert row.found is not None, str(row.diagnosis)
    assert row.diagnosis.findings[0].rule in PROGRAMS[name].rules, str(row.diagnosis)
    assert {each.rule for each in row.diagnosis.findings} <= {*PROGRAMS[name].rules, "compile-time"}, row
    assert row.gained is not None, str(row.diagnosis)
    assert row.way, f"the remedy was not applied: {row.gained}"
    assert row.gained.outputs_agree is True, row.gained
    assert row.gained.survives is True, row.gained
    assert row.kept is (None if name in UNPROMISED else True), (row.promised, row.share, str(row.diagnosis))


def test_each_program_mended_by_hand_is_a_slow_one() -> None:
    assert {*MENDED} <= {*PROGRAMS}


def test_the_table_of_the_manual_is_of_these_programs() -> None:
    text = TABLE.read_text()
    assert digest() in text, "run `make tables`: what the table was made by has changed"
    shown = {name: line.split(" | ")[1] for name, line in lines_of(text).items()}
    assert [*shown] == [each for each in PROGRAMS if each in shown]
    assert all(rule in PROGRAMS[name].rules for name, rule in shown.items())


def test_each_remedy_in_the_table_of_the_manual_was_applied_and_gained_what_was_promised() -> None:
    lines = lines_of(TABLE.read_text())
    assert [*lines] == [*PROGRAMS]
    for name, line in lines.items():
        *_, promise, gain, outputs, way = line.strip("| ").split(" | ")
        assert (outputs.strip(), way.strip() != "not applied") == ("agree", True), line
        promised, gained = (re.findall(r"(\d+)%", cell) for cell in (promise, gain))
        assert gained, line
        if name in UNPROMISED:
            assert promise.strip() == "unknown"
        else:
            assert int(promised[0]) <= max(map(int, gained)) + 1, line  # both are rounded
