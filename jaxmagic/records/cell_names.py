"""Name the location of code as people know it: ``cell 12`` instead of a file that does not exist.

IPython gives the code of each cell a file name, such as ``/tmp/ipykernel_321/2735.py``. Only the running session
knows which cell that is, so the cell is looked up when a record is made, and the record stores it.
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable

#: Maps a file name to the cell whose code it is, ``"cell 12"``; to ``None`` if it is not a cell.
Naming = Callable[[str], "str | None"]

_namings: list[weakref.ref[Naming]] = []


def add_naming(naming: Naming) -> None:
    """Consult `naming` from now on, before all others, for as long as something else refers to it."""
    remove_naming(naming)
    _namings.insert(0, weakref.ref(naming))


def remove_naming(naming: Naming) -> None:
    """Stop consulting `naming`, if it is consulted."""
    _namings[:] = [each for each in _namings if each() not in (naming, None)]


def known_as(file: str) -> str:
    """Return the name of the cell whose code a file is, or else the file itself.

    >>> known_as("train.py")
    'train.py'
    """
    for reference in _namings:
        naming = reference()
        name = None if naming is None else naming(file)
        if name is not None:
            return name
    return file


def text_of(file: str) -> list[str]:
    """Return the lines of a file, or of a cell as it was typed, with its magics; none if it cannot be read."""
    for reference in _namings:
        text = getattr(reference(), "text", lambda _: None)(file)
        if text is not None:
            return list(text)
    return [line.rstrip("\n") for line in linecache.getlines(file)]


def cells_with(file: str) -> list[str]:
    """Return the files of all cells, in the order in which they were first run, or a file alone if it is no cell."""
    if known_as(file) == file:
        return [file]
    return [each for each in list(linecache.cache) if known_as(each) != each]


def place_known_as(place: str | None) -> str | None:
    """Return a location such as ``"/tmp/ipykernel_321/2735.py:3"`` with the name of the cell instead of the file."""
    file, colon, line = (place or "").rpartition(":")
    return f"{known_as(file)}:{line}" if colon else place
