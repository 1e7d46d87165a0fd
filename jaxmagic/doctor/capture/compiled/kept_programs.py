"""Counts compiled programs that are alive, by name, to find those that each run leaves behind.

A program cannot be held weakly, and one that is held stays alive. So programs are counted, not remembered.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ....runtime.executed_programs import executables
from ...record.program import KeptPrograms


class ProgramCount:
    """The programs that were alive after the second run."""

    def __init__(self) -> None:
        self._counts: Counter[str] | None = None
        self._code_bytes: Counter[str] = Counter()

    def mark(self) -> None:
        """Count the programs that are alive now."""
        self._counts, self._code_bytes = _counted(executables())

    def kept(self) -> tuple[KeptPrograms, ...]:
        """Return which programs have become more since then; none if they were not counted then."""
        if self._counts is None or _counted(executables())[0] <= self._counts:
            return ()
        gc.collect()
        counts, code_bytes = _counted(executables())
        return tuple(
            KeptPrograms(name=name, programs=more, code_bytes=(code_bytes - self._code_bytes)[name] or None)
            for name, more in sorted((counts - self._counts).items())
        )


def _counted(programs: Iterable[Any]) -> tuple[Counter[str], Counter[str]]:
    """Return the number of programs and the bytes of their code, by name; backends that do not know report 0."""
    counts, code_bytes = Counter[str](), Counter[str]()
    for program in programs:
        with suppress(Exception):
            name = str(program.hlo_modules()[0].name)
            counts[name] += 1
            code_bytes[name] += program.size_of_generated_code_in_bytes()
    return counts, code_bytes
