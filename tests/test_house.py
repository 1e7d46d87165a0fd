"""The rooms of the house: who may import whom, and where a line lives."""

from __future__ import annotations

import logging
import re
from pathlib import Path

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
        (r"\bimport jax\b|from jax[. ]", r"runtime/|\w+/capture/"),
        (r"perf_counter|process_time|thread_time|time\.time\(", r"runtime/clock"),
        (r"block_until_ready|effects_barrier", r"timing/capture/|runtime/private_api"),
        (r"jax\._src", r"runtime/(private_api|executed_programs)|compilation/capture/jit_calls"),
        (r"(import|from) google", r"xla/|\w+/capture/"),
        (r"import pandas", r"report/(to_frame|displayable)"),
        (r"(?<!to_)matplotlib|pyplot", r"drawing/to_matplotlib|report/displayable"),
        (r"ipywidgets", r"report/panel|progress/line|overview/verbs|\w+/live_view"),
        (r"tqdm", r"progress/line"),
        (r"(import|from) (IPython|traitlets)", r"magics/|extension|\w+/magic|progress/line"),
        (r"</?(div|table|td|span)\b", r"report/(to_html|pictures|html_parts)"),
        (r"\bopen\(|write_text|write_bytes|read_text|read_bytes", r"records/files|drawing/scripts/"),
    ],
)
def test_a_line_lives_where_it_belongs(pattern: str, homes: str) -> None:
    assert offenders(pattern, homes) == []


def test_the_check_can_fail() -> None:
    assert offenders(r"\bimport jax\b|from jax[. ]")


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
