"""Lists the instructions in one kernel, where XLA compiles a small loop or call into one, and how often each runs.

XLA for the CPU does so from JAX 0.12 on. The trace then has one event for all iterations of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..hlo import HloInstruction, HloModule
from .operand_utilization import parts_of

#: The deepest nesting of calls that is followed; malformed modules may contain cycles.
_DEEPEST = 8


def parts_of_kernel(
    module: HloModule, instruction: HloInstruction, times: float = 1.0, depth: int = 0
) -> Iterator[tuple[HloInstruction, float]]:
    """Yield the instructions that a call runs, including nested loops, branches and fusions, and how often they run.

    A loop with an unknown trip count counts as one iteration; every branch counts as taken.

    Args:
        module: the module.
        instruction: the call.
        times: how often the call runs.
        depth: how many calls it is nested in.
    """
    if depth > _DEEPEST:
        return
    for computation in instruction.called_computation_ids:
        for number in module.computations.get(computation, ()):
            part = module.instructions[number]
            if part.opcode == "fusion":
                yield from ((inner, times * share) for inner, share in parts_of(module, part))
            elif part.opcode in ("while", "call", "conditional"):
                yield from parts_of_kernel(module, part, times * max(part.known_trip_count, 1), depth + 1)
            else:
                yield part, times
