"""What holds only at a release, checked before it is made: ``make release-check``.

Run from the root of the repository, with ``dist`` holding one wheel and one sdist:
``python tests/release_check.py python3.11 python3.12 python3.13``. `package_check` has what holds at any time.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from package_check import run

ROOT = Path(__file__).parent.parent

#: As `smoke_wheel.py` expects it: the oldest JAX that is supported, which runs on all three Pythons.
_JAX = "jax==0.7.2", "jaxlib==0.7.2"


def main(pythons: list[str]) -> int:
    """Run all checks; print every problem."""
    checks: dict[str, Callable[[], list[str]]] = {
        "version, changelog and citation agree": lambda: version_problems(ROOT)
    }
    for python in pythons:
        checks[f"wheel and sdist work on {python}"] = lambda python=python: package_problems(python)  # type: ignore[misc]
    return run(checks)


def version_problems(root: Path) -> list[str]:
    """Compare the package's version with the newest entry of the changelog, and with the citation."""
    version = re.findall(r'__version__ = "(.*)"', (root / "jaxmagic/version.py").read_text("utf-8"))[0]
    entry, date = re.findall(r"^## \[(.*?)\] - (.*)$", (root / "CHANGELOG.md").read_text("utf-8"), re.M)[0]
    cited = re.findall(r"^version: (.*)$", (root / "CITATION.cff").read_text("utf-8"), re.M)[0]
    problems = []
    if entry != version:
        problems.append(f"jaxmagic/version.py has {version}, the newest entry of CHANGELOG.md is {entry}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        problems.append(f"CHANGELOG.md: expected a date such as 2026-01-31 for {entry}, got {date!r}")
    if cited != version:
        problems.append(f"jaxmagic/version.py has {version}, CITATION.cff has {cited}")
    return problems


def package_problems(python: str) -> list[str]:
    """Try the wheel, and a wheel made of the sdist, in an environment that has only JAX."""
    if shutil.which(python) is None or subprocess.run([python, "--version"], capture_output=True).returncode:
        return [f"there is no {python}; with pyenv: PYENV_VERSION=3.11.7:3.12.1:3.13.0 make release-check"]
    (wheel,), (sdist,) = sorted((ROOT / "dist").glob("*.whl")), sorted((ROOT / "dist").glob("*.tar.gz"))
    with tempfile.TemporaryDirectory() as directory:
        its_python, built = f"{directory}/bin/python", Path(directory, "built")
        pip = [its_python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        steps = [
            [python, "-m", "venv", directory],
            [*pip, "install", *_JAX],
            [*pip, "install", str(wheel)],
            [its_python, "-I", str(ROOT / "tests/smoke_wheel.py"), str(wheel)],
            [*pip, "wheel", "--no-deps", "--wheel-dir", str(built), str(sdist)],
            [*pip, "install", "--no-deps", "--force-reinstall", str(built / wheel.name)],
            [its_python, "-I", str(ROOT / "tests/smoke_wheel.py"), str(built / wheel.name)],
        ]
        for step in steps:
            done = subprocess.run(step, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode:
                return [f"{' '.join(step)}: {(done.stdout + done.stderr).strip()[-2000:]}"]
    return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
