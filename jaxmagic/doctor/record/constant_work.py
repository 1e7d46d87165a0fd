"""Evidence about what a program computes from captured arrays only."""

from __future__ import annotations

from dataclasses import dataclass

from ...records.call_stack import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantWork:
    """An equation that computes with captured arrays and with no argument, so that XLA may do so while it compiles.

    Attributes:
        primitive: the name of the primitive, such as ``"sort"``.
        line: the user's line.
        elements: the number of elements of its largest operand.
    """

    primitive: str
    line: Frame
    elements: int
