"""Which cell's code a file name stands for."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Sequence

from IPython.core.interactiveshell import InteractiveShell

#: Names that begin with the number of the cell: of IPython in a terminal, and in Colab.
_NUMBERED = re.compile(r"ipython-input-(\d+)-")

#: Names of ipykernel, which are a hash of the code.
_HASHED = re.compile(r"ipykernel_\d+[/\\]\d+\.py$")


class Cells:
    """Finds cells by the names that IPython has given to their code.

    A number counts only where ``In`` has the very code that Python shows in a traceback for that name: what a magic
    was given is compiled under the number of its cell as well, and its lines are others.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def __call__(self, file: str) -> str | None:
        """``"cell 12"``; ``None`` where it is no cell's code, or that cannot be told."""
        try:
            number = self._number(file)
        except Exception:  # another shell than IPython knows may have none of this
            return None
        return None if number is None else f"cell {number}"

    def text(self, file: str) -> list[str] | None:
        """The lines of a cell as they were typed; ``None`` where it is no cell's, or its lines are others by now."""
        try:
            number = self._number(file)
            typed = [] if number is None else self._shell.history_manager.input_hist_raw[number].splitlines()
        except Exception:
            return None
        run = _without_end([line.rstrip("\n") for line in linecache.getlines(file)])
        return typed if typed and len(_without_end(typed)) == len(run) else None

    def _number(self, file: str) -> int | None:
        if "IPYKERNEL_CELL_NAME" in os.environ:  # then all cells have the same name
            return None
        cells = self._shell.history_manager.input_hist_parsed
        candidates = self._candidates(file, len(cells))
        if not candidates:  # most files are a library's, and long
            return None
        code = _without_end([line.rstrip("\n") for line in linecache.getlines(file)])
        return next((each for each in candidates if _lines(cells[each]) == code), None) if code else None

    def _candidates(self, file: str, there_are: int) -> Sequence[int]:
        """Numbers of cells that it may be."""
        told = getattr(self._shell.compile, "format_code_name", lambda _: None)(file)  # from IPython 8 on
        found = re.search(r"\[(\d+)\]", told[1]) if told else _NUMBERED.search(file)
        if found:
            return [number] if (number := int(found[1])) < there_are else []
        return range(there_are - 1, 0, -1) if _HASHED.search(file) else []


def _lines(code: str) -> list[str]:
    return _without_end(code.splitlines())


def _without_end(lines: list[str]) -> list[str]:
    """Without empty lines at the end, which ``In`` does not keep."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines
