"""Remedies for functions that compile again: the advice, and the code to paste."""

from __future__ import annotations

from dataclasses import replace

from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Evidence
from ..rewriting.jit.obstacles import sized_by_values
from ..rewriting.new_objects import optimizers_among
from .padding import padding_code
from .recompilations import Group, only_argument, only_numbers_differ, programs_of, settings_of
from .recompile_facts import Known

#: The remedies that are about values alone.
_OF_VALUES = tuple(f"doctor.recompile_{each}" for each in ("same", "constants", "if_same", "numbers"))

#: The remedies that advise to pass what a function reads.
_PASSING = "doctor.recompile_pass", "doctor.recompile_each", "doctor.recompile_objects"


def avoidable_share(known: Known, evidence: Evidence) -> float:
    """Return the share of the programs of the first run that need not compile, 0 to 1."""
    programs = len(known.group.compilations)
    if known.sizes is not None:  # those for these sizes compile all the same
        return min((known.sizes.seen - known.sizes.needed) / programs, 1)
    if known.forms > 1:  # one for each of them compiles all the same
        return min((len(programs_of(known.group, evidence)) - known.forms) / programs, 1)
    return 1


def code_of(known: Known, evidence: Evidence) -> str | None:
    """Return the code to paste, if there is any."""
    if known.made is not None:
        return known.made.code
    if known.number is not None:
        return known.number.code
    if known.sizes is not None:
        return padding_code(known.group, known.sizes, evidence)
    if known.start is not None:
        return known.start.code
    return known.traced or known.passed if known.loop is None else known.loop.code


def remedy_of(known: Known) -> Note | None:
    """Say what to do, if anything is known to help."""
    if known.group.eager and known.group.kind == "shape":
        return one_size(known.called_at)
    if known.loop is not None:
        return note("doctor.recompile_counted", argument=known.last.argument or "")
    if known.traced is not None:
        return note("doctor.recompile_traced", function=known.group.own_name, argument=known.last.argument or "")
    if known.passed is not None:
        return note("doctor.recompile_passed", function=known.group.own_name, argument=known.last.argument or "")
    if known.start is not None:
        start, argument = known.start, known.last.argument or ""
        return note(
            "doctor.recompile_start",
            function=known.group.own_name,
            argument=argument,
            slices=start.slices,
            items=start.items,
        )
    if known.number is not None:
        number, same = known.number, int(known.number.same_dtypes)
        return note("doctor.recompile_one_type", converted=number.converted, same=same, exact=number.exact)
    if known.grows is not None:
        inside = known.group.function if known.grows.returned else ""
        return note("doctor.recompile_preallocate", argument=known.grows.argument, function=inside)
    if known.sizes is not None:
        return note("doctor.recompile_pad", integers=", ".join(known.sizes.integers))
    remedy = _with_objects(known) or _made_once(known) or _same_values(known)
    if remedy is not None and remedy.kind in _PASSING:
        remedy = replace(remedy, facts={**remedy.facts, **_static_facts(known, str(remedy.facts["names"]))})
    if remedy is None or not known.shapes or remedy.kind in _OF_VALUES:
        return remedy
    return replace(remedy, facts=remedy.facts | {"shapes": ", ".join(known.shapes)})


def _static_facts(known: Known, names: str) -> dict[str, str]:
    """Return which of the names to pass have to be static arguments, and what they are; nothing if none do."""
    static = [f"{name}: {known.static_only[name]}" for name in names.split(", ") if name in known.static_only]
    return {"static": ", ".join(static)} if static else {}


def one_size(line: Frame | None) -> Note:
    """Advise one size for operations outside jit, as the line that calls them needs it."""
    obstacle = None if line is None else sized_by_values(line)
    if obstacle is None:
        return note("doctor.recompile_one_size")
    return note("doctor.recompile_by_values", text=obstacle.text, argument=obstacle.argument)


def _with_objects(known: Known) -> Note | None:
    """Say how to make both a function and static parts of its arguments once, or an optimizer."""
    objects, anew = known.objects, known.group.kind == "new function"
    optimizer = None if objects.made is None else objects.made.optimizer
    if not objects.names or known.library is not None or not (anew or optimizer is not None):
        return None
    captured = () if known.made is None else known.made.captured
    return note(
        "doctor.recompile_objects",
        function=known.group.function if anew else "",
        names=", ".join(dict.fromkeys((*captured, *known.kept.names))),
        objects=", ".join(objects.names),
        vary=int(objects.vary),
        optimizer=optimizer or "",
        optimizers=int(optimizer is not None),
    )


def _made_once(known: Known) -> Note | None:
    """Say how to make a function once, where it is re-created."""
    captured = () if known.made is None else known.made.captured
    if {*known.kept.names} - {*captured}:
        return note("doctor.recompile_kept", names=", ".join(known.kept.names), random=int(known.kept.random))
    if known.effects:
        return note("doctor.recompile_effects", names=", ".join(known.effects))
    if known.made is None:
        return None
    differs = known.told
    if captured and known.made.passable and differs.remedy is not None:
        return note("doctor.recompile_pass", names=", ".join(captured))
    if known.group.kind == "transformation":
        return note("doctor.recompile_once")
    by_values = known.every_run if differs.remedy is None else not differs.argument
    if captured and by_values and known.library is None:
        found = optimizers_among(captured, known.made.file, known.made.line)
        optimizers, how = ", ".join(found), next(iter(found.values()), "")
        names = ", ".join(captured)
        return known.method or note("doctor.recompile_each", names=names, optimizers=optimizers, optimizer=how)
    return None


def _same_values(known: Known) -> Note | None:
    """Say how to call a function so that what it compiled for stays the same."""
    kind, remedy = known.group.kind, known.told.remedy
    if kind == "static value" and known.library is None and (values := _static_values(known)) is not None:
        return values
    if known.library is not None:
        return note("doctor.recompile_in_library", library=known.library, static=int(kind == "static value"))
    if kind == "pytree" and (argument := only_argument(known.group)) is not None:
        return note("doctor.recompile_structure", argument=argument)
    if kind == "context" and (settings := settings_of(known.group)):
        return note("doctor.recompile_settings", settings=", ".join(settings))
    return None if remedy is None else note("doctor.recompile_remedy", remedy=remedy)


def _static_values(known: Known) -> Note | None:
    """Say what to do about static values, where their own remedy is not all that is known."""
    last, programs, function = known.last, known.programs, known.group.function
    numbers, remedy = only_numbers_differ(last), known.told.remedy
    argument = _static_argument(known.group)
    if programs is not None and programs.repeating and programs.same_constants and (remedy is None or numbers):
        return note("doctor.recompile_same", function=function, argument=argument, forms=programs.forms)
    if remedy is None and numbers:
        return note("doctor.recompile_numbers", argument=last.argument or "")
    if known.every_run and last.argument and last.now is None:
        return note("doctor.recompile_own_equality", argument=last.argument)
    if remedy is not None:
        return None
    if programs is not None and programs.repeating:
        return note("doctor.recompile_constants", argument=argument, forms=programs.forms)
    if known.every_run and programs is None:
        return note("doctor.recompile_if_same", function=function, argument=argument)
    return None


def _static_argument(group: Group) -> str:
    """Return the one static argument that differs in all calls; empty if others do as well, or if it has no name."""
    causes = [each.cause for each in group.compilations]
    arguments = {each.argument for each in causes}
    alone = len(arguments) == 1 and not any("; and other differences at " in each.reason for each in causes)
    return (arguments.pop() or "") if alone else ""
