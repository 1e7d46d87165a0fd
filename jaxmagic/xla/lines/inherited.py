"""Removes the loop's metadata from instructions that XLA rewrote inside the loop's body.

XLA for the CPU rewrites a matrix-vector product as a matrix-matrix product, and gives it the metadata of the loop
that contains it: ``jit(f)/while``. JAX creates no such instruction: paths within a body go on, as in
``jit(f)/while/body/add``. Without metadata the instruction is attributed to the users of its result, like everything
that XLA adds.
"""

from __future__ import annotations

from ..dataflow import Dataflow
from ..hlo import HloModule

#: Run other instructions, and may be the loop itself, within a call that is compiled into one kernel.
_RUNS_OTHERS = ("while", "conditional", "call")


def without_inherited(module: HloModule) -> HloModule:
    """Return the module without metadata that instructions inherited from the loop or call that contains them."""
    flow = Dataflow(module)
    changed = {}
    for number, each in module.instructions.items():
        loop = module.instructions.get(flow.runner(number))
        if loop is None or not each.stack or each.opcode in _RUNS_OTHERS:
            continue
        if (each.stack, each.op_name) == (loop.stack, loop.op_name):
            changed[number] = each._replace(stack=(), op_name="")
    return module._replace(instructions={**module.instructions, **changed}) if changed else module
