"""Declares what is known about the operation that made NaN or infinity under JAX's debugging flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...records.call_stack import Frame

#: What an operation computes for the expression that led to it: its value, its derivative, or one of both.
Role = Literal["value", "derivative", "either"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An operation that made NaN or infinity.

    Attributes:
        operation: its name in JAX.
        role: what it computes.
        line: the user's line that led to it; ``None`` if that is unknown.
        source: the text of this line.
        statement: the statement there, without the indentation of its first line; ``None`` if it is unknown.
        node: the position of the expression in ``ast.walk`` of the statement; ``None`` if unknown.
        names: the names that the function there uses.
        computed_of: the variables that the statement reads, with the expressions that they were computed of.
    """

    operation: str
    role: Role
    line: Frame | None = None
    source: str = ""
    statement: str | None = None
    node: int | None = None
    names: tuple[str, ...] = ()
    computed_of: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFinite:
    """The first NaN from which one in the results comes; or the first infinity.

    Attributes:
        made: the operation that made it; ``None`` if it was in an argument.
        argument: the argument of the jitted function that had it already; empty if none had.
        reason: why the operation made NaN, such as ``"0 / 0"``; empty if that is unknown.
        infinity: the operation that made the infinity of which it made NaN; ``None`` if that is unknown.
        recomputed: whether what JAX had traced was computed again.
        loop: the loop or branch that JAX applied outside of ``jit``, such as ``"fori_loop"``; empty for another.
        step: the number of its first step with NaN, from 1; 0 in a branch.
        number: the number that the loop gives this step; ``None`` if there is none.
        length: how many steps the loop has, if `number` is the index of one; ``None`` for others.
    """

    made: Made | None = None
    argument: str = ""
    reason: str = ""
    infinity: Made | None = None
    recomputed: bool = False
    loop: str = ""
    step: int = 0
    number: int | None = None
    length: int | None = None
