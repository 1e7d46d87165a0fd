"""Times the packages that JAX imports while it lowers programs, such as SciPy for ``svd``: once per process."""

from __future__ import annotations

import sys
import threading
from importlib.abc import MetaPathFinder
from types import FrameType

from ...runtime.clock import Clock, now_ns
from ...runtime.tracing import lowers
from ..record.evidence import LoweringImport


class LoweringImports(MetaPathFinder):
    """A context that notes imports. As a finder, it is asked for each module that is not loaded yet, and finds none.

    Args:
        clock: a clock in nanoseconds.
    """

    def __init__(self, clock: Clock = now_ns) -> None:
        self._clock = clock
        self._thread: int | None = None
        self._found: dict[tuple[int, int], list[tuple[str, int]]] = {}

    def __enter__(self) -> LoweringImports:
        self._thread = threading.get_ident()
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Note the module if JAX imports it, or something that needs it, while it lowers a program."""
        if threading.get_ident() == self._thread:
            importer = _importer(sys._getframe(1))
            if importer is not None:
                place = id(importer), importer.f_lineno
                self._found.setdefault(place, []).append((fullname, self._clock()))

    def imports(self) -> tuple[LoweringImport, ...]:
        """Return the packages, longest first."""
        by_package: dict[str, LoweringImport] = {}
        for modules in self._found.values():
            package = modules[0][0].partition(".")[0]
            before = by_package.get(package, LoweringImport(package=package, modules=0, least_ns=0))
            by_package[package] = LoweringImport(
                package=package,
                modules=before.modules + len(modules),
                least_ns=before.least_ns + modules[-1][1] - modules[0][1],
            )
        return tuple(sorted(by_package.values(), key=lambda each: -each.least_ns))


def _importer(frame: FrameType | None) -> FrameType | None:
    """Return the frame inside JAX's lowering that began an import, if there is one."""
    found, importing = None, False
    while frame is not None:
        is_import = frame.f_code.co_filename.startswith("<frozen importlib")
        if importing and not is_import:
            found = frame
        if lowers(frame.f_code):
            return found
        importing = is_import
        frame = frame.f_back
    return None
