"""Tells which arguments results could be written over, and which memory of results is used before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from ...memory_use.record.memory_profile import Buffer, Executable
from ...xla.hlo import HloModule
from .in_place import Overwriting


class Parameter(NamedTuple):
    """A parameter of a program: its number, the argument that it is a part of, its type and its size."""

    number: int
    argument: str
    type: tuple[str, tuple[int, ...] | None]
    shape: str
    size_bytes: int


def parameters_of(module: HloModule) -> list[Parameter]:
    """Return the parameters of a program in their order."""
    entry = [module.instructions[each] for each in module.computations.get(module.entry_computation_id, ())]
    sizes = {each.parameter_number: each.size_bytes for each in entry if each.opcode == "parameter"}
    return [
        Parameter(number, _argument(each.name), (each.shape, each.pieces), each.shape, sizes.get(number, 0))
        for number, each in enumerate(module.inputs)
    ]


def _argument(name: str) -> str:
    """Return the argument of which JAX's name names a part: ``"state"`` for ``"state['m'][0]"``."""
    found = re.match(r"\w+", name)
    return found.group() if found else ""


def overwritable(module: HloModule, free: list[Parameter]) -> tuple[list[Parameter], list[Parameter]]:
    """Return the parameters that a result could be written over, and those that would be copied for that.

    A result takes the memory of the first donated argument of its type, as in JAX.
    """
    overwriting = Overwriting(module)
    left = list(free)
    usable: list[Parameter] = []
    copied: list[Parameter] = []
    for number, each in enumerate(module.outputs):
        if (number,) in module.input_output_alias or (number == 0 and () in module.input_output_alias):
            continue
        taken = next((one for one in left if one.type == (each.shape, each.pieces)), None)
        if taken is not None:
            left.remove(taken)
            (usable if overwriting.can(taken.number, number) else copied).append(taken)
    return usable, copied


def bytes_in_results(executable: Executable, module: HloModule, shapes: Mapping[str, int]) -> int:
    """Return how many bytes of temporaries are in the memory of results, at most at one step.

    Once the results are in the memory of arguments, these temporaries need memory of their own.
    """
    left, others = Counter(shapes), []
    for allocation in executable.allocations or ():
        if allocation.kind != "output" or allocation.aliased or not allocation.buffers:
            continue
        result = max(allocation.buffers, key=lambda each: each.last)
        if left[result.shape] > 0:
            left[result.shape] -= 1
            others += [each for each in allocation.buffers if each is not result and not _is_copy(module, each)]
    return max((sum(each.size_bytes for each in others if _lives(each, step.first)) for step in others), default=0)


def _is_copy(module: HloModule, buffer: Buffer) -> bool:
    """Return whether a buffer is a copy of an argument, which donating makes unnecessary."""
    number = module.instruction_ids.get(buffer.instruction)
    copy = None if number is None else module.instructions[number]
    return (
        copy is not None
        and copy.opcode == "copy"
        and all(module.instructions[each].opcode == "parameter" for each in copy.operand_ids)
    )


def _lives(buffer: Buffer, step: int) -> bool:
    return buffer.first <= step <= buffer.last
