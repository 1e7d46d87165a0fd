"""Finds the functions that compile in every later run, and the programs that these leave alive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....timing.record import Timing
from ...analysis.program_names import name_in_xla
from ...record.evidence import Evidence
from ...record.program import KeptPrograms
from .made_anew import is_made_by_the_code
from .recompilations import Group, counts, function_of, grouped, median_ns

#: A single program that is alive may be the one that the code uses last.
_LEAST_ALIVE = 2


def compiled_in_every_run(evidence: Evidence) -> Iterator[tuple[Group, int]]:
    """Yield the functions that compile in every later run, each with the time that this takes."""
    always = always_compiled(evidence)
    again = [each for each in evidence.typical.compilations if counts(each) and function_of(each) in always]
    groups = [each for each in grouped(again) if not is_made_by_the_code(each, evidence)]
    for group in _with_consequences(groups, evidence):
        yield group, median_ns(group, _later_runs(evidence))


def _with_consequences(groups: Sequence[Group], evidence: Evidence) -> list[Group]:
    """Add to re-created functions their programs for shapes that the first run compiled as well.

    Made once, such a function compiles nothing for them in later runs.
    """
    seen = {(function_of(each), each.cause.argument, each.cause.now) for each in evidence.first.compilations}
    found = {each.same_function: each for each in groups if each.kind == "new function"}
    others = list[Group]()
    for group in groups:
        shapes = {(group.same_function, each.cause.argument, each.cause.now) for each in group.compilations}
        anew = found.get(group.same_function)
        known = all(each.cause.now for each in group.compilations)
        if anew is not None and group.kind == "shape" and known and shapes <= seen:
            found[group.same_function] = anew._replace(compilations=[*group.compilations, *anew.compilations])
        elif group.kind != "new function":
            others.append(group)
    return [*found.values(), *others]


def _later_runs(evidence: Evidence) -> list[Timing]:
    """Return the runs after the first one, without the recorded one; none if the code ran only once."""
    return [evidence.observed, *evidence.timed] if evidence.repeated else []


def always_compiled(evidence: Evidence) -> set[tuple[str, str | None]]:
    """Return the functions that compile in every later run."""
    functions = [{function_of(each) for each in run.compilations if counts(each)} for run in _later_runs(evidence)]
    return set.intersection(*functions) if functions else set()


def kept_alive(group: Group, evidence: Evidence) -> KeptPrograms | None:
    """Return the programs that functions of this name left alive, if they left all that the last runs compiled."""
    name = name_in_xla(group.function)
    recorded = () if evidence.profile is None else evidence.profile.compilations
    compiled = [each for run in evidence.timed for each in run.compilations]
    count = sum(counts(each) and name_in_xla(each.function) == name for each in (*compiled, *recorded))
    kept = (each for each in evidence.kept_programs if each.name == f"jit_{name}")
    return next((each for each in kept if each.programs >= max(count, _LEAST_ALIVE)), None)
