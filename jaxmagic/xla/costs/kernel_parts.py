"""The instructions that one kernel runs, where XLA compiles a small loop or call as a whole, and how often each runs.

XLA for the CPU does so from JAX 0.12 on. The recording then has one event for all passes of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..hlo import HloInstruction, HloModule
from .operand_utilization import parts_of

#: How deep calls in calls are followed; broken modules go round in circles.
_DEEPEST = 8


def parts_of_kernel(
    module: HloModule, instruction: HloInstruction, times: float = 1.0, depth: int = 0
) -> Iterator[tuple[HloInstruction, float]]:
    """The instructions that a call runs, and those of loops, branches and fusions in it, with how often.

    A loop whose number of passes is not known counts as one pass, a branch as if it was taken.

    Args:
        module: in which they are.
        instruction: the call.
        times: how often it runs.
        depth: in how many others it is.
    """
    if depth > _DEEPEST:
        return
    for computation in instruction.called_computation_ids:
        for number in module.computations.get(computation, ()):
            each = module.instructions[number]
            if each.opcode == "fusion":
                yield from ((inner, times * share) for inner, share in parts_of(module, each))
            elif each.opcode in ("while", "call", "conditional"):
                yield from parts_of_kernel(module, each, times * max(each.known_trip_count, 1), depth + 1)
            else:
                yield each, times
