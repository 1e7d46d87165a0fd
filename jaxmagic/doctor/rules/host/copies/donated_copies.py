"""Tells whether a program may donate a copy of an array, so that each call needs another one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....record.evidence import Evidence
from ....record.program import Program


def may_be_donated(type: str | None, evidence: Evidence) -> bool:
    """Return whether a program may donate an array with the shape of a type, so that each call needs another copy.

    A shape that is unknown, of the array or of what is donated, may be the same.
    """
    sizes = None if type is None else [int(each) for each in re.findall(r"\d+", type.partition("[")[2])]
    donated = (shape for each in evidence.programs or () for shape in donated_shapes(each))
    return any(sizes is None or shape is None or shape == sizes for shape in donated)


def donated_shapes(program: Program) -> Iterator[list[int] | None]:
    """Yield the shapes of the arrays that a program donates; ``None`` for an unknown one."""
    if program.module is None:
        yield from [None] * len(program.donated)
        return
    inputs = program.module.inputs
    for number in {*program.donated, *program.module.input_output_alias.values()}:
        if number >= len(inputs):
            yield None
            continue
        sizes = [int(each) for each in re.findall(r"\d+", inputs[number].shape.partition("[")[2].partition("]")[0])]
        yield sizes
        pieces = inputs[number].pieces
        if pieces is not None and len(pieces) == len(sizes):
            yield [size * count for size, count in zip(sizes, pieces, strict=True)]
        elif len(program.placements) > 0:
            yield None  # a shard of unknown sharding
