"""Read and write the files that the user names.

A file is written whole or not at all: the new content goes to a temporary file beside it, which is then renamed.
Symbolic links are followed, hard links keep pointing to one file, and a device, a pipe or a socket is refused.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from difflib import get_close_matches
from errno import EACCES, EINVAL, EISDIR, ELOOP, ENOENT
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ..interrupts import begins, ends
from ..terminal import printable
from .names import listed, type_in_words

#: The largest file that is read.
_MOST_BYTES = 4 * 2**30

#: The most characters of a file's name that are used for its temporary file, whose name is limited to 255 bytes.
_MOST_OF_A_NAME = 50

#: At most this many files of a folder are searched for one with a name like that of a missing one, and so many named.
_MOST_SEARCHED, _MOST_NAMED = 10_000, 3

_KINDS = {
    stat.S_ISCHR: "a character device",
    stat.S_ISBLK: "a block device",
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISDIR: "a folder",
}


def path_of(where: str, given: object, write: str, kind: str = "a file") -> Path:
    """Return what a verb, or one of its arguments, was given as a path.

    Args:
        where: the verb or the argument.
        given: what it was given.
        write: an example of what to write.
        kind: what the path leads to.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(given, str | os.PathLike):
        raise TypeError(
            f"{where}: expected the path of {kind}, got {type_in_words(given)}. Write for example {write}"
        )
    return Path(given)


def files_like(path: Path, suffix: str) -> str:
    """Say which files are in the folder of one that does not exist: those with a name like it, or of its kind."""
    try:
        names = [each.name for each in islice(os.scandir(path.parent), _MOST_SEARCHED) if each.is_file()]
    except OSError:
        return f"There is no folder {printable(str(path.parent))!r}."
    stems = sorted(each.removesuffix(suffix) for each in names if each.endswith(suffix))
    found = [
        f"{each}{suffix}" for each in get_close_matches(path.name.removesuffix(suffix), stems, _MOST_NAMED) or stems
    ]
    if not found:
        return f"There is no such file, and none in its folder ends in {suffix}."
    return f"There is no such file. Its folder has {printable(listed(found, _MOST_NAMED))}."


def missing(path: Path, expected: str, suffix: str) -> FileNotFoundError:
    """Return the error for a file that does not exist."""
    told = f"Expected {expected}, got none. {files_like(path, suffix)} Write the path of one in place of"
    return not_found(f"{told} {printable(str(path))!r}.")


def not_found(message: str) -> FileNotFoundError:
    """Return an error with its number, of which the message says nothing."""
    error = FileNotFoundError(message)
    error.errno = ENOENT
    return error


def read(path: Path, most_bytes: int = _MOST_BYTES) -> bytes:
    """Read a regular file.

    Raises:
        OSError: the file cannot be read, is not a regular file, or is larger than `most_bytes`.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(EINVAL, f"Expected a regular file, got {_kind(status.st_mode)}", str(path))
        if status.st_size > most_bytes:
            raise OSError(EINVAL, f"Expected at most {most_bytes} bytes, got {status.st_size}", str(path))
        return file.read(most_bytes)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without blocking, as opening a pipe does until another process writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def write(data: bytes, path: str | os.PathLike[str]) -> Path:
    """Write `data` to `path`; an existing file is replaced, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    target = target_of(path)
    with replacing(target, "wb") as file:
        file.write(data)
    return target


def target_of(path: str | os.PathLike[str]) -> Path:
    """Check that a file can be written, as far as that is known beforehand, and return its path.

    Raises:
        OSError: it is a folder or not a regular file, or its folder is missing or not writable.
    """
    target = Path(path)
    folder = target.parent
    if not folder.is_dir():  # the system's own error would name the temporary file
        raise FileNotFoundError(ENOENT, "There is no such folder", str(folder))
    if target.is_dir():
        raise IsADirectoryError(EISDIR, "This is a folder; name a file in it", str(target))
    real = _regular(target)
    if not real.parent.is_dir():
        raise FileNotFoundError(ENOENT, "The link points into a folder that does not exist", str(target))
    if not os.access(real.parent, os.W_OK):
        raise PermissionError(EACCES, "This folder is not writable", str(real.parent))
    return target


class replacing:
    """Open a file for writing in a ``with`` block; it replaces `target` when the block ends without an error.

    Raises:
        OSError: the file cannot be written, or `target` is not a regular file.
    """

    _temporary: str | None = None
    _file: IO[Any] | None = None

    def __init__(self, target: Path, mode: str, encoding: str | None = None) -> None:
        self._real = _regular(target)
        self._how = mode, encoding

    @begins("_cancel")
    def __enter__(self) -> IO[Any]:
        mode, encoding = self._how
        # In the same directory, so that the last step is a rename within one file system.
        handle, self._temporary = tempfile.mkstemp(
            prefix=f".{self._real.name[:_MOST_OF_A_NAME]}.", suffix=".tmp", dir=self._real.parent
        )
        self._file = os.fdopen(handle, mode, encoding=encoding)
        return self._file

    @ends
    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._take_the_place()
        finally:
            self._cancel()

    def _take_the_place(self) -> None:
        assert self._file is not None
        assert self._temporary is not None
        self._file.close()
        if _is_linked(self._real):
            _overwrite(self._real, self._temporary)  # a rename would separate it from its other hard links
        else:
            _take_permissions(self._temporary, self._real)
            os.replace(self._temporary, self._real)

    @ends
    def _cancel(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # a full disk, again
                self._file.close()
        if self._temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._temporary)


def _regular(target: Path) -> Path:
    """Return the file that `target` leads to through all links; it need not exist yet.

    Raises:
        OSError: it exists and is not a regular file.
    """
    real = Path(os.path.realpath(target))
    if real.is_symlink():
        raise OSError(ELOOP, os.strerror(ELOOP), str(target))
    if real.exists() and not real.is_file():
        found = _kind(real.stat().st_mode)
        raise OSError(EINVAL, f"Expected a regular file or a new name, got {found}", str(target))
    return real


def _kind(mode: int) -> str:
    return next((words for is_kind, words in _KINDS.items() if is_kind(mode)), "something else")


def _is_linked(path: Path) -> bool:
    return path.exists() and path.stat().st_nlink > 1


def _overwrite(target: Path, source: str) -> None:
    """Overwrite the content of `target` with that of `source`, after reserving the disk space for it.

    Raises:
        OSError: there is not enough space, and `target` is unchanged.
    """
    with open(target, "r+b") as file, open(source, "rb") as new:
        before, after = os.fstat(file.fileno()).st_size, os.fstat(new.fileno()).st_size
        try:
            if after and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, after)
        except OSError:
            file.truncate(before)
            raise
        shutil.copyfileobj(new, file)
        file.truncate()


def _take_permissions(temporary: str, target: Path) -> None:
    """Give a new file the permissions of the user's umask, and a replaced file its old permissions."""
    try:
        mode = target.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        mode = 0o666 & ~umask
    os.chmod(temporary, mode)


def short(value: object) -> str:
    """Shorten a value of a JSON document for an error message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
