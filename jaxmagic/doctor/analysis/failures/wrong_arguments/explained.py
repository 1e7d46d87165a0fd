"""Declares an explanation and the message that it is for, and adds where the error happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .....records.note import Note, note
from ....record.failure import Failure
from ....record.failure_kind import Kind
from ....record.finding import RuleFinding
from ..origin import evidence_of

#: A shape, and several of them, as messages write them.
SHAPE = r"\([\d, ]*\)"
SHAPES = r"\([\d, ()]*\)"

#: Problems with shapes, which are those of one element under ``jax.vmap``.
# fmt: off
_OF_ELEMENTS = (
    "product", "batch", "einsum", "einsum axes", "broadcast", "broadcast to", "joined", "joined numbers",
    "stacked", "reshaped", "axis", "index count", "mask shape", "slice size", "squeeze", "taken along",
    "conv rank", "square", "core sizes",
)
# fmt: on


class Explained(NamedTuple):
    """An explanation: the finding, the remedy, code in place of the failing statement, and where it comes from."""

    found: Note
    remedy: Note
    code: str | None = None
    evidence: tuple[Note, ...] = ()


class Rule(NamedTuple):
    """How one message of JAX is explained.

    Attributes:
        types: the names of the exception's types, with ``|`` in between.
        kind: the problem.
        explain: the function that explains it.
        message: how the message begins, as a regular expression. Its groups are facts. The wording is that of JAX
            0.7.2 to 0.12: a message in other words is not recognized, and not explained.
    """

    types: str
    kind: Kind
    explain: Callable[[Failure], Explained]
    message: str


def finding_of(failure: Failure, explained: Explained) -> RuleFinding:
    """Make the finding, with notes on what the line calls and on what changes the meaning of shapes."""
    evidence = (*explained.evidence, *evidence_of(failure))
    if failure.kind in _OF_ELEMENTS and failure.vmapped:
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
