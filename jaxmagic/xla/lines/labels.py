"""Labels time that the source of a line does not explain: resharding, a backward pass, the loop itself."""

from __future__ import annotations

from ..costs.cost_analysis import category
from ..hlo import HloInstruction, HloModule, Sharded

#: The label of a backward pass, whose rule may be the user's own.
BACKWARD = "its backward pass (where that is a custom_vjp rule, JAX records none of its lines)"

#: The label of work that jax.checkpoint adds to a backward pass.
RECOMPUTED = "recomputed for the backward pass, because of jax.checkpoint"

#: The label of a loop's time outside its body.
LOOP = "the loop itself: launching iterations, copying its state, and what recording them takes"

#: Instructions that are looked through, from a collective to the argument that it communicates.
_SAME = ("bitcast", "copy", "convert", "get-tuple-element", "reshape", "transpose")


def label_of_scope(scope: str) -> str:
    """Return a label derived from the path of an operation; empty if its source line says as much.

    >>> label_of_scope("jit(loss)/transpose(jvp(layer))/dot_general") == BACKWARD
    True
    >>> label_of_scope("jit(loss)/transpose(jvp())/checkpoint/rematted_computation/dot_general") == RECOMPUTED
    True
    >>> label_of_scope("jit(f)/while") == LOOP, label_of_scope("jit(f)/while/body/add")
    (True, '')
    """
    _, again, innermost = scope.rpartition("rematted_computation/")
    if again and "transpose(" not in innermost:
        return RECOMPUTED
    if "transpose(" in scope:
        return BACKWARD
    return LOOP if scope.rpartition("/")[2] == "while" else ""


def label_of_instruction(module: HloModule, instruction: HloInstruction) -> str:
    """Return why an instruction has no line, or which sharded argument a collective communicates; else nothing."""
    if instruction.traced_for and not instruction.stack:
        return f"traced for an earlier caller, {instruction.traced_for}; JAX did not record this caller"
    if category(module, instruction) != "collective":
        return ""
    kind = instruction.opcode.removesuffix("-start").removesuffix("-done")
    if instruction.op_name.rpartition("/")[2].replace("_", "-").startswith(kind):
        return ""  # the source line calls it
    argument = _argument(module, instruction)
    return "" if argument is None else f"{kind} of argument {argument.name}{_divided(argument)}"


def _argument(module: HloModule, instruction: HloInstruction) -> Sharded | None:
    """Return the program's argument that an instruction takes, perhaps after copies and reshapes."""
    at = instruction
    for _ in range(len(_SAME)):
        operand = module.instructions.get(at.operand_ids[0]) if at.operand_ids else None
        if operand is None:
            return None
        if operand.opcode == "parameter":
            return next((each for each in module.inputs if each.name and each.name == operand.op_name), None)
        if operand.opcode not in _SAME:
            return None
        at = operand
    return None


def _divided(argument: Sharded) -> str:
    """Describe how an argument is sharded, if that is known."""
    axes = [(axis, pieces) for axis, pieces in enumerate(argument.pieces or ()) if pieces > 1]
    words = " and ".join(f"{pieces} ways on axis {axis}" for axis, pieces in axes)
    return f", which is sharded {words}" if words else ""
