"""Estimates what a program would need if it took its batch in several parts, one after the other."""

from __future__ import annotations

import re
from collections.abc import Collection
from math import prod
from typing import NamedTuple

from ...memory_use.analysis.buffer_map import held, planned
from ...memory_use.record.memory_profile import Buffer, Executable
from ...xla.hlo import HloModule, Sharded

#: Element types in which a sum of many small terms is as accurate as one over the whole batch.
_WIDE = ("f32", "f64")


class Batch(NamedTuple):
    """The arguments of a program that are a batch.

    Attributes:
        examples: how many examples they hold, the size of their first axis.
        sizes: the sizes that axes of one example have together: products of the first axes after the batch's.
        summed_bytes: the arguments with respect to which is differentiated; their gradients are as large.
    """

    examples: int
    sizes: frozenset[int]
    summed_bytes: int


class InParts(NamedTuple):
    """The need of a program whose batch is taken in parts.

    Attributes:
        parts: the number of parts.
        scaled_bytes: the temporaries at the peak that grow with the batch.
        spared_bytes: by how much the peak is smaller in parts.
    """

    parts: int
    scaled_bytes: int
    spared_bytes: int


def batch_of(module: HloModule, differentiated: str, batch: Collection[str]) -> Batch | None:
    """Return the batch of a program; ``None`` if the axes of its arrays do not tell what grows with it.

    Args:
        module: the program.
        differentiated: the argument with respect to which is differentiated.
        batch: the arguments that may be a batch.
    """
    by_argument = [(re.split(r"\W", each.name, maxsplit=1)[0], each) for each in module.inputs]
    taken = [each for name, each in by_argument if name in batch]
    others = [each for name, each in by_argument if name not in batch]
    summed = [each for name, each in by_argument if name == differentiated]
    firsts = {(_sizes(each.shape) or (0,))[0] for each in taken}
    if {name for name, each in by_argument if each in taken} != set(batch) or len(firsts) != 1 or not summed:
        return None
    (examples,) = firsts
    if examples < 2 or any(examples in _sizes(each.shape) for each in others):
        return None
    if any(each.opcode == "constant" and examples in _sizes(each.shape) for each in module.instructions.values()):
        return None  # an array that the function captured, and that has to be taken in parts as well
    if any(_is_split(each) for each in module.inputs) or any(each.shape[:3] not in _WIDE for each in summed):
        return None
    inner = (_sizes(each.shape)[1:] for each in taken)
    products = frozenset(prod(sizes[:count]) for sizes in inner for count in range(1, len(sizes) + 1))
    return Batch(examples, products, sum(_bytes(module, each) for each in summed))


def in_parts(executable: Executable, batch: Batch, most_bytes: float) -> InParts | None:
    """Return the fewest parts, a power of two, with which a program needs at most so much; ``None`` if none suffice.

    The sum of the gradients needs memory, too. Temporaries that may grow with the batch, but do not show it, count as
    if they stayed the same.
    """
    peak_bytes = executable.peak_bytes
    if not executable.allocations or not executable.steps or peak_bytes is None or executable.estimated:
        return None
    fixed, scaled = [0] * (executable.steps + 1), [0] * (executable.steps + 1)
    for allocation in planned(executable.allocations):
        for buffer in held(allocation):
            curve = scaled if allocation.kind == "temporary" and _grows(buffer, batch) else fixed
            curve[buffer.first] += buffer.size_bytes
            curve[buffer.last + 1] -= buffer.size_bytes
    needs = []
    a = b = 0
    for more, more_scaled in zip(fixed, scaled, strict=True):
        a, b = a + more, b + more_scaled
        needs.append((a, b))
    before, at_peak = max((a + b, b) for a, b in needs)
    parts = 2
    while batch.examples % parts == 0:
        spared = before - max(a + b // parts for a, b in needs) - batch.summed_bytes
        if spared > 0 and peak_bytes - spared <= most_bytes:
            return InParts(parts, at_peak, spared)
        parts *= 2
    return None


def _grows(buffer: Buffer, batch: Batch) -> bool:
    """Return whether an axis of a temporary is the batch's, alone or together with axes of the examples."""
    sizes = _sizes(buffer.shape)
    return any(size == batch.examples or size in {batch.examples * each for each in batch.sizes} for size in sizes)


def _sizes(shape: str) -> tuple[int, ...]:
    match = re.fullmatch(r"\w+\[([\d,]*)\].*", shape)
    return () if match is None or not match[1] else tuple(map(int, match[1].split(",")))


def _is_split(argument: Sharded) -> bool:
    return argument.pieces is not None and any(each != 1 for each in argument.pieces)


def _bytes(module: HloModule, argument: Sharded) -> int:
    number = module.inputs.index(argument)
    entry = (module.instructions[each] for each in module.computations.get(module.entry_computation_id, ()))
    return next(
        (each.size_bytes for each in entry if each.opcode == "parameter" and each.parameter_number == number), 0
    )
