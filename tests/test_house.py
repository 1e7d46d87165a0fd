"""The rooms of the house: who may import whom, and where a line lives."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

import jaxmagic

PACKAGE = Path(jaxmagic.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


def offenders(pattern: str, *homes: str) -> list[str]:
    """Files with a line of code that belongs elsewhere."""
    found = []
    for path in SOURCES:
        place = path.relative_to(PACKAGE).as_posix()
        code = re.sub(r'""".*?"""|#[^\n]*', "", path.read_text(encoding="utf-8"), flags=re.S)
        if re.search(pattern, code) and not place.startswith(homes):
            found.append(place)
    return found


@pytest.mark.parametrize(
    ("pattern", "homes"),
    [
        (r"\bimport jax\b|from jax[. ]", ("capture/",)),
        (r"perf_counter|process_time|thread_time|time\.time\(", ("capture/clock.py",)),
        (
            r"block_until_ready|effects_barrier",
            ("capture/fence.py", "capture/internals.py", "capture/stopwatch.py", "capture/waiting.py"),
        ),
        (r"jax\._src", ("capture/internals.py",)),
        (r"import pandas", ("render/frames.py", "model/display.py")),
        (r"tqdm", ("render/progress_line.py")),
        (r"</?(div|table|td|span)\b", ("render/html.py", "render/pictures.py", "render/tags.py")),
        (r"matplotlib|pyplot", ("render/figures.py", "model/display.py")),
        (r"(import|from) (IPython|traitlets)", ("magics/", "render/progress_line.py")),
        (r"\bopen\(|write_text|write_bytes|read_text|read_bytes", ("files.py", "render/script.py")),
    ],
)
def test_a_line_lives_where_it_belongs(pattern: str, homes: tuple[str, ...]) -> None:
    assert offenders(pattern, *homes) == []


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
