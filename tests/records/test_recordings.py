"""Recordings in a folder: found, copied whole or not at all, and listed by several processes at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jaxmagic
from jaxmagic.records import recordings


def test_of_a_folder_only_regular_files_are_recordings(tmp_path: Path) -> None:
    (tmp_path / "a.xplane.pb").mkdir()
    (tmp_path / "b.xplane.pb").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "c.xplane.pb")
    for folder in (tmp_path, tmp_path / "a.xplane.pb"):
        with pytest.raises(FileNotFoundError, match="Expected a file that ends in .xplane.pb in a folder, got none"):
            jaxmagic.read_profile(folder)
    (tmp_path / "d.xplane.pb").write_bytes(b"1")
    assert recordings.recordings(tmp_path) == [recordings.RecordingFile("", b"1", tmp_path / "d.xplane.pb")]


def test_two_writers_lose_no_entry_and_no_folder(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from jaxmagic.records import recordings
into, number = Path(sys.argv[1]), sys.argv[2]
source = into / f"from_{number}" / "run"
source.mkdir(parents=True)
(source / "file").write_text(number)
for index in range(40):
    recordings.append_entry(into / "results.json", {"writer": number, "index": index})
    recordings.copy_folder(source, into)
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, tmp_path, str(number)]) for number in range(2)]
    assert [each.wait(120) for each in writers] == [0, 0]
    entries = json.loads((tmp_path / "results.json").read_text())
    assert [[each["index"] for each in entries if each["writer"] == number] for number in "01"] == [[*range(40)]] * 2
    copies = [each for each in tmp_path.iterdir() if each.name.startswith("run")]
    assert sorted(Path(each, "file").read_text() for each in copies) == ["0"] * 40 + ["1"] * 40


@pytest.mark.parametrize("content", ["[" * 100_000, "{}", "[1", "\0"])
def test_a_list_that_is_something_else_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(jaxmagic.RecordError, match="Move the file away"):
        recordings.append_entry(path, {})
    assert path.read_text() == content
