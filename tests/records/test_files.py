"""Files that the user names: written whole or not at all, and only where there is a regular file or none."""

from __future__ import annotations

import os
import stat
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest

import jaxmagic
from jaxmagic.records import files, recordings


@pytest.fixture(params=["save", "write"])
def write(request: Any, timing: Any) -> Any:
    """Each way to write a file."""
    ways = {"save": lambda path: jaxmagic.save(timing(), path), "write": lambda path: files.write(b"\0\xff", path)}
    return ways[request.param]


def test_a_folder_that_is_not_there_is_named(write: Any, tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError, match="There is no such folder") as caught:
        write(tmp_path / "none" / "record.json")
    assert caught.value.filename == str(tmp_path / "none")


def test_a_folder_is_not_replaced_by_a_file(write: Any, tmp_path: Any) -> None:
    with pytest.raises(IsADirectoryError, match="This is a folder; name a file in it") as caught:
        write(tmp_path)
    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_nothing_can_be_written_into_is_named(write: Any, tmp_path: Any, monkeypatch: Any) -> None:
    # To root, every folder is writable.
    monkeypatch.setattr(os, "access", lambda path, mode: (str(path), mode) != (str(tmp_path), os.W_OK))
    with pytest.raises(PermissionError, match="This folder is not writable") as caught:
        write(tmp_path / "file")
    assert caught.value.filename == str(tmp_path)


def test_bytes_are_written_as_they_are_and_replace_what_was_there(tmp_path: Any, monkeypatch: Any) -> None:
    path = tmp_path / "raw"
    path.write_bytes(b"old")
    path.chmod(0o600)
    assert files.write(b"\0\r\n\xff", path) == path
    assert path.read_bytes() == b"\0\r\n\xff"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        files.write(b"new", path)
    assert path.read_bytes() == b"\0\r\n\xff"
    assert [each.name for each in tmp_path.iterdir()] == ["raw"]


def test_a_symbolic_link_is_followed_and_stays_one(write: Any, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real", tmp_path / "link"
    for content in (None, b"old"):  # a link may lead to nothing yet
        if content is not None:
            real.write_bytes(content)
        link.unlink(missing_ok=True)
        link.symlink_to(Path("elsewhere", "real"))
        write(link)
        assert link.is_symlink()
        assert not real.is_symlink()
        assert real.read_bytes() not in (b"", b"old")
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["elsewhere", "link", "real"]


def test_a_link_in_a_circle_or_into_no_folder_is_refused(write: Any, tmp_path: Path) -> None:
    circle, nowhere = tmp_path / "circle", tmp_path / "nowhere"
    circle.symlink_to(circle)
    nowhere.symlink_to(tmp_path / "none" / "file")
    for link in (circle, nowhere):
        with pytest.raises(OSError, match=link.name):
            write(link)
        assert link.is_symlink()


def test_hard_links_stay_one_file(write: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"old")
    other.hardlink_to(one)
    write(one)
    assert one.samefile(other)
    assert other.read_bytes() != b"old"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_failed_write_leaves_hard_links_as_they_were(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"old")
    other.hardlink_to(one)
    with pytest.raises(ZeroDivisionError), files.replacing(one, "wb") as file:
        file.write(b"new")
        raise ZeroDivisionError
    assert other.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_disk_without_room_leaves_hard_links_as_they_were(tmp_path: Path, monkeypatch: Any) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"old")
    other.hardlink_to(one)

    def no_room(handle: int, offset: int, length: int) -> None:
        os.ftruncate(handle, 5)  # a part of it was there
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", no_room)
    with pytest.raises(OSError, match=os.strerror(ENOSPC)):
        files.write(b"a longer one", one)
    assert other.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2


def test_hard_links_become_shorter(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"a longer one")
    other.hardlink_to(one)
    files.write(b"new", one)
    assert other.read_bytes() == b"new"


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    for letter in "aä":
        path = tmp_path / (letter * (255 // len(letter.encode())))
        files.write(b"new", path)
        assert path.read_bytes() == b"new"


def test_what_is_no_regular_file_is_refused_and_stays(write: Any, tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(OSError, match="Expected a regular file or a new name, got a named pipe"):
            write(path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(OSError, match="got a character device"):
        files.target_of(os.devnull)


def test_reading_does_not_wait_for_a_pipe_and_ends(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.xplane.pb"
    os.mkfifo(pipe)
    for read in (jaxmagic.load, recordings.recordings, jaxmagic.read_profile):
        with pytest.raises(OSError, match="Expected a regular file, got a named pipe"):
            read(pipe)  # type: ignore[operator]
    with pytest.raises(OSError, match="got a character device"):
        jaxmagic.load("/dev/zero")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"12345")
    assert files.read(path, 5) == b"12345"
    with pytest.raises(OSError, match="Expected at most 4 bytes, got 5"):
        files.read(path, 4)
