"""Find the cell that a file name stands for."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Sequence

from IPython.core.interactiveshell import InteractiveShell

#: File names of IPython in a terminal and in Colab, which begin with the number of the cell.
_NUMBERED = re.compile(r"ipython-input-(\d+)-")

#: File names of ipykernel, which are a hash of the code.
_HASHED = re.compile(r"ipykernel_\d+[/\\]\d+\.py$")


class Cells:
    """Finds cells by the names that IPython has given to their code.

    A number counts only if ``In`` has the same code that Python shows in tracebacks for that name. The code of a
    magic is compiled under the number of its cell as well: it counts if its lines have the numbers that they have in
    the cell.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def __call__(self, file: str) -> str | None:
        """Return ``"cell 12"``; ``None`` if the file is not known to be a cell's code."""
        try:
            number = self._number(file)
        except Exception:  # a shell that is not IPython's own may have none of this
            return None
        return None if number is None else f"cell {number}"

    def text(self, file: str) -> list[str] | None:
        """Return the lines of a cell as they were typed; ``None`` if it is not a cell, or its lines have changed."""
        try:
            number = self._number(file)
            typed = [] if number is None else self._shell.history_manager.input_hist_raw[number].splitlines()
        except Exception:
            return None
        return typed if typed and len(_without_end(typed)) == len(_code_of(file)) else None

    def _number(self, file: str) -> int | None:
        if "IPYKERNEL_CELL_NAME" in os.environ:  # it gives all cells the same name
            return None
        cells = self._shell.history_manager.input_hist_parsed
        candidates = self._candidates(file, len(cells))
        if not candidates:  # most files belong to libraries and are long
            return None
        code = _code_of(file)
        matching = (number for number in candidates if _without_end(cells[number].splitlines()) == code)
        found = next(matching, None) if code else None
        if found is not None or len(candidates) != 1:
            return found
        above = next((at for at, line in enumerate(code) if line), 0)
        return candidates[0] if lines_above(self._shell, candidates[0], code[above:]) == above else None

    def _candidates(self, file: str, there_are: int) -> Sequence[int]:
        """Return the numbers of the cells that the file may belong to."""
        named = getattr(self._shell.compile, "format_code_name", lambda _: None)(file)  # from IPython 8 on
        match = re.search(r"\[(\d+)\]", named[1]) if named else _NUMBERED.search(file)
        if match:
            return [number] if (number := int(match[1])) < there_are else []
        return range(there_are - 1, 0, -1) if _HASHED.search(file) else []


def lines_above(shell: InteractiveShell, number: int, code: Sequence[str]) -> int | None:
    """Return how many lines of a cell are above the code of a magic in it; ``None`` if that is not known.

    Args:
        shell: the shell that has run the cell.
        number: the number of the cell.
        code: the lines of the code, which must be in one place of the cell alone.
    """
    cells = shell.history_manager.input_hist_raw
    typed = cells[number].splitlines() if number < len(cells) else []
    places = [above for above in range(len(typed)) if _begins(typed[above:], code)]
    return places[0] if len(places) == 1 else None


def _begins(typed: Sequence[str], code: Sequence[str]) -> bool:
    """Return whether lines of a cell begin with code, in whose first line a magic may be before it."""
    first = code[0].strip() if code else ""
    before, found, _ = typed[0].partition(first) if first else ("", "", "")
    return found != "" and (not before.strip() or "%" in before) and [*typed[1 : len(code)]] == [*code[1:]]


def _code_of(file: str) -> list[str]:
    return _without_end([line.rstrip("\n") for line in linecache.getlines(file)])


def _without_end(lines: list[str]) -> list[str]:
    """Drop empty lines at the end, which ``In`` does not keep."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines
