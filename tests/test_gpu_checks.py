"""The checks for accelerators run to their end, here on a CPU and with little work; what they find says nothing."""

from __future__ import annotations

import shutil
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
    for row in ("5. truth, p, l = step(p)", "8. first runs, eager loading", "10. first start_trace"):
        assert row in report
    kept = {file.relative_to(tmp_path / "recordings").parts[0] for file in tmp_path.rglob("*.xplane.pb")}
    assert {"graphs-off", "graphs-on", "sums", "streams"} <= kept
    assert "jax " in report
    assert "cpu 0" in report


def test_without_an_accelerator_it_says_what_to_install() -> None:
    done = run("checks")
    assert (done.returncode, "JAX sees no accelerator: cpu 0" in done.stdout) == (1, True)
    assert "jax[cuda12]" in done.stdout


#: As on a machine with JAX, and without a network to install anything else.
_ALONE = """
import runpy, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("google", "IPython", "pandas", "matplotlib", "ipywidgets", "pytest"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_where_jax_is_all_that_there_is_the_rest_is_named_and_what_needs_it_left_out(tmp_path: Path) -> None:
    options = "--anyway", "--side", "64", "--scale", "0.002", "--into", str(tmp_path)
    command = [sys.executable, "-c", _ALONE, str(RUN), "memory", "truth", "marked", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Missing besides JAX: google.protobuf, IPython, pandas" in done.stdout
    report = (tmp_path / "report.md").read_text()
    assert "| memory | not run: google is missing | | |" in report
    assert "| 12. set_mesh first | ran" in report
    assert "Not run: IPython, pandas is missing." in report
    assert "Not run: pytest is missing." in report


#: A Python whose JAX sees an accelerator, or none, and that cannot make an environment, as without a network.
_PYTHON = """#!/bin/sh
case "$1" in
  -c) exit {sees} ;;
  -m) echo "no network" >&2; exit 1 ;;
esac
echo "run with $*"
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(
    ("sees", "code", "told"),
    [(0, 0, "run with tests/gpu/run.py checks"), (1, 2, "make gpu PYTHON=/path/to/python")],
)
def test_make_uses_a_jax_that_sees_an_accelerator_or_says_that_none_could_be_installed(
    sees: int, code: int, told: str, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text(_PYTHON.format(sees=sees))
    python.chmod(0o755)
    made = ["make", "-f", str(RUN.parents[2] / "Makefile"), "gpu", f"PYTHON={python}", "PARTS=checks"]
    done = subprocess.run(made, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == code, done.stderr
    assert told in done.stdout + done.stderr
    assert ("installing one" in done.stdout) == bool(sees)


def test_a_part_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    done = run("nothing")
    assert done.returncode == 2
    assert "expected parts among marked, checks" in done.stderr
