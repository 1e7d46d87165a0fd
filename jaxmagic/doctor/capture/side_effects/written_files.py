"""Observes the files that some code opens for writing, and the traces that it records with JAX's profiler.

An audit hook would see every file, but it cannot be removed, and slows down JAX's tracing from then on. So the
functions that open files and begin traces are replaced in all modules while the code runs. Files that C code opens by
itself are not seen.
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

#: Code that opens files of its own accord: for imports, temporary files, logs, and JAX's persistent cache.
_OWN = "<frozen importlib", "/tempfile.py", "/logging/__init__.py", "/jax/_src/compilation_cache.py"

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT


class WrittenFiles:
    """The regular files that were opened for writing.

    Attributes:
        paths: their paths, in order, as the code gave them.
        traced: whether a trace was begun.
    """

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
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

    def _trace(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        self.traced |= bool(args or kwargs.get("log_dir"))  # without a folder, JAX 0.12 keeps the trace in memory
        return original(*args, **kwargs)

    def _add(self, file: Any, descriptor: int) -> None:
        named = not isinstance(file, int)  # a number is that of a file which is open already
        if named and stat.S_ISREG(os.fstat(descriptor).st_mode) and not _is_own(sys._getframe(2)):
            self.paths[os.fsdecode(file)] = None


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
