"""Finds the calls of libraries that allocate memory of their own, beside the buffers that XLA has assigned.

On the CPU, XLA leaves products, convolutions and what is around them to YNNPACK or oneDNN. These keep the values
between the operations that XLA has fused into one call, and the columns of a convolution, in memory that they
allocate while they run. A product alone needs next to nothing.
"""

from __future__ import annotations

from .hlo import HloInstruction, HloModule

#: The kinds of fusions that a library runs, and the beginning of the names of library calls, on the CPU.
LIBRARIES = ("__ynn_fusion", "__onednn")

#: The axes from which on a product may be of many matrices.
_SEVERAL = 3


def calls_that_allocate(module: HloModule) -> list[tuple[str, HloInstruction]]:
    """Return the calls of libraries that may allocate memory of their own, with the kinds of fusions or targets."""
    found = []
    for call in module.instructions.values():
        kind = call.fusion_kind or call.custom_call_target
        if kind.startswith(LIBRARIES) and (call.custom_call_target or _holds_values(module, call)):
            found.append((kind, call))
    return found


def _holds_values(module: HloModule, call: HloInstruction) -> bool:
    """Return whether a fusion has a convolution, several products, or a product that is not its result."""
    for computation in call.called_computation_ids:
        for number in module.computations.get(computation, ()):
            inside = module.instructions[number]
            axes = inside.shape.count(",") + 1
            if inside.opcode == "convolution" or (
                inside.opcode == "dot" and (axes >= _SEVERAL or number != module.root_ids.get(computation))
            ):
                return True
    return False
