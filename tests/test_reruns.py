"""Only what meets the real clock, threads or a browser is run again, and that is told."""

from __future__ import annotations

import builtins
import doctest
from pathlib import Path
from typing import Any

import pytest
import reruns

TESTS = Path(__file__).parent

#: Every test fails at first; each counts its runs in a file.
SUITE = """
import pytest
from pathlib import Path

def fails_at_first(name, times=1):
    runs = Path(name)
    runs.write_text(runs.read_text() + "|" if runs.exists() else "|")
    assert len(runs.read_text()) > times

@pytest.fixture
def work(): pass

def test_plain(): fails_at_first("plain")
@pytest.mark.slow
def test_slow(): fails_at_first("slow")
@pytest.mark.clock
def test_clock(): fails_at_first("clock")
@pytest.mark.browser
def test_browser(): fails_at_first("browser")
def test_work(work): fails_at_first("work")
@pytest.mark.clock
def test_broken(): fails_at_first("broken", times=9)
"""

CONFTEST = """
import reruns

def pytest_collection_modifyitems(config, items):
    reruns.rerun(items, can=config.pluginmanager.hasplugin("rerunfailures"))

def pytest_terminal_summary(terminalreporter):
    for line in reruns.summary(terminalreporter.stats): terminalreporter.line(line)
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_is_marked_is_run_again_twice_and_nothing_else(pytester: pytest.Pytester, workers: str) -> None:
    pytest.importorskip("pytest_rerunfailures")
    pytester.makeini(f"[pytest]\nmarkers =\n    clock\n    browser\n    slow\npythonpath = {TESTS}")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess("--strict-markers", "-n", workers, "-p", "no:cacheprovider")
    names = "plain", "slow", "clock", "browser", "work", "broken"
    runs = {name: len((pytester.path / name).read_text()) for name in names}
    assert runs == {"plain": 1, "slow": 1, "clock": 2, "browser": 2, "work": 2, "broken": 3}
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"]) == (3, 3)
    told = [line.partition("::")[2] for line in result.outlines if ": run again" in line]
    assert told == [
        "test_broken: run again 2 times",
        "test_browser: run again 1 time",
        "test_clock: run again 1 time",
        "test_work: run again 1 time",
    ]


def test_what_meets_the_clock_or_threads_is_marked() -> None:
    missing = {
        path.relative_to(TESTS).as_posix(): names
        for path in TESTS.rglob("test_*.py")
        if "browser" not in path.parts and (names := list(reruns.unmarked(path.read_text(encoding="utf-8"))))
    }
    assert missing == {}


def test_the_examples_run(monkeypatch: Any) -> None:
    monkeypatch.setattr(builtins, "_", None, raising=False)  # doctest leaves it, and IPython then keeps off its own
    assert doctest.testmod(reruns).failed == 0


def test_there_is_something_to_run_again_with(pytestconfig: pytest.Config) -> None:
    pytest.importorskip("pytest_rerunfailures")
    assert pytestconfig.pluginmanager.hasplugin("rerunfailures")
