"""The chart of a diagnosis has what the findings cost, and there is none if none of them costs time in a run."""

from __future__ import annotations

from typing import Any

import pytest


def test_each_cost_stands_beside_a_run(diagnosis: Any, rule_finding: Any) -> None:
    found = diagnosis(findings=(rule_finding(cost_ns=30e6), rule_finding(cost_ns=None)))
    assert [each.get_text() for each in found.figure().axes[0].get_yticklabels()][:1] == ["a run"]
    assert len(found.figure().axes[0].get_yticklabels()) == 2


@pytest.mark.parametrize("changes", [{"rule": "error", "cost_ns": None}, {"cost_ns": 3e6, "per": "first run"}])
def test_without_a_cost_in_each_run_there_is_nothing_to_draw(diagnosis: Any, rule_finding: Any, changes: Any) -> None:
    with pytest.raises(ValueError, match="no finding costs time in each run"):
        diagnosis(findings=(rule_finding(**changes),)).figure()
