"""Calls on the stack of Python code."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Frame:
    """One call on a stack.

    Attributes:
        function: the name of the function that was running, ``"<module>"`` at the top of a file or cell.
        file: where it is written, as Python names the file.
        line: the line that was running; 0 if it is not known.
        cell: whose code the file is, such as ``"cell 12"``; ``None`` if that is no cell, or not known. It makes no
            difference whether two calls are the same: a cell that is run again is another one, with the same code.
        library: the name under which users know the function, if a library exports it, such as
            ``"flax.linen.BatchNorm"``; ``None`` for other functions, or if that is not known. It makes no difference
            either.
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


#: Calls from the outermost to the innermost.
Stack = tuple[Frame, ...]
