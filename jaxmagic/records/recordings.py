"""Read the files of the JAX profiler, copy them into a folder of the user's, and list them there."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from errno import EEXIST, ENOTEMPTY
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import RecordError
from ..interrupts import interruptible, uninterrupted
from ..terminal import printable
from .files import missing, not_found, read, replacing, short

#: The suffix of the files that the JAX profiler writes.
RECORDING = ".xplane.pb"

#: How long to wait for another process to unlock a list.
_LOCK_S = 30.0


class RecordingFile(NamedTuple):
    """A file that the JAX profiler wrote.

    Attributes:
        host: the name of its host; empty if there is only one file.
        data: its content.
        path: its path.
    """

    host: str
    data: bytes
    path: Path


def recordings(path: Path) -> list[RecordingFile]:
    """Read the traces of the JAX profiler in a file, or those of the newest run anywhere below a folder.

    Raises:
        FileNotFoundError: there is none.
        OSError: a trace cannot be read, or `path` itself is not a regular file.
    """
    if not path.exists():
        raise missing(path, "a recording of JAX's profiler, or its folder", RECORDING)
    files = sorted(filter(Path.is_file, path.rglob(f"*{RECORDING}"))) if path.is_dir() else [path]
    if not files:
        told = f"Expected a file that ends in {RECORDING} in a folder, got none."
        raise not_found(f"{told} Name the folder of start_trace(), not {printable(str(path))!r}.")
    newest = max((each.parent for each in files), key=lambda folder: (folder.stat().st_mtime, folder))
    files = [each for each in files if each.parent == newest]
    return [
        RecordingFile(each.name.removesuffix(RECORDING) if len(files) > 1 else "", read(each), each) for each in files
    ]


@uninterrupted
def copy_folder(source: Path, into: Path) -> Path:
    """Copy a folder into another one, whole or not at all, and return its path. If the name exists, add a number.

    Raises:
        OSError: the copy cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=".", suffix=".tmp", dir=into, ignore_cleanup_errors=True) as temporary:
        copied = interruptible(shutil.copytree)(source, Path(temporary) / source.name)
        for number in count(1):
            target = into / (source.name if number == 1 else f"{source.name}_{number}")
            if target.exists():
                continue
            try:
                return copied.rename(target)
            except OSError as error:  # another process has created it in the meantime
                if error.errno not in (EEXIST, ENOTEMPTY):
                    raise
    raise AssertionError


@uninterrupted
def append_entry(path: Path, entry: Mapping[str, Any]) -> None:
    """Add an entry to the list in a JSON file, created if missing; several processes may do so at once.

    Raises:
        RecordError: the file exists and is not a list.
        OSError: the file cannot be read or written, or another process keeps it locked.
    """
    from filelock import FileLock

    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=_LOCK_S)
    try:
        interruptible(lock.acquire)()
        entries = _entries_of(path)
        with replacing(path, "w", encoding="utf-8") as file:
            json.dump([*entries, entry], file, indent=1)
            file.write("\n")
    finally:
        lock.release(force=True)


def _entries_of(path: Path) -> list[Any]:
    """Return the list in a JSON file; an empty list if there is no file."""
    if not path.exists():
        return []
    try:
        entries = json.loads(read(path))
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}: expected JSON, got something else ({error}). Move the file away.") from error
    if not isinstance(entries, list):
        raise RecordError(f"{path}: expected a list of runs, got {short(entries)}. Move the file away.")
    return entries
