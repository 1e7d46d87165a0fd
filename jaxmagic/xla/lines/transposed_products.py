"""Finds the lines of products of matrices that have the metadata of a transposition of their result.

XLA computes the transposed result at once, from the operands in the other order, and gives the product the metadata
of the transposition: in ``z = x @ w`` and ``y = z.T`` the line of ``y``. JAX itself transposes results of ``einsum``
and of derivatives, on the line of the product, which is right.

Where it is another line, the module has a stack of the product, but no instruction with it. A derivative has no stack
of its own: JAX computes it for the line that multiplies the same arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...records.call_stack import Frame, Stack, owner
from ..dataflow import Dataflow
from ..hlo import HloInstruction, HloModule
from .lost_products import by_call, is_product, is_transposed, lost_stacks

#: The name of the operation in JAX.
_NAME = "dot_general"

#: The beginning of a step of the path of an operation in a derivative.
_OF_DERIVATIVE = "transpose("

#: Instructions that have the values of their operand, maybe in another order.
_SAME_VALUES = frozenset({"bitcast", "copy", "convert", "fusion", "parameter", "reshape", "transpose"})

#: How many of them are followed.
_MOST_STEPS = 20

_Places = Mapping[tuple[Stack, str], float]


def transposed_products(module: HloModule, flow: Dataflow) -> Mapping[int, _Places]:
    """Return the places of the products whose metadata is that of another line; without a line if unknown."""
    dots = {number: each for number, each in module.instructions.items() if is_product(each) and each.stack}
    moved = {number: each for number, each in dots.items() if is_transposed(each)}
    if not moved:
        return {}
    arrays = {number: _arrays(module, each) for number, each in dots.items()}
    lost = by_call(lost_stacks(module))
    found: dict[int, _Places] = {}
    elsewhere: dict[int, HloInstruction] = {}
    for number, each in moved.items():
        alike = [other for other in dots if other != number and arrays[other] == arrays[number]]
        own = owner(each.stack)
        if any(owner(dots[other].stack) == own for other in alike):
            continue  # the line multiplies such arrays itself
        if _OF_DERIVATIVE in each.op_name:
            taken = _sources(module, flow, each)
            same = [dots[other] for other in alike if taken & _sources(module, flow, dots[other])]
            places = {owner(one.stack): (one.stack, each.op_name) for one in same if not is_transposed(one)}
            if len(places) == 1:
                found[number] = dict.fromkeys(places.values(), 1.0)
        elif lost and own not in map(owner, lost):
            elsewhere[number] = each
    for number, stack in _assigned(elsewhere, lost).items():
        path = f"{elsewhere[number].op_name.rpartition('/')[0]}/{_NAME}"
        found[number] = {(stack, path): 1.0}
    return found


def _assigned(moved: Mapping[int, HloInstruction], lost: Iterable[Stack]) -> dict[int, Stack]:
    """Return for each product the only stack that it may have; an empty one if there are several, or none."""
    left = list(lost)
    found: dict[int, Stack] = {}
    for _ in moved:
        for number, each in moved.items():
            likely = [] if number in found else _likely(left, owner(each.stack))
            if len(likely) == 1:
                found[number] = likely[0]
                left.remove(likely[0])
    return {number: found.get(number, ()) for number in moved}


def _likely(lost: Iterable[Stack], own: Frame | None) -> list[Stack]:
    """Return the only stack without an instruction, or else those of lines above in the same function."""
    stacks = [(stack, owner(stack)) for stack in lost]
    if len(stacks) == 1 or own is None:
        return [stack for stack, _ in stacks]
    place = own.file, own.function
    return [
        stack for stack, at in stacks if at is not None and (at.file, at.function) == place and at.line < own.line
    ]


def _arrays(module: HloModule, dot: HloInstruction) -> list[list[str]]:
    """Return the sizes of what a product takes and returns, whatever their order: derivatives have the same ones."""
    taken = (module.instructions[each].shape for each in dot.operand_ids if each in module.instructions)
    return sorted(
        sorted(re.findall(r"\d+", shape.partition("[")[2].partition("]")[0])) for shape in (dot.shape, *taken)
    )


def _sources(module: HloModule, flow: Dataflow, dot: HloInstruction) -> set[int]:
    """Return the instructions that have computed the operands of a product, before any change of their order."""
    return {_source(module, flow, each) for each in dot.operand_ids}


def _source(module: HloModule, flow: Dataflow, number: int) -> int:
    for _ in range(_MOST_STEPS):
        instruction, operands = module.instructions.get(number), flow.operands(number)
        if instruction is None or instruction.opcode not in _SAME_VALUES or len(operands) != 1:
            break
        number = operands[0]
    return number
