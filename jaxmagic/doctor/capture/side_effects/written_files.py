"""Observes the files that some code changes, the programs that it starts, and the traces of JAX's that it records.

An audit hook would see every file, but it cannot be removed, and slows down JAX's tracing from then on. So the
functions that open, move and remove files, start programs and begin traces are replaced in all modules while the code
runs. Files that C code opens by itself are not seen.
"""

from __future__ import annotations

import functools
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ....memory_use.capture.imported import dict_of, is_module
from ....records.names import truncated

#: Code that opens files or asks programs of its own accord: for imports, temporary files, logs, what the system is,
#: workers that load data, and JAX.
_OWN = (
    *("<frozen importlib", "/tempfile.py", "/logging/__init__.py", "/platform.py", "/ctypes/util.py"),
    *("/multiprocessing/", "/jax/_src/compilation_cache.py", "/jax/_src/clusters/", "/jax/_src/hardware_utils.py"),
)

#: Functions of ``os`` that change a file or folder, and those that start a program; some systems lack a few.
_CHANGE = "mkdir", "remove", "rename", "replace", "rmdir", "unlink"
_START = "fork", "forkpty", "posix_spawn", "posix_spawnp", "system"

#: The most characters of a command that is named.
_LONGEST = 40

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT


class WrittenFiles:
    """The regular files that were opened for writing, and the files and folders that were made, moved or removed.

    Attributes:
        paths: their paths, in order, as the code gave them.
        started: the programs that were started, by name or as a command.
        traced: whether a trace was begun.
    """

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.started: dict[str, None] = {}
        self.traced = False

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Observe the code that runs within."""
        import jax.profiler

        with _replaced(
            (io.open, self._open),
            (os.open, self._os_open),
            (jax.profiler.start_trace, self._trace),
            (jax.profiler.trace, self._trace),
            *((getattr(os, name), self._changed) for name in _CHANGE if hasattr(os, name)),
            *((getattr(os, name), self._started) for name in _START if hasattr(os, name)),
            *((each, self._started) for each in _fork_exec()),
        ):
            yield

    def _open(self, original: Callable[..., Any], file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        opened = original(file, mode, *args, **kwargs)
        if not {"w", "a", "x", "+"}.isdisjoint(mode):
            self._add(file, opened.fileno())
        return opened

    def _os_open(self, original: Callable[..., int], path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        __tracebackhide__ = True
        opened = original(path, flags, *args, **kwargs)
        if flags & _WRITES:
            self._add(path, opened)
        return opened

    def _changed(self, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = original(path, *args, **kwargs)
        if not _is_own(sys._getframe(1)):
            self.paths[str(path) if isinstance(path, int) else os.fsdecode(path)] = None
        return result

    def _started(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not _is_own(sys._getframe(1)):
            self.started[_name(args)] = None
        return original(*args, **kwargs)

    def _trace(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        self.traced |= bool(args or kwargs.get("log_dir"))  # without a folder, JAX 0.12 keeps the trace in memory
        return original(*args, **kwargs)

    def _add(self, file: Any, descriptor: int) -> None:
        named = not isinstance(file, int)  # a number is that of a file which is open already
        if named and stat.S_ISREG(os.fstat(descriptor).st_mode) and not _is_own(sys._getframe(2)):
            self.paths[os.fsdecode(file)] = None


def _fork_exec() -> list[Callable[..., Any]]:
    """Return the function with which :mod:`subprocess` starts programs, where the system has one."""
    module = sys.modules.get("_posixsubprocess")
    return [module.fork_exec] if module is not None else []


def _name(args: tuple[Any, ...]) -> str:
    """Return the command that a program is started with, or its name."""
    given = args[0] if args else None
    command = given[0] if isinstance(given, list | tuple) and given else given
    if not isinstance(command, str | bytes | os.PathLike):
        return "a program"
    text = os.fsdecode(command)
    return truncated(text if " " in text else os.path.basename(text), _LONGEST)


def _is_own(frame: FrameType | None) -> bool:
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if any(each in file for each in _OWN):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _replaced(*pairs: tuple[Callable[..., Any], Callable[..., Any]]) -> Iterator[None]:
    """Replace functions wherever a module has them, each by one that gets it as the first argument."""
    substitutes = {id(original): _calling(by, original) for original, by in pairs}
    modules = [dict_of(each) for each in list(sys.modules.values()) if is_module(each)]
    places = [
        (names, name, value, substitutes[id(value)])
        for names in modules
        if not substitutes.keys().isdisjoint(map(id, list(names.values())))
        for name, value in list(names.items())
        if id(value) in substitutes
    ]
    try:
        for names, name, _, substitute in places:
            names[name] = substitute
        yield
    finally:
        for names, name, original, substitute in places:
            if names.get(name) is substitute:
                names[name] = original


def _calling(by: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def substitute(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return by(original, *args, **kwargs)

    return substitute
