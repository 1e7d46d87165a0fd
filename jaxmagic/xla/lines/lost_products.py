"""Finds the lines of convolutions from which XLA has taken their metadata.

XLA for the CPU writes convolutions over other axes than its own anew, and leaves out their metadata, as it does for
:func:`jax.numpy.convolve`. A neighbour may have kept the name of the operation. If none has, the line is one of those
of which the module has a stack but no instruction, or an instruction that JAX adds to a convolution, such as the
reversal of a kernel. What else takes the result says nothing about the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ...records.call_stack import Stack, is_users, owner
from ..dataflow import Dataflow
from ..hlo import HloInstruction, HloModule

#: The name of the operation in JAX.
_NAME = "conv_general_dilated"

#: A step of the path of an operation within one of JAX's functions that convolve.
_CONVOLVES = re.compile(r"/(?:.*\()?jit\(_?(?:conv|convolve|convolve2d|convolve_nd|correlate|correlate2d)\)")

#: What JAX's functions that convolve do with the kernel before, and with the result after.
_BEFORE, _AFTER = "rev", "squeeze"

#: The functions of libraries that multiply matrices, such as ``__cublas$lt$matmul``.
_MULTIPLIES = re.compile(r"__(?:cublas|hipblas|onednn)[\w$]*(?:gemm|matmul)")

#: How many instructions are searched for one that takes the result of another.
_MOST_SEEN = 1_000


def may_be_lost(instruction: HloInstruction) -> bool:
    """Return whether an instruction is a product with another name than that of the operation, or with none."""
    if is_product(instruction):
        return is_transposed(instruction)
    return instruction.opcode == "convolution" and not _is_named(instruction)


def is_product(instruction: HloInstruction) -> bool:
    """Return whether an instruction is a product of matrices, by XLA or by a library."""
    return instruction.opcode == "dot" or _MULTIPLIES.match(instruction.custom_call_target) is not None


def is_transposed(instruction: HloInstruction) -> bool:
    """Return whether an instruction is a product of matrices with the name of a transposition of its result."""
    return is_product(instruction) and _is_named(instruction, "transpose")


def _is_named(instruction: HloInstruction, name: str = _NAME) -> bool:
    return instruction.op_name.rpartition("/")[2] == name


def lost_products(module: HloModule, flow: Dataflow) -> Mapping[int, Mapping[tuple[Stack, str], float]]:
    """Return the places of the convolutions without metadata, each with its share; without a line if unknown.

    Those with a neighbour that has kept the name are left out.
    """
    lost = [
        number
        for number, each in module.instructions.items()
        if each.opcode == "convolution" and not each.stack and not each.op_name
        if not _has_named_neighbour(module, flow, number)
    ]
    name = f"{_root(module)}/{_NAME}"
    instructions = module.instructions.values()
    within = [each.stack for each in instructions if _CONVOLVES.search(each.op_name)]
    within += [each.stack for number in lost for each in _beside(module, flow, number)]
    stacks = by_call(within)  # each of these calls has convolved
    if len(stacks) != len(lost):
        stacks = by_call([*lost_stacks(module), *within])
    places = [(stack, name) for stack in stacks]
    if len({owner(stack) for stack, _ in places}) == 1 and len(places) != len(lost):
        return {number: {places[-1]: 1.0} for number in lost}
    if len(places) == len(lost):
        lost.sort(key=flow.position)
        if all(_is_taken_by(flow, *pair) for pair in pairwise(lost)):
            return {number: {place: 1.0} for number, place in zip(lost, places, strict=True)}
        if len({module.instructions[number].flops for number in lost}) == 1:
            return {number: {place: 1 / len(places) for place in places} for number in lost}
    return {number: {((), _NAME): 1.0} for number in lost}


def by_call(stacks: Iterable[Stack]) -> list[Stack]:
    """Return one stack for each call of a line of the user's, from the first line on."""
    found: dict[Stack, Stack] = {}
    for stack in stacks:
        users = [at for at, frame in enumerate(stack) if is_users(frame)]
        if users:
            found.setdefault(stack[: users[-1] + 1], stack)
    return sorted(found.values(), key=lambda stack: [frame.line for frame in stack])


def lost_stacks(module: HloModule) -> Sequence[Stack]:
    """Return the stacks that no instruction has; JAX 0.7 keeps those of other programs, which are left out."""
    function = _root(module).rpartition("(")[2].strip(")")
    if not any(_runs(function, each.stack) for each in module.instructions.values()):
        return module.lost_stacks
    return [stack for stack in module.lost_stacks if _runs(function, stack)]


def _runs(function: str, stack: Stack) -> bool:
    return any(frame.function.rpartition(".")[2] == function for frame in stack)


def _has_named_neighbour(module: HloModule, flow: Dataflow, number: int) -> bool:
    near = (*flow.users(number), *flow.operands(number))
    return any(_is_named(each) and each.opcode != "convolution" for each in _of(module, near))


def _beside(module: HloModule, flow: Dataflow, number: int) -> Iterator[HloInstruction]:
    """Yield the neighbours of a convolution that JAX has added to it."""
    yield from (each for each in _of(module, flow.operands(number)) if _is_named(each, _BEFORE))
    yield from (each for each in _of(module, flow.users(number)) if _is_named(each, _AFTER))


def _of(module: HloModule, numbers: Iterable[int]) -> Iterator[HloInstruction]:
    return (module.instructions[each] for each in numbers if each in module.instructions)


def _is_taken_by(flow: Dataflow, one: int, other: int) -> bool:
    """Return whether an instruction takes the result of another, directly or indirectly."""
    todo, seen = [one], set[int]()
    while todo and len(seen) < _MOST_SEEN:
        at = todo.pop()
        if at == other:
            return True
        if at not in seen:
            seen.add(at)
            todo += flow.users(at)
    return False


def _root(module: HloModule) -> str:
    """Return the beginning of the paths of the module's operations."""
    named = (each.op_name.partition("/") for each in module.instructions.values() if "/" in each.op_name)
    return next((root for root, _, _ in named), module.name)
