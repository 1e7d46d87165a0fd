"""Tells whether a program may donate a copy of an array, so that each call needs another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ....analysis.program_names import name_in_xla
from ....record.conversion import Conversion
from ....record.evidence import Evidence
from ....record.program import Program


def may_be_donated(type: str | None, evidence: Evidence) -> bool:
    """Return whether a program may donate an array with the shape of a type, so that each call needs another copy.

    A shape that is unknown, of the array or of what is donated, may be the same.
    """
    sizes = None if type is None else [int(each) for each in re.findall(r"\d+", type.partition("[")[2])]
    donated = (shape for each in evidence.programs or () for shape in donated_shapes(each))
    return any(sizes is None or shape is None or shape == sizes for shape in donated)


def passed_may_be_donated(passed: Conversion, evidence: Evidence) -> bool:
    """Return whether a program may donate an array that is passed, so that each call needs another copy.

    The function that gets it donates it if it is at a donated place, or the same array is in another call. Of other
    programs, the shape counts.
    """
    own = [each for each in evidence.programs or () if name_in_xla(passed.function) == _name(each)]
    places = [_donated_places(each, passed.leaves) for each in own]
    if passed.place is None or not own or None in places:
        return may_be_donated(passed.type, evidence)
    donated = {number for each in places for number in each or ()}
    given = {
        each.place
        for each in evidence.conversions
        if each.function == passed.function and (each.path or each.type) == (passed.path or passed.type)
    }
    others = tuple(each for each in evidence.programs or () if each not in own)
    return not donated.isdisjoint({passed.place, *given}) or may_be_donated(
        passed.type, replace(evidence, programs=others)
    )


def _name(program: Program) -> str:
    return name_in_xla(program.executable.name.removeprefix("jit_"))


def _donated_places(program: Program, leaves: int) -> set[int] | None:
    """Return the numbers of the arguments that a program donates; ``None`` if it lacks some of the arguments."""
    if program.module is None or len(program.module.inputs) != leaves:
        return None
    return {*program.donated, *program.module.input_output_alias.values()}


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
