"""Programs with one slow line, which is marked by a comment: ``# planted``.

A program is built by a function of one argument, whether the slow line is in it, so that what the line takes can be
measured without a profiler: by taking it away. All of them are small, on the CPU, and made so that everything else
takes less than a fifth of the time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

#: What builds a program: a function to run, and its arguments.
Build = Callable[[bool], tuple[Callable[..., Any], tuple[Any, ...]]]

_THEMES = (
    "windows",
    "orders",
    "algebra",
    "loops",
    "branches",
    "devices",
    "layers",
    "solvers",
    "random_numbers",
    "lookups",
    "further",
)


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A program with one slow line.

    Attributes:
        name: of the program.
        build: builds it, with the line or without it.
        needs: the libraries that it takes.
    """

    name: str
    build: Build
    needs: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Where it is written."""
        return inspect.getsourcefile(self.build) or ""

    @property
    def line(self) -> int:
        """The number of the slow line."""
        lines, first = inspect.getsourcelines(self.build)
        return first + next(at for at, text in enumerate(lines) if "# planted" in text)

    @property
    def missing(self) -> list[str]:
        """The libraries that are not installed."""
        return [each for each in self.needs if find_spec(each) is None]


def planted(*needs: str) -> Callable[[Build], Planted]:
    """Make a program of what builds it."""

    def made(build: Build) -> Planted:
        return Planted(name=build.__name__, build=build, needs=needs)

    return made


def programs() -> Iterable[Planted]:
    """All of them, by theme."""
    for theme in _THEMES:
        for each in vars(import_module(f"{__name__}.{theme}")).values():
            if isinstance(each, Planted):
                yield each
