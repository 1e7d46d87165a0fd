"""Code in the README runs as pasted, and pages of the manual announce what fails in their records."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import fabricated
from shells import open_shell

import jaxmagic
from jaxmagic.comparison.record.candidate import Check

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "file_format: mystnb" in path.read_text("utf-8")]


@pytest.fixture(autouse=True)
def failures(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    monkeypatch.delitem(sys.modules, "failures", raising=False)
    from failures import failures

    return failures


@pytest.mark.clock
@pytest.mark.slow
@pytest.mark.long
def test_the_blocks_of_the_readme_run_in_order_as_pasted(failures: Any) -> None:
    jaxmagic.history().clear()
    with open_shell() as session:
        for block in BLOCKS:
            session.run(block)
    assert len(BLOCKS) >= 8
    assert failures(jaxmagic.history()) == []
    kinds = {type(each).__name__ for each in jaxmagic.history()}
    assert kinds >= {"Timing", "Benchmark", "Comparison", "Sweep", "MemoryProfile", "Profile"}


def test_each_kind_of_failure_is_found(
    failures: Any, timing: Any, comparison: Any, sweep: Any, memory_profile: Any
) -> None:
    assert failures([timing(), comparison, memory_profile(), fabricated()]) == []
    wrong = Check(kind="allclose", passed=False, problem="different shape: (2,), not (3,)")
    numpy, jit = comparison.candidates
    found = failures(
        [
            timing(error="ValueError"),
            memory_profile(timing=timing(error="TypeError")),
            replace(fabricated(), error="KeyError"),
            replace(fabricated(), device_uses=()),
            replace(comparison, candidates=(numpy, replace(jit, check=wrong))),
        ]
    )
    assert found == [
        "Timing: ValueError",
        "MemoryProfile: TypeError",
        "Profile: KeyError",
        "Profile: no device time",
        "Comparison: jit computes something else",
    ]
    assert [each.split(":")[:2] for each in failures([sweep])] == [["Sweep", " numpy"], ["Sweep", " jit"]]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_ends_by_asking_its_records_for_failures(page: Path) -> None:
    assert "assert failures(jaxmagic.history()) == [" in page.read_text("utf-8").rstrip().split("```{code-cell}")[-1]


def test_there_are_pages_that_run() -> None:
    pages = [each.stem for each in PAGES if each.parent.name == "docs"]
    assert pages == ["claims", "doctor", "gallery", "how-it-measures", "quickstart", "records", "testing"]
    guides = {each.stem for each in (ROOT / "docs" / "how-to").glob("*.md")}
    assert {each.stem for each in PAGES if each.parent.name == "how-to"} == guides
