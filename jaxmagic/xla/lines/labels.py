"""What the time of a line is, where its source does not show it: exchange for a sharding, a backward pass, a loop."""

from __future__ import annotations

from ..costs.cost_analysis import category
from ..hlo import HloInstruction, HloModule, Sharded

#: What a backward pass is called, whose rule may be the user's own.
BACKWARD = "its backward pass (where that is a custom_vjp rule, JAX records none of its lines)"

#: Work that jax.checkpoint adds to a backward pass.
RECOMPUTED = "recomputed for the backward pass, because of jax.checkpoint"

#: What a loop does beside its body.
LOOP = "the loop itself: starting its steps, and copies for it"

#: What is looked through, from an exchange to the argument that is exchanged.
_SAME = ("bitcast", "copy", "convert", "get-tuple-element", "reshape", "transpose")


def label_of_scope(scope: str) -> str:
    """Return what the path of an operation tells about it; empty for what its line tells as well.

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
    """Return why an instruction has no line, or which argument it exchanges and how that is divided; else nothing."""
    if instruction.traced_for and not instruction.stack:
        return f"traced for an earlier caller, {instruction.traced_for}: JAX has not recorded this one"
    if category(module, instruction) != "collective":
        return ""
    kind = instruction.opcode.removesuffix("-start").removesuffix("-done")
    if instruction.op_name.rpartition("/")[2].replace("_", "-").startswith(kind):
        return ""  # it is written in the line
    argument = _argument(module, instruction)
    return "" if argument is None else f"{kind} of argument {argument.name}{_divided(argument)}"


def _argument(module: HloModule, instruction: HloInstruction) -> Sharded | None:
    """The argument of the program that an instruction takes, perhaps in another shape."""
    at = instruction
    for _ in range(len(_SAME)):
        found = module.instructions.get(at.operand_ids[0]) if at.operand_ids else None
        if found is None:
            return None
        if found.opcode == "parameter":
            return next((each for each in module.inputs if each.name and each.name == found.op_name), None)
        if found.opcode not in _SAME:
            return None
        at = found
    return None


def _divided(argument: Sharded) -> str:
    """Tell how it is divided among devices, if that is known."""
    axes = [(axis, pieces) for axis, pieces in enumerate(argument.pieces or ()) if pieces > 1]
    words = " and ".join(f"{pieces} ways on axis {axis}" for axis, pieces in axes)
    return f", which is sharded {words}" if words else ""
