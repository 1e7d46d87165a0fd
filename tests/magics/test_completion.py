"""Completions, in a real shell's completer as a terminal and a kernel ask it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from IPython import version_info
from IPython.core.completer import provisionalcompleter

import jaxmagic
from jaxmagic.comparison.capture.derivatives import Mode
from jaxmagic.magics.options import MODES


@pytest.fixture(autouse=True, scope="module")
def no_cache_of_other_processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Jedi's cache on disk is not written atomically, and what another worker writes meanwhile completes nothing."""
    jedi = pytest.importorskip("jedi")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jedi.settings, "cache_directory", str(tmp_path_factory.mktemp("jedi")))
        yield


def completed(session: Any, cell: str, at: int | None = None) -> list[str]:
    """What the cell is completed to, up to the cursor."""
    end = len(cell) if at is None else at
    with provisionalcompleter():
        return [cell[: each.start] + each.text for each in session.shell.Completer.completions(cell, end)]


knows_the_cell = pytest.mark.skipif(version_info < (8, 6), reason="IPython passes the line only")


def test_completions_are_offered_by_every_ipython(session: Any) -> None:
    session.run("import jaxmagic")
    assert "%jaxtime --max-time" in completed(session, "%jaxtime --max")
    assert "%%jaxcompare --check equal" in completed(session, "%%jaxcompare --check eq")
    assert any("compare" in each for each in completed(session, "jaxmagic.com"))
    assert session.run("%unload_ext jaxmagic") is None
    assert "%jaxtime --max-time" not in completed(session, "%jaxtime --max")


def test_options_are_completed_wherever_the_magic_is(session: Any) -> None:
    assert completed(session, "%jaxtime --ex") == ["%jaxtime --expect-no-compile", "%jaxtime --explain"]
    assert completed(session, "%jaxtime -q --max") == ["%jaxtime -q --max-time"]
    assert completed(session, "y = %jaxprof --co") == ["y = %jaxprof --cold"]
    assert completed(session, "%%jaxcompare --ch") == ["%%jaxcompare --check"]
    assert "%jaxtime -q" in completed(session, "%jaxtime -")


def test_code_is_completed_as_everywhere(session: Any) -> None:
    for cell in ("%jaxtime f(x) --ex", "%nothing --ex", "x --ex", "%jaxtime -- --ex"):
        assert not any("explain" in each for each in completed(session, cell))
    assert any(each.endswith("x.reshape") for each in completed(session, "%jaxtime -q x.resha"))


def test_values_are_completed(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "run.json").touch()
    monkeypatch.chdir(tmp_path)
    assert completed(session, "%jaxtimeit --save ru") == ["%jaxtimeit --save run.json", "%jaxtimeit --save runs/"]
    assert completed(session, "%jaxtimeit --against=ru") == [
        "%jaxtimeit --against=run.json",
        "%jaxtimeit --against=runs/",
    ]
    assert completed(session, "%jaxprof --logdir ru") == ["%jaxprof --logdir runs/"]
    assert completed(session, "%%jaxcompare --check 1") == ["%%jaxcompare --check 1"]
    assert completed(session, "%%jaxcompare --check a") == ["%%jaxcompare --check allclose"]


@pytest.mark.parametrize("option", ["--budget", "--rtol", "--sweep", "-r", "-v", "--per"])
def test_a_value_of_which_nothing_is_known_is_offered_no_names_and_files(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    (tmp_path / "xs.json").touch()
    monkeypatch.chdir(tmp_path)
    session.run("xs = 1")
    for given in ("", "x"):
        assert set(completed(session, f"%%jaxcompare {option} {given}")) == {f"%%jaxcompare {option} {given}"}


def test_code_in_an_option_and_behind_an_optional_value_is_completed_as_everywhere(session: Any) -> None:
    for cell in ("%jaxtimeit --each x.resha", "%jaxtimeit --setup x.resha", "%jaxmem --pprof x.resha"):
        assert any(each.endswith("x.reshape") for each in completed(session, cell))


def test_modes_are_completed_each_by_itself(session: Any) -> None:
    assert set(MODES) == set(get_args(Mode))
    assert completed(session, "%%jaxcompare --modes ") == [f"%%jaxcompare --modes {each}" for each in MODES]
    assert completed(session, "%%jaxcompare --modes g") == ["%%jaxcompare --modes grad"]
    assert completed(session, "%%jaxcompare --modes=forward,gr") == ["%%jaxcompare --modes=forward,grad"]
    assert completed(session, "%%jaxcompare --modes forward,v") == ["%%jaxcompare --modes forward,value_and_grad"]


@knows_the_cell
def test_labels_are_completed_from_the_lines_below(session: Any) -> None:
    line = "%%jaxcompare --baseline "
    cell = f"{line}\nz = x\njit of vmap: f(z)\neager: z * 2"
    assert completed(session, cell, len(line)) == [f'{line}"jit of vmap"', f"{line}eager"]


def test_functions_come_before_classes(session: Any) -> None:
    session.run("import jaxmagic")
    names = [each.partition(".")[2] for each in completed(session, "jaxmagic.")]
    assert set(names) == set(jaxmagic.__all__)
    kinds = [name[0].islower() for name in names]
    assert kinds == sorted(kinds, reverse=True)
    assert completed(session, "y = jaxmagic.ben") == ["y = jaxmagic.benchmark"]
    session.run("jaxmagic = x")
    assert "jaxmagic.compare" not in completed(session, "jaxmagic.com")


@pytest.mark.parametrize("jedi", [False, True])
def test_an_import_offers_what_is_public_and_nothing_else(session: Any, jedi: bool) -> None:
    session.shell.Completer.use_jedi = jedi
    line = "from jaxmagic import "
    names = [each.removeprefix(line) for each in completed(session, line)]
    assert set(names) == {*jaxmagic.__all__, "testing"}
    kinds = [name[0].islower() for name in names]
    assert kinds == sorted(kinds, reverse=True)
    for begun in (
        f"{line}load, ben",
        f"{line}(ben",
        f"{line}load as read, ben",
        "import jax; from jaxmagic import ben",
    ):
        assert completed(session, begun) == [f"{begun}chmark"]
    assert "from jax import Array" in completed(session, "from jax import Arr")
    assert "from jaxmagic.testing import assert_faster" in completed(session, "from jaxmagic.testing import assert_f")
