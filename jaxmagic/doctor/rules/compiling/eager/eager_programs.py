"""Finds operations outside of jit that take long to compile together, each as a program of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .....compilation.record.compilation import Compilation
from .....records.call_stack import Frame
from .....records.cell_names import known_as
from .....records.note import note
from ....analysis.program_names import name_in_xla
from ....record.evidence import Evidence
from ....record.finding import RuleFinding
from ...host.host_time import MANY, eager_calls
from ...host.jitting.advice import compile_called, group
from ...host.jitting.looped import MOST_UNROLLED
from ...host.not_jitted import MOST_NAMES
from ...host.numbers.per_value import PerValue, of_each_value, per_value, traces
from ...rewriting.called_function import called_function
from ...rule import LEAST_SHARE, source_at
from ..compile_claims import numbers_of
from .calling_sites import about_sites, calling_sites, jits_by_itself

#: Operations that have a program for each value of a number are the cause from this share of the time on.
_MOST_PER_VALUE = 0.5

#: A line is named that has led to more than this share of the operations.
_MOST_AT_LINE = 0.5

__all__ = ["MANY", "eager_programs"]


def eager_programs(
    compilations: Sequence[Compilation], rule: str, least_ns: int, evidence: Evidence
) -> RuleFinding | None:
    """Find the eager operations among some compilations.

    ``None`` if they are few, took less than `least_ns`, or most of them are a library's that jits by itself.
    """
    eager = [each for each in compilations if each.eager and each.compiled]
    total_ns = sum(each.total_ns for each in eager)
    if len(eager) < MANY or total_ns < max(least_ns, LEAST_SHARE * evidence.first.wall_ns):
        return None
    names = Counter[str]()
    for each in eager:
        names[each.function.strip("_")] += each.total_ns
    use = evidence.host_use
    calls = len(eager) if use is None else sum(each.count for each in eager_calls(evidence, use))
    called = called_function(evidence, len(eager), MOST_UNROLLED if calls <= MOST_UNROLLED else 0, rounds=1)
    remedy, code = group(evidence), None
    line, sites = None, calling_sites(evidence)
    if called is None and sites and sites[0][1] > _MOST_AT_LINE * len(eager):
        line = sites[0][0]
        if jits_by_itself(line, evidence):
            return None
    if called is not None:
        remedy, code = compile_called(called, evidence)
        function, file = called.function, called.file
        line = Frame(function=function.name, file=file, line=function.lineno, cell=known_as(file))
    varying = None if traces(code) else per_value(evidence)
    if varying is not None and _time_of(varying, eager) >= _MOST_PER_VALUE * total_ns:
        line, remedy, code = varying.line, of_each_value(varying, evidence), None
    return RuleFinding(
        rule=rule,
        found=note(
            "doctor.compile_time_eager",
            programs=len(eager),
            total_ns=total_ns,
            names=", ".join(name for name, _ in names.most_common(MOST_NAMES)),
            kinds=len(names),
        ),
        line=None if line is None else line.location,
        source=source_at(line),
        evidence=() if code is not None else tuple(about_sites(sites)),
        cost_ns=float(total_ns),
        basis="measured",
        per="first run",
        compiles=numbers_of(eager, evidence),
        remedy=remedy,
        code=code,
    )


def _time_of(varying: PerValue, eager: Sequence[Compilation]) -> int:
    """Return how long the operations compile that have a program for each value of a number."""
    return sum(each.total_ns for each in eager if f"jit_{name_in_xla(each.function)}" in varying.operations)
