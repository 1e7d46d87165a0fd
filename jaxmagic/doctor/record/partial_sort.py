"""Evidence about sorts of which a program uses only a few elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...records.call_stack import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialSort:
    """A sort along the last axis, of which only the first or the last elements are used.

    Attributes:
        line: the user's line that sorts; ``None`` if it is unknown.
        shape: type and shape of the sorted keys as in HLO, such as ``"f32[100,2000]"``.
        length: how many elements are sorted at a time.
        used: how many of these are used.
        end: which ones.
        indices: whether their indices are used, and not only their values.
    """

    line: Frame | None
    shape: str
    length: int
    used: int
    end: Literal["smallest", "largest"]
    indices: bool
