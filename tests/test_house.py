"""The house: who may import whom, where a line lives, and how large files and folders are."""

from __future__ import annotations

import ast
import logging
import re
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

import pytest

import jaxmagic

PACKAGE = Path(jaxmagic.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


def offenders(pattern: str, homes: str = "nowhere") -> list[str]:
    """Files with a line of code that belongs elsewhere."""
    found = []
    for path in SOURCES:
        place = path.relative_to(PACKAGE).as_posix()
        code = re.sub(r'""".*?"""|#[^\n]*', "", path.read_text(encoding="utf-8"), flags=re.S)
        if re.search(pattern, code) and not re.match(homes, place):
            found.append(place)
    return found


@pytest.mark.parametrize(
    ("pattern", "homes"),
    [
        (r"\bimport jax\b|from jax[. ]", r"runtime/|\w+/capture\b"),
        (r"perf_counter|process_time|thread_time|time\.time\(", r"runtime/clock"),
        (
            r"block_until_ready|effects_barrier",
            r"timing/capture/|doctor/(rules/host/wait|report/host|analysis/donating/(held_values|rebinding))\.py",
        ),
        (
            r"jax\._src",
            r"runtime/(private_api|executed_programs|copies|tracing|jaxprs/\w+)|\w+/capture/(wait_points|jit_calls)",
        ),
        (r"(import|from) google", r"xla/|\w+/capture\b"),
        (r"import pandas", r"report/(to_frame|displayable)"),
        (
            r"(?<!to_)matplotlib(?!_parts)|pyplot",
            r"drawing/(to_matplotlib|matplotlib_parts)|report/displayable|\w+/capture/side_effects/foreseen_files",
        ),
        (r"ipywidgets", r"report/panel|progress/line|overview/verbs|\w+/live_view"),
        (r"tqdm", r"progress/line"),
        (r"(import|from) (IPython|traitlets)", r"magics/|extension|\w+/magic|progress/line|report/panel"),
        (r"</?(div|table|td|span)\b", r"report/(to_html|pictures|html_parts)"),
        (
            r"\bopen\(|write_text|write_bytes|read_text|read_bytes",
            r"records/files|drawing/scripts/|\w+/capture/side_effects/foreseen_files",
        ),
    ],
)
def test_a_line_lives_where_it_belongs(pattern: str, homes: str) -> None:
    assert offenders(pattern, homes) == [], f"only {homes} may have such a line: docs/architecture.md says why"


def test_the_check_can_fail() -> None:
    assert offenders(r"\bimport jax\b|from jax[. ]")


#: Records, and the files that answer what each is asked of itself: the record asks them in a method.
ANSWERS = {
    "benchmarking.record.benchmark": ("benchmarking.record.findings", "benchmarking.record.processes"),
    "comparison.record.comparison": ("comparison.record.verdict",),
    "comparison.record.sweep": ("comparison.record.scaling", "comparison.record.crossings"),
}


def imports_of(path: Path) -> set[str]:
    """Files that one imports: at its top, in its functions, and for its annotations."""
    package = path.relative_to(PACKAGE).with_suffix("").parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            for name in node.names:
                whole = [each for each in (*base, name.name) if each]
                found.add(".".join(whole if PACKAGE.joinpath(*whole).with_suffix(".py").exists() else whole[:-1]))
    return found


def test_no_file_imports_itself_by_way_of_others() -> None:
    arrows = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): imports_of(path)
        for path in SOURCES
        if path != PACKAGE / "__init__.py"
    }
    for record, others in ANSWERS.items():
        for other in others:
            assert other in arrows[record], f"{record} no longer asks {other}"
            arrows[record].remove(other)
    order = TopologicalSorter({name: {each for each in found if each != name} for name, found in arrows.items()})
    order.prepare()  # raises CycleError, which names the circle


def test_files_are_small_and_folders_hold_few_of_them() -> None:
    lines = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8").count("\n") for path in SOURCES}
    assert {name: count for name, count in lines.items() if count > 320} == {}, "split it by what its parts do"
    assert 60 <= median(lines.values()) <= 150
    folders = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert {str(folder): count for folder, count in folders.items() if count > 16} == {}, "make a folder in it"
    alone = {folder for folder, count in folders.items() if count == 1 and not [*folder.glob("*/__init__.py")]}
    assert alone == set(), "make the only file of a folder a file in the folder above"


def test_no_merge_was_left_half_done() -> None:
    root = Path(__file__).parent.parent
    folders = (root / each for each in ("jaxmagic", "tests", "docs", "notebooks"))
    found = [*root.iterdir(), *(path for folder in folders for path in folder.rglob("*"))]
    files = [path for path in found if path.suffix in (".md", ".py", ".ipynb")]
    assert len(files) > 1000
    marks = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
    assert [str(path) for path in files if marks.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.slow
def test_the_import_contract_is_kept() -> None:
    pytest.importorskip("importlinter", reason="import-linter is installed for development")
    from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

    root = PACKAGE.parent
    if not (root / "pyproject.toml").exists():
        pytest.skip("the contract stands in pyproject.toml, and this is an installed package")
    loggers = [each for each in logging.root.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    silent = [each for each in loggers if each.disabled]
    try:
        assert lint_imports(config_filename=str(root / "pyproject.toml")) == EXIT_STATUS_SUCCESS
    finally:
        for each in loggers:  # it silences all that there are, JAX's too, for the tests that follow
            each.disabled = each in silent
