"""Recordings are kept in the layout of TensorBoard and XProf with a list of the runs, completely or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.profiling.capture import logdir
from jaxmagic.profiling.capture.logdir import LogDir

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def f() -> Any:
    return jax.jit(lambda x: jnp.sort(x * 79))


def results(folder: Path) -> list[dict[str, Any]]:
    found = json.loads((folder / "results.json").read_text())
    assert isinstance(found, list)
    return found


@pytest.mark.clock
def test_each_run_has_a_folder_and_an_entry_and_can_be_opened_again(tmp_path: Path, f: Any, x: Any) -> None:
    first = jaxmagic.profile(f, x, logdir=tmp_path)
    second = jaxmagic.profile(f, x, logdir=tmp_path, label="lcam")
    third = jaxmagic.profile(f, x, logdir=tmp_path, label="lcam")
    kept = [Path(each.kept) for each in (first, second, third) if each.kept]
    assert [each.parent for each in kept] == [
        tmp_path / "plugins" / "profile",
        tmp_path / "lcam" / "plugins" / "profile",
        tmp_path / "lcam" / "plugins" / "profile",
    ]
    assert len(set(kept)) == 3
    assert jaxmagic.read_profile(kept[2]).operation_times
    entries = results(tmp_path)
    assert [tmp_path / each["recording"] for each in entries] == kept
    assert [each["label"] for each in entries] == [None, "lcam", "lcam"]
    assert entries[1]["execution_time_ns"] == second.wall_ns
    assert entries[1]["environment"]["jax"] == jax.__version__
    assert all(each["success"] for each in entries)


@pytest.mark.clock
def test_a_run_that_fails_is_in_the_list(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        jaxmagic.profile(lambda: 1 / 0, logdir=tmp_path)
    (entry,) = results(tmp_path)
    assert (entry["success"], entry["error"], entry["recording"]) == (False, "ZeroDivisionError", None)


@pytest.mark.parametrize("label", ["", "..", "a/b", "/tmp", "a\0b", "a\nb"])
def test_a_label_is_the_name_of_a_folder(tmp_path: Path, label: str) -> None:
    with pytest.raises(ValueError, match="the name of a folder"):
        LogDir(tmp_path, label)
    assert list(tmp_path.iterdir()) == []


def test_a_label_needs_a_folder(f: Any, x: Any) -> None:
    with pytest.raises(ValueError, match="expected a folder to keep recordings in"):
        jaxmagic.profile(f, x, label="lcam")


@pytest.mark.clock
def test_nothing_is_run_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ran: list[int] = []
    with pytest.raises(OSError, match="file"):
        jaxmagic.profile(lambda: ran.append(1), logdir=tmp_path / "file")
    assert ran == []


@pytest.mark.clock
@pytest.mark.parametrize("content", ["no JSON", '{"a": 1}'])
def test_a_file_that_is_no_list_is_left_as_it_is_and_the_record_says_so(
    tmp_path: Path, f: Any, x: Any, content: str
) -> None:
    (tmp_path / "results.json").write_text(content)
    record = jaxmagic.profile(f, x, logdir=tmp_path)
    assert (tmp_path / "results.json").read_text() == content
    assert any("could not be added to the list" in str(each) for each in record.notes)
    assert record.device_uses


@pytest.mark.clock
def test_a_full_disk_leaves_no_part_of_a_recording_and_the_record_says_so(
    tmp_path: Path, f: Any, x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, into: Path) -> Path:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(logdir, "copy_folder", full)
    record = jaxmagic.profile(f, x, logdir=tmp_path)
    assert record.kept is None
    assert any("could not be kept" in str(each) for each in record.notes)
    assert record.device_uses
    assert list((tmp_path / "plugins" / "profile").iterdir()) == []


IN_A_PROCESS_WITH_SMALL_FILES = """
import resource, signal, sys
import jax, jax.numpy as jnp
import jaxmagic
f, x = jax.jit(lambda x: jnp.sort(x @ x)), jnp.ones((30, 30))
jaxmagic.profile(f, x)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, most))  # nothing longer can be written: the disk is full
for _ in range(2):
    record = jaxmagic.profile(f, x, logdir=sys.argv[1])
    assert (record.kept, record.device_uses) == (None, ()), record
    assert any("File too large. Nothing was recorded." in str(each) for each in record.notes), record.notes
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
assert jaxmagic.profile(f, x, logdir=sys.argv[1]).device_uses, "the profiler is free"
"""


def test_where_the_profiler_itself_cannot_write_there_is_a_record_that_says_so_and_the_profiler_is_free(
    tmp_path: Path,
) -> None:
    """JAX 0.10 and older keep a session that could not be written, and start no other."""
    pytest.importorskip("resource")
    subprocess.run([sys.executable, "-c", IN_A_PROCESS_WITH_SMALL_FILES, str(tmp_path)], check=True)
    assert [each["recording"] is None for each in results(tmp_path)] == [True, True, False]


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    recorded = tmp_path / "recorded" / "plugins" / "profile" / "2026"
    recorded.mkdir(parents=True)
    (recorded / "host.xplane.pb").write_bytes(b"data")
    kept = [LogDir(tmp_path / "kept").keep(tmp_path / "recorded") for _ in range(3)]
    assert [each.name for each in kept] == ["2026", "2026_2", "2026_3"]
    assert {(each / "host.xplane.pb").read_bytes() for each in kept} == {b"data"}
    assert sorted(each.name for each in kept[0].parent.iterdir()) == ["2026", "2026_2", "2026_3"]


BY_SOMEBODY_ELSE = """
import os, sys
import jaxmagic.profiling.capture.logdir as logdir
if os.geteuid() == 0:  # who may write everywhere
    os.setuid(65534)
try:
    logdir.LogDir(sys.argv[1])
except PermissionError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="has no users of this kind")
@pytest.mark.parametrize("inside", [".", "plugins/profile"])
def test_a_folder_that_somebody_may_not_write_into_is_refused(inside: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # which others may look into, unlike those of pytest
        closed = Path(folder) / inside
        closed.mkdir(parents=True, exist_ok=True)
        for each in (folder, closed):
            os.chmod(each, 0o555)
        ran = subprocess.run([sys.executable, "-c", BY_SOMEBODY_ELSE, folder], check=True, capture_output=True)
        os.chmod(closed, 0o755)
        os.chmod(folder, 0o755)
    assert b"ermission denied" in ran.stdout or b"Nothing can be written into the folder" in ran.stdout


@pytest.mark.clock
def test_a_folder_that_is_read_only_is_refused_before_anything_runs(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write everywhere
    calls = []
    with pytest.raises(PermissionError, match="Nothing can be written into the folder"):
        jaxmagic.profile(lambda: calls.append(1), logdir=tmp_path)
    assert calls == []
    with jaxmagic.profiler():  # none is running
        pass
