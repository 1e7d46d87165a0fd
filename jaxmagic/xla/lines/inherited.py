"""Takes the loop's line away from what XLA has rewritten inside of the loop's body.

XLA for the CPU replaces a product with a vector by one with a matrix, and gives it the metadata of the loop that it
is in: ``jit(f)/while``. JAX writes no such instruction: what is in a body has a path that goes on, such as
``jit(f)/while/body/add``. Without that metadata it belongs to what takes its result, like everything that XLA adds.
"""

from __future__ import annotations

from ..dataflow import Dataflow
from ..hlo import HloModule

#: They run others, and may be the loop itself in a call that is compiled as a whole.
_RUNS_OTHERS = ("while", "conditional", "call")


def without_inherited(module: HloModule) -> HloModule:
    """Return the module without metadata that instructions have from the loop or call that they are in."""
    flow = Dataflow(module)
    changed = {}
    for number, each in module.instructions.items():
        loop = module.instructions.get(flow.runner(number))
        if loop is None or not each.stack or each.opcode in _RUNS_OTHERS:
            continue
        if (each.stack, each.op_name) == (loop.stack, loop.op_name):
            changed[number] = each._replace(stack=(), op_name="")
    return module._replace(instructions={**module.instructions, **changed}) if changed else module
