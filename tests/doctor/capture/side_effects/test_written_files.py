"""Files that the code opens for writing, and traces that it records, are seen; everything is put back."""

from __future__ import annotations

import builtins
import codecs
import gzip
import io
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.capture.side_effects.written_files import WrittenFiles


def opened(path: Path) -> None:
    with open(path, "a") as file:
        file.write("1\n")


WRITE: dict[str, Callable[[Path], Any]] = {
    "open": opened,
    "io.open": lambda path: io.open(path, mode="xb").close(),  # noqa: UP020
    "os.open": lambda path: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)),
    "update": lambda path: open(path.with_name("there"), "r+").close(),
    "pathlib": lambda path: path.write_text("1"),
    "Path.open": lambda path: path.open("w").close(),
    "numpy": lambda path: np.save(path.with_suffix(".npy"), np.ones(2)),
    "savez": lambda path: np.savez(path.with_suffix(".npz"), np.ones(2)),
    "savetxt": lambda path: np.savetxt(path, np.ones(2)),
    "tofile": lambda path: np.ones(2).tofile(path),
    "jax": lambda path: jnp.save(path.with_suffix(".npy"), jnp.ones(2)),
    "copy": lambda path: shutil.copyfile(path.with_name("there"), path),
    "gzip": lambda path: gzip.open(path, "wt").close(),
    "codecs": lambda path: codecs.open(str(path), "w").close(),
    "callback": lambda path: jax.block_until_ready(
        jax.pure_callback(lambda: np.float32(path.write_text("1")), jax.ShapeDtypeStruct((), jnp.float32))
    ),
}


@pytest.mark.parametrize("name", WRITE)
def test_a_file_that_is_opened_for_writing_is_seen(name: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("1")
    files = WrittenFiles()
    with files.observed():
        WRITE[name](tmp_path / "new")
    assert [Path(each).stem for each in files.paths] == ["there" if name == "update" else "new"]
    assert not files.traced


CHANGE: dict[str, Callable[[Path], Any]] = {
    "mkdir": lambda path: path.mkdir(),
    "makedirs": lambda path: os.makedirs(path),
    "rename": lambda path: path.with_name("new").rename(path.with_name("other")),
    "unlink": lambda path: path.unlink(),
    "remove": lambda path: os.remove(path),
    "rmdir": lambda path: path.with_name("folder").rmdir(),
    "rmtree": lambda path: shutil.rmtree(path.with_name("folder")),
    "move": lambda path: shutil.move(path, path.with_name("other")),
}


@pytest.mark.parametrize("name", CHANGE)
def test_a_file_or_folder_that_is_made_moved_or_removed_is_seen(name: str, tmp_path: Path) -> None:
    path = tmp_path / "new"
    (tmp_path / "folder").mkdir()
    if name not in ("mkdir", "makedirs"):
        path.write_text("1")
    files = WrittenFiles()
    with files.observed():
        CHANGE[name](path)
    assert [Path(each).name for each in files.paths] == ["folder" if name in ("rmdir", "rmtree") else "new"]
    assert not files.started


START: dict[str, tuple[Callable[[], Any], str]] = {
    "run": (lambda: subprocess.run([sys.executable, "-c", ""], check=True), Path(sys.executable).name),
    "output": (lambda: subprocess.check_output("echo 1", shell=True), "sh"),
    "system": (lambda: os.system("true 1"), "true 1"),
    "popen": (lambda: os.popen("true").close(), "sh"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="other functions start programs there")
@pytest.mark.parametrize("name", START)
def test_a_program_that_is_started_is_seen(name: str) -> None:
    start, program = START[name]
    files = WrittenFiles()
    with files.observed():
        start()
    assert list(files.started) == [program]
    assert not files.paths


def test_temporary_folders_and_what_asks_for_the_system_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "_uname_cache", None)
    files = WrittenFiles()
    with files.observed(), tempfile.TemporaryDirectory():
        assert platform.uname().system
        assert platform.processor() is not None  # which asks the program uname
    assert not files.started
    assert not files.paths


READ: dict[str, Callable[[Path], Any]] = {
    "open": lambda path: open(path).close(),
    "bytes": lambda path: path.read_bytes(),
    "numpy": lambda path: np.fromfile(path, np.uint8),
    "os.open": lambda path: os.close(os.open(path, os.O_RDONLY)),
    "temporary": lambda path: tempfile.NamedTemporaryFile("w").close(),
    "no file": lambda path: open(os.devnull, "w").close(),
    "descriptor": lambda path: open(os.dup(1), "w").close(),
}


@pytest.mark.parametrize("name", READ)
def test_files_that_are_read_and_temporary_ones_do_not_count(name: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("1")
    files = WrittenFiles()
    with files.observed():
        READ[name](tmp_path / "there")
    assert files.paths == {}


def test_importing_a_module_and_jaxs_cache_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_while_observed.py").write_text("x = 1")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    files = WrittenFiles()
    with files.observed():
        import imported_while_observed  # type: ignore[import-not-found]
    assert imported_while_observed.x == 1
    assert files.paths == {}


def test_functions_are_put_back_also_after_an_error(tmp_path: Path) -> None:
    before = builtins.open, io.open, os.open, jax.profiler.start_trace
    files = WrittenFiles()
    with pytest.raises(FileNotFoundError) as raised, files.observed():
        assert builtins.open is not before[0]
        opened(tmp_path / "missing" / "file")
    assert (builtins.open, io.open, os.open, jax.profiler.start_trace) == before
    assert files.paths == {}
    assert raised.value.filename == str(tmp_path / "missing" / "file")


@pytest.fixture
def magics(session: Session, tmp_path: Path) -> Session:
    session.run(
        "import jax, jax.numpy as jnp, numpy as np, jaxmagic\n"
        f"folder = {str(tmp_path)!r}\n"
        "f, x = jax.jit(lambda x: jnp.sin(x) + 1), jnp.ones(8)\n"
        "def logged(x):\n"
        "    y = f(x)\n"
        "    with open(folder + '/log.csv', 'a') as file:\n"
        "        file.write('1\\n')\n"
        "    return y\n"
        "def traced(x):\n"
        "    with jax.profiler.trace(folder + '/trace'):\n"
        "        return jax.block_until_ready(f(x))\n"
        "def started(x):\n"
        "    jax.profiler.start_trace(log_dir=folder + '/trace')\n"
        "    y = jax.block_until_ready(f(x))\n"
        "    jax.profiler.stop_trace()\n"
        "    return y\n"
    )
    return session


@pytest.mark.parametrize("function", ["logged", "traced", "started"])
def test_code_that_writes_files_or_a_trace_runs_once(magics: Session, function: str, tmp_path: Path) -> None:
    magics.run(f"%jaxdoctor -q -v found {function}(x)")
    found = magics.shell.user_ns["found"]
    assert len(found.runs) == 1
    assert (found.profile is not None) == (function == "logged")  # which the source shows beforehand
    (note,) = [each for each in found.notes if each.kind.startswith("doctor.once_")]
    if function == "logged":
        assert str(note) == (
            "The code ran only once, because it writes, moves or removes files (folder + '/log.csv'). --repeat "
            "runs it several times, which some rules need."
        )
        assert (tmp_path / "log.csv").read_text() == "1\n"
    else:
        assert "because it records a trace with JAX's profiler" in str(note)
        assert len(list((tmp_path / "trace" / "plugins" / "profile").iterdir())) == 1


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            "%jaxdoctor -q -v found __import__('subprocess').run(['mkdir', folder + '/new'])",
            "starts other programs (mkdir)",
        ),
        (
            "%jaxdoctor -q -v found __import__('os').makedirs(folder + '/log.csv/new')",
            "writes, moves or removes files",
        ),
        ("%%jaxdoctor -q -v found\ndel x", "donates or deletes what it reads (x)"),
        ("%jaxdoctor -q -v found del x", "donates or deletes what it reads (x)"),
    ],
)
def test_code_that_changes_what_is_outside_or_deletes_runs_once(magics: Session, code: str, why: str) -> None:
    magics.run(code)
    found = magics.shell.user_ns["found"]
    assert len(found.runs) == 1
    assert why in " ".join(str(found).split())


def test_open_of_the_shell_is_seen(magics: Session, tmp_path: Path) -> None:
    magics.run("%jaxdoctor -q -v found open(folder + '/log.csv', 'a').write('1')")
    assert (tmp_path / "log.csv").read_text() == "1"
    assert len(magics.shell.user_ns["found"].runs) == 1


def test_repeat_writes_files_again(magics: Session, tmp_path: Path) -> None:
    magics.run("%jaxdoctor -q --repeat -v found logged(x)")
    runs = len(magics.shell.user_ns["found"].runs) + 1
    assert runs > 2
    assert (tmp_path / "log.csv").read_text() == "1\n" * runs


@pytest.mark.parametrize("repeat", [False, True])
def test_remedies_are_not_tried_by_writing_files_again(tmp_path: Path, repeat: bool) -> None:
    path = tmp_path / "log.csv"

    def logged(x: Any) -> Any:
        opened(path)
        return jax.jit(lambda x: x + 1)(x)

    jaxmagic.diagnose(logged, jnp.ones(3), repeat=repeat)
    written = path.read_text()
    path.unlink()
    found = jaxmagic.diagnose(logged, jnp.ones(3), verify=True, repeat=repeat)
    assert path.read_text() == written
    assert (written == "1\n") != repeat
    told = [str(note) for each in found.findings if each.verified is not None for note in each.verified.notes]
    assert all(each.startswith("Not tried") for each in told), told
