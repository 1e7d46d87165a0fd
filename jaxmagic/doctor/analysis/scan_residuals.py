"""Finds what a differentiated ``jax.lax.scan`` keeps of each iteration for its backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...records.call_stack import Frame, is_users, owner
from ...xla.hlo import HloInstruction, HloModule

#: JAX's name of a backward pass in the path of an operation.
BACKWARD = "transpose("

#: Instructions that pass on a value.
_PASSES_ON = frozenset({"get-tuple-element", "bitcast", "copy"})

#: The longest way from one loop to the next that is followed.
_LONGEST = 10


class ScanResiduals(NamedTuple):
    """The values that a loop keeps for its backward pass.

    Attributes:
        line: the user's line that calls ``scan``; ``None`` if unknown.
        called: the names of the user's functions that are called right below this line. One of them is the function
            that it runs; others are from earlier calls of what JAX has traced already.
        length: the number of iterations.
        kept_bytes: the values of all iterations that the backward pass reads.
        arrays: how many arrays these are.
        carry_bytes: the carry of one iteration, which a checkpoint keeps.
    """

    line: Frame | None
    called: frozenset[str]
    length: int
    kept_bytes: int
    arrays: int
    carry_bytes: int

    @property
    def spared_bytes(self) -> int:
        """The bytes that ``jax.checkpoint`` saves: all values but the carries and those of one iteration."""
        return self.kept_bytes - self.carry_bytes * self.length - self.kept_bytes // self.length


def scan_residuals(module: HloModule) -> Iterator[ScanResiduals]:
    """Yield what each loop of a forward pass keeps for a loop of the backward pass."""
    loops = _loops(module)
    read: dict[int, set[int]] = {}
    for place, number in loops.items():
        if BACKWARD in module.instructions[number].op_name:
            for operand in _state(module, place):
                origin = _origin(module, operand, loops)
                if origin is not None:
                    read.setdefault(origin[0], set()).add(origin[1])
    for number, elements in read.items():
        loop = module.instructions[number]
        if BACKWARD not in loop.op_name and loop.known_trip_count > 1:
            yield _residuals(module, loop, elements)


def _loops(module: HloModule) -> dict[int, int]:
    """Return the loops by themselves, and by the calls of computations that consist of a loop."""
    loops = {number: number for number, each in module.instructions.items() if each.opcode == "while"}
    for number, each in module.instructions.items():
        if each.opcode == "call":
            for computation in each.called_computation_ids:
                root = module.root_ids.get(computation)
                if root is not None and root in loops:
                    loops[number] = root
    return loops


def _state(module: HloModule, place: int) -> tuple[int, ...]:
    """Return the values with which a loop begins; empty if they are unknown."""
    operands = module.instructions[place].operand_ids
    state = module.instructions[operands[0]] if len(operands) == 1 else None
    return state.operand_ids if state is not None and state.opcode == "tuple" else ()


def _origin(module: HloModule, number: int, loops: dict[int, int]) -> tuple[int, int] | None:
    """Return the loop whose result a value is, and which element; ``None`` if it is none."""
    for _ in range(_LONGEST):
        instruction = module.instructions[number]
        if instruction.opcode not in _PASSES_ON or not instruction.operand_ids:
            return None
        operand = instruction.operand_ids[0]
        if instruction.opcode == "get-tuple-element" and operand in loops:
            return loops[operand], instruction.tuple_index
        number = operand
    return None


def _residuals(module: HloModule, loop: HloInstruction, read: set[int]) -> ScanResiduals:
    body = next(
        (
            each
            for each in loop.called_computation_ids
            if module.instructions[module.root_ids[each]].opcode == "tuple"
        ),
        None,
    )
    results = () if body is None else module.instructions[module.root_ids[body]].operand_ids
    kept, carries = [], []
    for element, number in enumerate(results):
        result = module.instructions[number]
        if result.opcode == "get-tuple-element":
            continue  # the same in each iteration
        if "dynamic_update_slice" in result.op_name or result.opcode == "dynamic-update-slice":
            kept += [result.size_bytes] if element in read else []
        elif result.shape != "s32[]":
            carries.append(result.size_bytes)
    line = owner(loop.stack)
    return ScanResiduals(
        line, _called(module, loop, body, line), loop.known_trip_count, sum(kept), len(kept), sum(carries)
    )


def _called(module: HloModule, loop: HloInstruction, body: int | None, line: Frame | None) -> frozenset[str]:
    """Return the names of the user's functions that the line of a loop calls."""
    if body is None or line is None:
        return frozenset()
    depth = loop.stack.index(line) + 1
    names: set[str] = set()
    for number in module.computations[body]:
        stack = module.instructions[number].stack
        if stack[:depth] == loop.stack[:depth]:
            names.update(each.function.rpartition(".")[2] for each in stack[depth:] if is_users(each))
    return frozenset(each for each in names if each.isidentifier())
