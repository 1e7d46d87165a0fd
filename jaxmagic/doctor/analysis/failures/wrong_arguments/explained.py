"""Declares an explanation, and adds to it where the error happened."""

from __future__ import annotations

from typing import NamedTuple

from .....records.note import Note, note
from ....record.failure import Failure
from ....record.finding import RuleFinding
from ..origin import evidence_of

#: Problems with shapes, which are those of one element under ``jax.vmap``.
_SHAPES = "product", "batch", "einsum", "einsum axes", "broadcast", "broadcast to", "joined", "stacked", "reshaped"


class Explained(NamedTuple):
    """An explanation: the finding, the remedy, and the code that replaces the failing statement."""

    found: Note
    remedy: Note
    code: str | None = None


def finding_of(failure: Failure, explained: Explained) -> RuleFinding:
    """Make the finding, with notes on what the line calls and on what changes the meaning of shapes."""
    evidence = evidence_of(failure)
    if failure.kind in _SHAPES and failure.vmapped:
        evidence = (*evidence, note("doctor.error_vmapped_shapes"))
    return RuleFinding(
        rule="error",
        found=explained.found,
        line=failure.line,
        source=failure.source,
        evidence=evidence,
        remedy=explained.remedy,
        code=explained.code,
    )
