"""Where code stands, as people know it: the code of a cell in cell 12, and not in a file that nobody has.

IPython gives the code of each cell the name of a file, such as ``/tmp/ipykernel_321/2735.py``. Which cell that is,
only the session can tell, as long as it lasts: it is asked when a record is made, and the record keeps the answer.
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable

#: From the name of a file to that of the cell whose code it is, ``"cell 12"``; ``None`` where it is no cell's.
Naming = Callable[[str], "str | None"]

_namings: list[weakref.ref[Naming]] = []


def add_naming(naming: Naming) -> None:
    """Ask `naming` from now on, as long as somebody holds it, before those that were there."""
    remove_naming(naming)
    _namings.insert(0, weakref.ref(naming))


def remove_naming(naming: Naming) -> None:
    """Do not ask it any more; does nothing where nobody does."""
    _namings[:] = [each for each in _namings if each() not in (naming, None)]


def known_as(file: str) -> str:
    """Return what people call it: the name of a cell, or the file itself.

    >>> known_as("train.py")
    'train.py'
    """
    for each in _namings:
        naming = each()
        name = None if naming is None else naming(file)
        if name is not None:
            return name
    return file


def text_of(file: str) -> list[str]:
    """The lines of a file; of a cell as people have typed it, with its magics. None where it cannot be read."""
    for each in _namings:
        text = getattr(each(), "text", lambda _: None)(file)
        if text is not None:
            return list(text)
    return [line.rstrip("\n") for line in linecache.getlines(file)]


def place_known_as(place: str | None) -> str | None:
    """The same of a place in a file, ``"/tmp/ipykernel_321/2735.py:3"``."""
    file, colon, line = (place or "").rpartition(":")
    return f"{known_as(file)}:{line}" if colon else place
