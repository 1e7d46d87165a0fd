"""Follows the order in which the axes of an array are stored, through transposes, copies and bitcasts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .hlo import HloInstruction, HloModule

#: The longest chain of instructions that is followed; malformed modules may contain cycles.
_LONGEST = 20

#: Stands for an axis of one element that the argument does not have.
_ADDED = -1


def stored_order(module: HloModule, number: int) -> tuple[int, ...] | None:
    """Return the order of an argument's axes, slowest varying first, in which an instruction stores its result.

    Bitcasts after the last copy or transpose do not count. Axes of one element that XLA has dropped come first.
    ``None`` if the order stays the same, if the argument lies in another order than the default one, or if anything
    but copies, transposes, and bitcasts that keep all other axes lies between.
    """
    chain = list(_chain(module, number))[::-1]
    while chain and chain[-1].opcode == "bitcast":
        chain.pop()
    if not chain or chain[0].opcode != "parameter" or chain[0].minor_to_major != _default(chain[0]):
        return None
    sizes = _sizes(chain[0])
    axes: tuple[int, ...] | None = tuple(range(len(sizes)))
    for before, each in pairwise(chain):
        axes = None if axes is None else _axes_after(each, before, axes)
    if axes is None or len(axes) != len(chain[-1].minor_to_major):
        return None
    stored = [axes[axis] for axis in reversed(chain[-1].minor_to_major) if axes[axis] != _ADDED]
    dropped = [axis for axis in range(len(sizes)) if axis not in stored]
    long = [axis for axis in stored if sizes[axis] != 1]
    return None if long == sorted(long) else (*dropped, *stored)


def _chain(module: HloModule, number: int, depth: int = 0) -> Iterator[HloInstruction]:
    """Yield an instruction and those that lead to it from an argument, in place of a fusion those inside it."""
    instruction = module.instructions.get(number)
    if instruction is None or depth > _LONGEST:
        return
    if instruction.opcode == "fusion" and len(instruction.operand_ids) == 1:
        for called in instruction.called_computation_ids:
            yield from _chain(module, module.root_ids.get(called, 0), depth + 1)
    else:
        yield instruction
    if len(instruction.operand_ids) == 1:
        yield from _chain(module, instruction.operand_ids[0], depth + 1)


def _axes_after(instruction: HloInstruction, before: HloInstruction, axes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return which axes of the argument the axes of a result are, given those of the operand."""
    match instruction.opcode:
        case "transpose" if sorted(instruction.dimensions) == list(range(len(axes))):
            return tuple(axes[axis] for axis in instruction.dimensions)
        case "copy" | "parameter" if instruction.shape == before.shape:
            return axes
        case "bitcast" if len(axes) == len(before.minor_to_major):
            return _axes_after_bitcast(instruction, before, axes)
    return None


def _axes_after_bitcast(
    instruction: HloInstruction, before: HloInstruction, axes: tuple[int, ...]
) -> tuple[int, ...] | None:
    old, new = _sizes(before), _sizes(instruction)
    sources = [axis for axis in before.minor_to_major if old[axis] != 1]
    targets = [axis for axis in instruction.minor_to_major if new[axis] != 1]
    if [old[axis] for axis in sources] != [new[axis] for axis in targets]:
        return None
    found = {target: axes[source] for source, target in zip(sources, targets, strict=True)}
    return tuple(found.get(axis, _ADDED) for axis in range(len(new)))


def _sizes(instruction: HloInstruction) -> tuple[int, ...]:
    return tuple(int(size) for size in instruction.shape.partition("[")[2].rstrip("]").split(",") if size)


def _default(instruction: HloInstruction) -> tuple[int, ...]:
    return tuple(reversed(range(len(_sizes(instruction)))))
