"""The checks for accelerators run to their end, here on a CPU and with little work; what they find says nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent / "gpu" / "run.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(RUN), *arguments], capture_output=True, text=True, timeout=500, check=False
    )


@pytest.mark.slow
@pytest.mark.clock
def test_every_check_gives_rows_and_the_report_has_them(tmp_path: Path) -> None:
    done = run(
        "checks",
        "fence",
        "profile",
        "memory",
        "marked",
        "--anyway",
        "--side",
        "64",
        "--scale",
        "0.002",
        "--into",
        str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "report.md").read_text()
    assert "**did not end**" not in report, report
    for number in range(1, 14):
        assert f"| {number}. " in report
    assert "jax " in report
    assert "cpu 0" in report


def test_without_an_accelerator_it_says_what_to_install() -> None:
    done = run("checks")
    assert (done.returncode, "JAX sees no accelerator: cpu 0" in done.stdout) == (1, True)
    assert "jax[cuda12]" in done.stdout


def test_a_part_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    done = run("nothing")
    assert done.returncode == 2
    assert "expected parts among marked, checks" in done.stderr
