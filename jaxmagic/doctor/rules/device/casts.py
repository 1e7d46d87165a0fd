"""Finds arguments that each call converts to another type, or to one and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ....profiling.record.profile import OperationTime
from ....records.note import note
from ....xla.costs.operand_utilization import instructions_of
from ....xla.hlo import HloModule, Sharded
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ..host.syntax import assigned
from ..rewriting.syntax import tree_of_code
from .dominant import DominantLine, dominant
from .operands import argument_of, source_of, users_of

#: One line is a finding from this share of the run on.
LEAST_OF_CASTS = 0.1

#: The opcodes of an operation that only converts.
_CONVERTING = frozenset({"bitcast", "convert", "parameter", "reshape"})

#: JAX's names of XLA's element types. Other types are seldom converted as a whole.
_TYPES = {"f64": "float64", "f32": "float32", "bf16": "bfloat16", "f16": "float16", "s32": "int32", "s8": "int8",
          "u8": "uint8"}  # fmt: skip


class _Cast(NamedTuple):
    """A conversion of an argument.

    Attributes:
        argument: the argument.
        through: the type that it is converted to first; empty if there is none.
        to: the type that the program computes with.
    """

    argument: Sharded
    through: str
    to: str


def casts(rule: str, evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the lines for which a variable that stays the same is converted in each call."""
    for each in dominant(evidence, LEAST_OF_CASTS, _only_converts):
        longest = _cast(each.operations[0], each.program.module)
        name = "" if longest is None else _variable(longest.argument.shape, evidence)
        if longest is not None and name:
            yield _finding(rule, each, longest, name, evidence)


def _finding(rule: str, line: DominantLine, cast: _Cast, name: str, evidence: Evidence) -> RuleFinding:
    given, module = _element_type(cast.argument.shape), line.program.module
    assigns = given != cast.to and name.isidentifier()
    types = _TYPES[given], _TYPES.get(cast.through, ""), _TYPES[cast.to]
    own = sum(each.time_ns for each in line.operations if _cast(each, module) == cast)
    time_ns = line.time_ns * own / sum(each.time_ns for each in line.operations)
    return RuleFinding(
        rule=rule,
        found=note(
            "doctor.cast",
            function=line.function,
            name=name,
            shape=cast.argument.shape,
            share=time_ns / evidence.run_ns,
            given=types[0],
            through=types[1],
            to=types[2],
        ),
        line=line.line,
        source=line.source,
        evidence=line.evidence,
        cost_ns=time_ns,
        basis="estimated",
        remedy=note("doctor.cast_remedy", name=name, given=types[0], through=types[1], to=types[2]),
        code=f"{name} = {name}.astype(jnp.{_TYPES[cast.to]})" if assigns else None,
        applies_to=name if assigns else None,
    )


def _only_converts(operation: OperationTime, module: HloModule | None) -> bool:
    """Return whether an operation does nothing but convert an argument, which nothing uses as it is."""
    number = None if module is None else module.instruction_ids.get(operation.name)
    if module is None or number is None or not _converts(module, number):
        return False
    source = source_of(module, number)
    if argument_of(module, source) is None:
        return False
    return all(_converts(module, each) for each in users_of(module, source))


def _converts(module: HloModule, number: int) -> bool:
    instruction = module.instructions[number]
    opcodes = {each.opcode for each in instructions_of(module, instruction).values()} or {instruction.opcode}
    return "convert" in opcodes <= _CONVERTING


def _cast(operation: OperationTime, module: HloModule | None) -> _Cast | None:
    """Return what an operation converts; ``None`` if the types are not all known."""
    assert module is not None  # or it would not be known that it only converts
    number = module.instruction_ids[operation.name]
    argument = argument_of(module, source_of(module, number))
    assert argument is not None
    instruction = module.instructions[number]
    given, to = _element_type(argument.shape), _element_type(instruction.shape)
    through = {_element_type(each.shape) for each in instructions_of(module, instruction).values()} - {given, to}
    if len(through) > 1 or not {given, to, *through} <= _TYPES.keys():
        return None
    return _Cast(argument, "".join(through), to)


def _element_type(shape: str) -> str:
    return shape.partition("[")[0]


def _variable(shape: str, evidence: Evidence) -> str:
    """Return the only array of a type that the code reads and does not assign; empty if it is unknown."""
    given = _element_type(shape)
    alike = [each for each in evidence.inputs if each.type == shape.replace(given, _TYPES[given], 1)]
    if len(alike) != 1 or alike[0].kind != "jax array" or alike[0].deleted:
        return ""
    name = re.split(r"\W", alike[0].path)[0]
    return "" if name in assigned(tree_of_code(evidence.code)) else alike[0].path
