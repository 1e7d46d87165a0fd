"""Finds the functions that compile in every later run, and the programs that these leave alive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....records.note import Note, note
from ....timing.record import Timing
from ...analysis.program_names import name_in_xla
from ...record.evidence import Evidence
from ...record.program import KeptPrograms
from ..rule import is_worth_it
from .made_anew import is_made_by_the_code
from .recompilations import Group, counts, function_of, grouped, in_first_run, median_ns

#: A single program that is alive may be the one that the code uses last.
_LEAST_ALIVE = 2

#: The kinds of causes of which a program for each value remains, once there is one for it.
_OF_ARGUMENTS = "shape", "dtype", "weak type", "pytree"

#: The most names of functions that are listed.
_MOST_NAMES = 3


def compiled_in_every_run(evidence: Evidence) -> Iterator[tuple[Group, int]]:
    """Yield the functions that compile in every later run, each with the time that this takes."""
    groups = [each for each in _again(evidence) if not is_made_by_the_code(each, evidence)]
    for group in _with_consequences(groups, evidence):
        yield group, median_ns(group, _later_runs(evidence))


def made_by_the_code(evidence: Evidence) -> Note | None:
    """Return a note on functions that compile in every later run because the code makes them; ``None`` if none do.

    A script that runs once compiles them once, so they are no finding.
    """
    groups = [each for each in _again(evidence) if is_made_by_the_code(each, evidence)]
    compile_ns = sum(median_ns(each, _later_runs(evidence)) for each in groups)
    if not groups or not is_worth_it(compile_ns, evidence):
        return None
    return note("doctor.made_by_the_code", functions=_listed(groups), count=len(groups), compile_ns=compile_ns)


def _listed(groups: Sequence[Group]) -> str:
    names = list(dict.fromkeys(each.function for each in groups))
    return ", ".join([*names[:_MOST_NAMES], *(["…"] if len(names) > _MOST_NAMES else [])])


def _again(evidence: Evidence) -> list[Group]:
    always = always_compiled(evidence)
    return grouped([each for each in evidence.typical.compilations if counts(each) and function_of(each) in always])


def _with_consequences(groups: Sequence[Group], evidence: Evidence) -> list[Group]:
    """Add to re-created functions, and static objects, the programs for types that the first run compiled as well.

    Made once, such a function or object needs no further program for them in later runs.
    """
    seen = {(function_of(each), each.cause.argument, each.cause.now) for each in evidence.first.compilations}
    found = {each.same_function: each for each in groups if _is_anew(each)}
    others = list[Group]()
    for group in groups:
        shapes = {(group.same_function, each.cause.argument, each.cause.now) for each in group.compilations}
        anew = found.get(group.same_function)
        known = all(each.cause.now for each in group.compilations)
        if anew is not None and group.kind in _OF_ARGUMENTS and known and shapes <= seen:
            found[group.same_function] = anew._replace(compilations=[*group.compilations, *anew.compilations])
        elif not _is_anew(group):
            others.append(group)
    return [*(_with_types(each, evidence) for each in found.values()), *others]


def _with_types(group: Group, evidence: Evidence) -> Group:
    """Tell programs that a static object made once needs as well, for other types of arguments, as the first run did.

    JAX compares those of a later run with the same of the run before it, from which only the object differs.
    """
    own = [each for each in group.compilations if each.cause.kind == group.kind]
    others = [each for each in group.compilations if each.cause.kind != group.kind]
    told = {(each.cause.argument, each.cause.now) for each in others}
    types = [each for each in in_first_run(group, evidence) if each.cause.kind in _OF_ARGUMENTS]
    missing = [each for each in types if (each.cause.argument, each.cause.now) not in told][: len(own) - 1]
    if group.kind != "static value":
        return group
    return group._replace(compilations=[*others, *missing, *own[len(missing) :]])


def _is_anew(group: Group) -> bool:
    """Return whether a group is about functions, or static objects, that are re-created."""
    remade = group.kind == "static value" and any(each.cause.new_objects for each in group.compilations)
    return remade or group.kind == "new function"


def only_first_run(group: Group, evidence: Evidence) -> bool:
    """Return whether later runs compile nothing of a function."""
    later = [each for run in _later_runs(evidence) for each in run.compilations]
    return evidence.repeated and not any(function_of(each) == group.same_function for each in later)


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
