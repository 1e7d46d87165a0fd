"""Code in the README runs as pasted, and pages of the manual announce what fails in their records."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import readme_pictures
from fabricate.profiling import fabricated
from shells import open_shell

import jaxmagic
from jaxmagic.comparison.record.candidate import Check

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
#: A block of Python, and the text that the README says it prints.
BLOCKS = readme_pictures.BLOCKS.findall(README)
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
        for block, printed in BLOCKS:
            session.run(block)
            report = without_numbers(session.report) if printed else ""
            assert [line for line in printed.splitlines() if without_numbers(line) not in report] == []
    assert sum(bool(printed) for _, printed in BLOCKS) >= 1
    assert failures(jaxmagic.history()) == []
    kinds = {type(each).__name__ for each in jaxmagic.history()}
    assert kinds >= {"Timing", "Comparison", "MemoryProfile", "Profile", "Diagnosis"}


def without_numbers(report: str) -> str:
    """The words of a report, which are the same on every machine, in one line."""
    masked = re.sub(r"[\d.,]*\d(?: (?:ns|µs|ms|s|min|%|[KMG]iB)(?!\w))?", "#", report)
    return " ".join(masked.split())


def test_numbers_and_units_differ_between_machines_and_words_do_not() -> None:
    assert (
        without_numbers("host 1.34 ms\n  wait 40 s")
        == without_numbers("host 271 µs   wait 1.2 min")
        == "host # wait #"
    )
    assert without_numbers("host 1 ms") != without_numbers("dispatch 1 ms")


def test_each_picture_of_the_readme_is_of_a_block_in_light_and_dark() -> None:
    shown = re.findall(r'(?:src|srcset)="(docs/images/[^"]+)"', README)
    assert sorted(shown) == sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "images").iterdir())
    magics = {re.match(r"%%?(jax\w+)", block)[1] for block, _ in BLOCKS if re.match(r"%%?jax\w+", block)}  # type: ignore[index]
    assert {Path(path).stem for path in shown} == magics | {f"{magic}-dark" for magic in magics}


@pytest.mark.parametrize("magic", readme_pictures.blocks())
def test_the_pictures_and_the_printed_text_of_the_readme_are_of_reports_as_they_are_now(magic: str) -> None:
    """Where a report has changed: JAXMAGIC_PICTURES=write pytest tests/browser/test_readme.py, and look at them."""
    now = readme_pictures.words_now(magic)
    for ending in readme_pictures.THEMES:
        assert readme_pictures.words_in(readme_pictures.IMAGES / f"{magic}{ending}.png") == now
    code, printed = readme_pictures.blocks()[magic]
    assert code.endswith(readme_pictures.record_of(magic).code)
    assert printed.strip() in ("", readme_pictures.text_of(magic).strip())


def test_the_readme_says_of_other_tools_what_was_measured() -> None:
    measured = (ROOT / "docs" / "tables" / "tools.md").read_text("utf-8")
    row = re.compile(r"\| ([^|]+) \| (\d+) \| ([\d.]+) \| (.+) \|$", re.M)
    told, found = row.findall(README), row.findall(measured)
    assert len(found) >= 12
    assert [each[:3] for each in told] == [each[:3] for each in found]  # no tool that answered is left out
    for (*_, short), (*_, answer) in zip(told, found, strict=True):
        assert set(re.findall(r"[\d.]*\d", short)) <= set(re.findall(r"[\d.]*\d", answer)), short


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


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_lines_that_a_page_shows_and_does_not_run_read_what_it_defines(page: Path) -> None:
    """Such as those with --processes, which take too long: they would fail with a NameError when pasted."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"^```(?:python|\{code-cell\} ipython3)\n(.*?)^```", text, re.M | re.S)
    defined = {*dir(builtins), *re.findall(r"-v (\w+)", text)}
    for block in blocks:
        for line in re.findall(r"^%jax\w+ (.*)$", block, re.M):
            read, _ = names_of(re.sub(r"^(?:--?\w[\w-]*(?: [\w.]+)? )*(?=\S+\(|\w+,|\w+ =)", "", line))
            assert read <= defined | names_of(re.sub(r"^%.*|^:tags:.*", "", block, flags=re.M))[1], line
        defined |= names_of(re.sub(r"^%.*|^:tags:.*", "", block, flags=re.M))[1]


def names_of(code: str) -> tuple[set[str], set[str]]:
    """The names that code reads, and those that it assigns, imports or defines; none of what is no code."""
    try:
        nodes = [*ast.walk(ast.parse(code))]
    except SyntaxError:
        return set(), set()
    names = [each for each in nodes if isinstance(each, ast.Name)]
    bound = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    bound |= {each.asname or each.name.partition(".")[0] for each in nodes if isinstance(each, ast.alias)}
    bound |= {each.name for each in nodes if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    return {each.id for each in names if isinstance(each.ctx, ast.Load)}, bound


def test_there_are_pages_that_run() -> None:
    pages = [each.stem for each in PAGES if each.parent.name == "docs"]
    assert pages == ["claims", "doctor", "gallery", "how-it-measures", "quickstart", "records", "testing"]
    measuring = [each.stem for each in PAGES if each.parent.name == "measuring"]
    assert measuring == ["causes"]
    guides = {each.stem for each in (ROOT / "docs" / "how-to").glob("*.md")}
    assert {each.stem for each in PAGES if each.parent.name == "how-to"} == guides
