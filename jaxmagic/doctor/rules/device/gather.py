"""Finds gathers and scatters that dominate a run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from .... import units
from ....profiling.record.profile import OperationTime
from ....records.note import Note, note
from ....xla.costs.operand_utilization import instructions_of
from ....xla.hlo import HloModule
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ..rule import Rule
from .dominant import CERTAIN, DominantLine, dominant

#: Instructions that check, convert or shape indices, or replace elements outside an array, as `jnp.take` does.
_CHECKS = frozenset({
    "add", "and", "bitcast", "broadcast", "clamp", "compare", "concatenate", "constant", "convert", "copy", "iota",
    "or", "parameter", "reduce", "reshape", "select", "slice", "transpose",
})  # fmt: skip

#: What JAX calls `jnp.take` in a program.
_TAKE = "jit(_take)"

#: One line is a finding from this share of the run on.
_LEAST_DOMINANT = 0.3


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the lines whose gathers or scatters dominate a run."""
    for each in dominant(evidence, _LEAST_DOMINANT, partial(_is_of, "gather")):
        found = note("doctor.gather", function=each.function, share=each.time_ns / evidence.run_ns)
        yield _finding(each, found, note("doctor.gather_remedy"))
    for each in dominant(evidence, _LEAST_DOMINANT, partial(_is_of, "scatter")):
        found = note("doctor.scatter", function=each.function, share=each.time_ns / evidence.run_ns)
        yield _finding(each, found, note("doctor.scatter_remedy", backend=evidence.first.environment.backend or ""))


def _finding(dominant: DominantLine, found: Note, remedy: Note) -> RuleFinding:
    return RuleFinding(
        rule=RULE.name,
        found=found,
        line=dominant.line,
        source=dominant.source,
        evidence=dominant.evidence,
        remedy=remedy,
    )


def _is_of(kind: str, operation: OperationTime, module: HloModule | None) -> bool:
    """Return whether an operation is a gather or a scatter, or a fusion that does no more than check its indices."""
    within = operation.scope.split("/")[1:]
    if any(each.startswith("jit(_") and each != _TAKE for each in within):
        return False  # a function of JAX does it, such as jnp.interp
    if operation.category == "gather":
        return operation.scope.rpartition("/")[2].startswith(kind)
    number = None if module is None else module.instruction_ids.get(operation.name)
    if module is None or number is None:
        return False
    inside = {each.opcode for each in instructions_of(module, module.instructions[number]).values()}
    return kind in inside and inside <= {kind, *_CHECKS}


RULE = Rule(
    name="gather",
    looks_for="gathers and scatters that dominate",
    decides="Reports operations that read or write elements by index, as x[i] and x.at[i].add(y) with an array i, if "
    f"they take at least {units.percent(_LEAST_DOMINANT)} of the run for one line. "
    f"{CERTAIN} Operations that are called outside of jit do not count, nor do those of programs that share a name. "
    "How much less another way would take depends on the indices, so the cost is unknown. On CPUs, the promises "
    "indices_are_sorted and unique_indices changed nothing when measured with a million indices; JAX documents that "
    "they may help on some backends.",
    source="https://docs.jax.dev/en/latest/_autosummary/jax.Array.at.html",
    look=look,
    needs=("programs", "profile"),
)
