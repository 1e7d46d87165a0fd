"""Finds ``jnp.stack`` and ``jnp.concatenate`` of so many arrays that their programs take long to compile."""

from __future__ import annotations

from collections.abc import Sequence

from .....compilation.record.compilation import Compilation
from .....records.call_stack import Frame
from .....records.note import note
from ....analysis.program_names import name_in_xla
from ....record.evidence import Evidence
from ....record.finding import RuleFinding
from ....record.program import Program
from ...host.host_time import names_of_program
from ...rule import LEAST_SHARE, source_at
from ..compile_claims import numbers_of

#: Functions of JAX that take any number of arrays, each as an argument of its program.
_JOINING = frozenset({"concatenate", "stack"})

#: The time that XLA takes for fewer arguments is not due to their number.
LEAST_ARRAYS = 100


def joining(compilations: Sequence[Compilation], evidence: Evidence) -> list[tuple[Compilation, Program]]:
    """Return the compilations of programs that join many arrays, with these programs, longest first."""
    found = []
    for each in sorted(compilations, key=lambda each: -each.total_ns):
        name = name_in_xla(each.function)
        programs = [one for one in evidence.programs or () if _arrays(one) and name in names_of_program(one)]
        if name in _JOINING and each.location is None and programs:
            found.append((each, max(programs, key=_arrays)))
    return found


def joined_arrays(
    found: Sequence[tuple[Compilation, Program]], rule: str, least_ns: int, evidence: Evidence
) -> RuleFinding | None:
    """Return the finding about programs that join many arrays; ``None`` if they compile for less than `least_ns`.

    Args:
        found: what :func:`joining` returns.
        rule: the name of the rule.
        least_ns: programs that XLA compiles for less than this in all are no finding.
        evidence: the observations of the runs.
    """
    own = [each for each, _ in found]
    total_ns = sum(each.total_ns for each in own)
    if sum(each.compilation_ns for each in own) < least_ns or total_ns < LEAST_SHARE * evidence.first.wall_ns:
        return None
    longest, program = found[0]
    line: Frame | None = program.called_at
    name = name_in_xla(longest.function)
    return RuleFinding(
        rule=rule,
        found=note(
            "doctor.compile_time_joined",
            name=name,
            arrays=_arrays(program),
            time_ns=longest.total_ns,
            others=len({id(each) for each in own}) - 1,
        ),
        line=None if line is None else line.location,
        source=source_at(line),
        cost_ns=float(total_ns),
        basis="measured",
        per="first run",
        compiles=numbers_of(own, evidence),
        remedy=note("doctor.compile_time_collected", name=name),
    )


def _arrays(program: Program) -> int:
    """Return how many arrays a program takes; 0 if it takes few, or if they are unknown."""
    count = 0 if program.module is None else len(program.module.inputs)
    return count if count >= LEAST_ARRAYS else 0
