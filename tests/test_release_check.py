"""What ``make release-check`` does on each Python: here its commands are noted and not run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import release_check

WHEEL, SDIST = "jaxmagic-0.1.0-py3-none-any.whl", "jaxmagic-0.1.0.tar.gz"


class Commands:
    """Notes commands in place of running them; those that begin with `fails` fail."""

    def __init__(self) -> None:
        self.run: list[list[str]] = []
        self.fails = ""

    def __call__(self, command: list[str], **_: Any) -> Any:
        self.run.append([str(each) for each in command])
        code = int(bool(self.fails) and self.fails in " ".join(self.run[-1]))
        return subprocess.CompletedProcess(command, code, stdout="", stderr="no space left\n" * code)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Commands:
    (tmp_path / "dist").mkdir()
    for name in (WHEEL, SDIST):
        (tmp_path / "dist" / name).touch()
    noted = Commands()
    monkeypatch.setattr(release_check, "ROOT", tmp_path)
    monkeypatch.setattr(release_check.subprocess, "run", noted)
    monkeypatch.setattr(release_check.shutil, "which", lambda name: None if name == "python3.99" else name)
    return noted


def test_the_wheel_and_the_sdist_are_each_tried_in_an_environment_of_their_own(commands: Commands) -> None:
    assert release_check.package_problems("python3.12") == []
    asked, made, jax, *steps = commands.run
    assert asked == ["python3.12", "--version"]
    assert made[:3] == ["python3.12", "-m", "venv"]
    inside = f"{made[3]}/bin/python"
    assert {each[0] for each in (jax, *steps)} == {inside}
    assert jax[-2:] == list(release_check._JAX)
    install, smoke, build, again, smoke_again = steps
    assert (install[-2], Path(install[-1]).name) == ("install", WHEEL)
    assert (build[5], Path(build[-1]).name) == ("wheel", SDIST)
    built = Path(build[build.index("--wheel-dir") + 1], WHEEL)
    assert again[-2:] == ["--force-reinstall", str(built)]
    for each, wheel in ((smoke, install[-1]), (smoke_again, str(built))):
        assert each[1] == "-I"  # no package of this folder is imported
        assert each[2:] == [str(release_check.ROOT / "tests/smoke_wheel.py"), wheel]


def test_the_first_command_that_fails_is_told_and_ends_that_python(commands: Commands) -> None:
    commands.fails = "--wheel-dir"
    (problem,) = release_check.package_problems("python3.12")
    assert problem.endswith(": no space left")
    assert SDIST in problem
    assert "--wheel-dir" in commands.run[-1]


def test_a_python_that_is_missing_is_told(commands: Commands) -> None:
    (problem,) = release_check.package_problems("python3.99")
    assert problem.startswith("there is no python3.99; with pyenv: ")
    assert commands.run == []


def test_each_python_is_tried_and_every_problem_printed(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release_check, "version_problems", lambda root: [])
    pythons = ["python3.11", "python3.12", "python3.13"]
    assert release_check.main(pythons) == 0
    assert [each[0] for each in commands.run if each[1:] == ["--version"]] == pythons
    assert capsys.readouterr().out.count("ok    wheel and sdist work on python3.1") == 3
    commands.fails = "python3.12 -m venv"
    monkeypatch.setattr(release_check, "version_problems", lambda root: ["no date"])
    assert release_check.main(pythons) == 1
    printed = capsys.readouterr().out
    assert "      no date\n" in printed
    assert "WRONG wheel and sdist work on python3.12\n" in printed
    assert "ok    wheel and sdist work on python3.13\n" in printed


def test_make_tries_the_three_pythons_that_are_supported() -> None:
    root = Path(release_check.__file__).parent.parent
    (line,) = [each for each in (root / "Makefile").read_text("utf-8").splitlines() if "release_check.py" in each]
    classifiers = (root / "pyproject.toml").read_text("utf-8")
    for each in ("3.11", "3.12", "3.13"):
        assert f"python{each}" in line
        assert f"Python :: {each}" in classifiers
