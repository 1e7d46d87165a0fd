"""Calls on the Python stack."""

from __future__ import annotations

import functools
import re
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

#: JAX, installed packages, Python's own library, and code that libraries generated or compiled with Cython, which
#: names its source relative to the library. These are recognized by path, because the profile may come from another
#: machine.
_NOT_THE_USERS = re.compile(
    r"/(site|dist)-packages/|/jax/_src/|/jaxlib/|/lib(64)?/python3\.\d+t?/|^<(frozen |@beartype\(|attrs generated )"
    r"|^[^/<].*\.(pyx|pxd|pxi)$"
)

#: The folders of Python's library and of jaxmagic on this machine, which may be anywhere.
_PYTHON, _JAXMAGIC = (
    f"{folder}/".replace("\\", "/") for folder in (sysconfig.get_path("stdlib"), Path(__file__).parents[1])
)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Frame:
    """One call on a stack.

    Attributes:
        function: the name of the function that was running, ``"<module>"`` at the top of a file or cell.
        file: the file in which it is defined, as Python names it.
        line: the line that was running; 0 if it is not known.
        cell: the cell whose code the file is, such as ``"cell 12"``; ``None`` if it is not a cell, or not known. It
            is not compared: a cell that is run again has a new number and the same code.
        library: the name under which users know the function, if a library exports it, such as
            ``"flax.linen.BatchNorm"``; ``None`` for other functions, or if it is not known. It is not compared.
    """

    function: str
    file: str
    line: int
    cell: str | None = field(default=None, compare=False)
    library: str | None = field(default=None, compare=False)

    @property
    def location(self) -> str:
        """File and line, such as ``"train.py:17"``, or cell and line."""
        return f"{self.cell or self.file}:{self.line}"


#: The calls on a stack, from the outermost to the innermost.
Stack = tuple[Frame, ...]


def is_users(frame: Frame) -> bool:
    """Return whether a call is in code that the user wrote, judging by its path.

    >>> is_users(Frame(function="step", file="/home/me/train.py", line=17))
    True
    >>> is_users(Frame(function="full", file="/opt/lib/python3.11/site-packages/jax/_src/lax/lax.py", line=3625))
    False
    """
    return is_users_file(frame.file)


@functools.lru_cache(maxsize=1024)
def is_users_file(file: str) -> bool:
    """Return whether the user wrote a file, or cell, judging by its path."""
    path = file.replace("\\", "/")
    return not (path.startswith((_PYTHON, _JAXMAGIC)) or _NOT_THE_USERS.search(path))


def is_ours(frame: Frame) -> bool:
    """Return whether a call is in jaxmagic."""
    return frame.file.replace("\\", "/").startswith(_JAXMAGIC)


def owner(stack: Stack) -> Frame | None:
    """Return the innermost call in the user's own code, which is the line to look at; ``None`` if there is none."""
    return next((frame for frame in reversed(stack) if is_users(frame)), None)
