"""Finds arrays that are reordered in memory for most of their use: transposes and copies that change the layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from keyword import iskeyword

from .... import units
from ....profiling.record.profile import OperationTime
from ....records.note import Note, note
from ....xla.axis_order import stored_order
from ....xla.costs.operand_utilization import instructions_of
from ....xla.hlo import HloModule
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ..rule import Rule
from .dominant import CERTAIN, dominant
from .operands import argument_of, source_of, users_of

#: One line is a finding from this share of the run on.
_LEAST_DOMINANT = 0.2

#: The same for arrays that the program makes, of which it is unknown whether they can be made in another order.
_LEAST_UNKNOWN = 0.5

#: The orders of arguments' axes, by the names of the arguments.
_Orders = dict[str, tuple[int, ...] | None]

#: What an operation consists of that does nothing but reorder.
_REORDERING = frozenset({"bitcast", "copy", "parameter", "reshape", "transpose", "tuple"})


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the line for which arrays are reordered longest."""
    for each in dominant(evidence, _LEAST_DOMINANT, _reorders):
        arguments = _arguments(each.operations, each.program.module)
        if not arguments and each.time_ns < _LEAST_UNKNOWN * evidence.run_ns:
            continue
        transformed = each.program.function is None  # by vmap, whose axes the function does not have
        known = arguments if all(arguments.values()) and not transformed else {}
        yield RuleFinding(
            rule=RULE.name,
            found=note("doctor.reordered", function=each.function, share=each.time_ns / evidence.run_ns),
            line=each.line,
            source=each.source,
            evidence=each.evidence,
            cost_ns=each.time_ns if arguments else None,
            basis="estimated" if arguments else None,
            remedy=_remedy(arguments, known, each.function),
            code=_code(known),
            applies_to=each.function if known else None,
        )


def _remedy(arguments: _Orders, known: _Orders, function: str) -> Note:
    if known:
        orders = ", ".join(f"{name} as jnp.transpose({name}, {order})" for name, order in known.items())
        return note("doctor.reordered_order", arguments=len(known), orders=orders, function=function)
    if arguments:
        return note("doctor.reordered_argument", arguments=", ".join(arguments), function=function)
    return note("doctor.reordered_remedy")


def _code(known: _Orders) -> str | None:
    """Return assignments that transpose arguments, if all of them have names that can be assigned."""
    if not all(each.isidentifier() and not iskeyword(each) for each in known):
        return None
    return "\n".join(f"{each} = jnp.transpose({each}, {order})" for each, order in known.items()) or None


def _reorders(operation: OperationTime, module: HloModule | None) -> bool:
    """Return whether an operation only reorders an array, which nothing uses in its first order.

    An array that is used in both orders has to be reordered, as in ``x + x.T``.
    """
    if operation.category != "layout change":
        return False
    number = None if module is None else module.instruction_ids.get(operation.name)
    if module is None or number is None:
        return True
    instruction = module.instructions[number]
    inside = {each.opcode for each in instructions_of(module, instruction).values()}
    source = source_of(module, number)
    return inside <= _REORDERING and all(_only_reorders(module, each) for each in users_of(module, source))


def _only_reorders(module: HloModule, number: int) -> bool:
    instruction = module.instructions[number]
    opcodes = {each.opcode for each in instructions_of(module, instruction).values()} or {instruction.opcode}
    return opcodes <= _REORDERING


def _arguments(operations: Sequence[OperationTime], module: HloModule | None) -> _Orders:
    """Return the arguments that are reordered as they are passed, if all arrays are such arguments.

    Each has the order of axes in which all that uses it stores it; ``None`` if there are several, or it is unknown.
    """
    found: _Orders = {}
    for each in operations:
        number = None if module is None else module.instruction_ids.get(each.name)
        if module is None or number is None:
            return {}
        source = source_of(module, number)
        argument = argument_of(module, source)
        if argument is None or not argument.name:
            return {}
        orders = {stored_order(module, user) for user in users_of(module, source)}
        found[argument.name] = orders.pop() if len(orders) == 1 else None
    return found


RULE = Rule(
    name="layout",
    looks_for="arrays that are reordered in memory, as for a product over an axis that is not the last one",
    decides="Reports transposes, and copies that change the layout, if they take at least "
    f"{units.percent(_LEAST_DOMINANT)} of the run for one line, and nothing uses the arrays in their first order. "
    f"{CERTAIN} "
    "Their device time is the cost if they reorder arguments as these are passed. Otherwise they have to take at "
    f"least {units.percent(_LEAST_UNKNOWN)} of the run, and the cost is unknown: XLA may have to reorder other "
    "arrays instead.",
    source="https://openxla.org/xprof/hlo_op_stats",
    look=look,
    needs=("programs", "profile"),
)
