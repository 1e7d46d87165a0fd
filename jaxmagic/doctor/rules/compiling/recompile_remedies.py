"""Remedies for functions that compile again: the advice, and the code to paste."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ....compilation.record.compilation import Cause
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Evidence
from ..rewriting.changing_values import Kept
from ..rewriting.hoisting import Made
from ..rewriting.jit.obstacles import sized_by_values
from ..rewriting.new_objects import optimizers_among
from .growth import Growth, growth
from .made_anew import (
    NewArguments,
    changed_for_effect,
    kept_if_made_once,
    location_like,
    made_anew,
    method_remedy,
    new_arguments,
)
from .one_type import OneType, one_type
from .padding import Padding, padding_code, sizes_to_pad
from .recompilations import (
    Alike,
    Group,
    alike,
    differing,
    forms_of,
    is_librarys,
    library_called,
    only_argument,
    only_numbers_differ,
    passable,
    programs_of,
    settings_of,
    values_of_first,
    varying_shapes,
    within_first,
)
from .static.counted_loop import CountedLoop, counted_loop
from .static.passed_array import call_with_array
from .static.traced_number import jit_without

#: The remedies that advise to pass what a function reads.
_PASSING = "doctor.recompile_pass", "doctor.recompile_each", "doctor.recompile_objects"


class Known(NamedTuple):
    """Facts about a function that compiles again, and about the code around it.

    Attributes:
        group: The programs.
        every_run: Whether every run compiles them again, rather than the first one several times.
        made: Where the function is re-created, if it is.
        kept: What a function made once would keep, although it changes.
        effects: What making the function changes besides.
        objects: The static parts of arguments that are re-created as well: with them, one program does not do.
        grows: The argument that is longer in each call, if one is.
        sizes: The sizes to pad to, if that needs fewer programs.
        number: The number to convert, if only its kind differs.
        loop: A loop of JAX in place of one whose range is static, if that is the only use of the value.
        traced: The jit of the function that traces the static number, if the function only computes with it.
        passed: The call with an array in place of that number, if a library's jit makes all numbers static.
        forms: How many different programs the static values need; 0 where that does not matter.
        programs: How the programs for static values compare; ``None`` if unknown, or if there is only one.
        within: What differed in the first run, if every run compiles for new objects that hold the same as those of
            the run before, while those of one run differ.
        values: What differed in the first run, if every run makes the function or its static argument anew: JAX
            compares those of a later run with the same of the run before.
        library: The library that makes the function, if one does.
        called_at: The user's line that runs the programs, if theirs is not known or not the user's.
        shapes: The arguments of a re-created function that have several shapes, each of which needs a program.
        static_only: What the function reads that would have to be a static argument, with what it is.
        method: What to do if a method is jitted that reads nothing else that may differ.
    """

    group: Group
    every_run: bool
    made: Made | None
    kept: Kept
    effects: list[str]
    objects: NewArguments
    grows: Growth | None
    sizes: Padding | None
    number: OneType | None
    loop: CountedLoop | None
    traced: str | None
    passed: str | None
    forms: int
    programs: Alike | None
    within: Cause | None
    values: Cause | None
    library: str | None
    called_at: Frame | None
    shapes: list[str]
    static_only: dict[str, str]
    method: Note | None

    @property
    def last(self) -> Cause:
        """The cause of the last program."""
        return self.group.compilations[-1].cause

    @property
    def serves_all_values(self) -> bool:
        """Whether one program serves the static objects of all values, once their values are arguments."""
        optimizer = None if self.objects.made is None else self.objects.made.optimizer
        return self.group.kind == "static value" and (self.library is not None or optimizer is not None)

    @property
    def told(self) -> Cause:
        """The cause that says what differs within a run."""
        return self.values or self.last


def known_of(group: Group, evidence: Evidence, *, every_run: bool) -> Known:
    """Collect the facts about a function that compiles again."""
    anew = group.kind == "new function" or (group.kind == "transformation" and every_run)
    made = made_anew(group, evidence) if anew else None
    kept = kept_if_made_once(group, evidence) if anew else Kept()
    effects = changed_for_effect(group, evidence) if anew else []
    if made is not None and not effects and (kept.names or differing(group.compilations)):
        made = made._replace(code=None)  # made once, it would keep the first value
    objects = new_arguments(group, evidence) if group.kind in ("new function", "static value") else NewArguments()
    if made is not None and objects.names:
        made = made._replace(code=None)  # made once, it would compile as often
    is_shape = group.kind == "shape" and not group.eager
    is_static = group.kind == "static value"
    grows = growth(group, evidence) if is_shape else None
    loop = counted_loop(group, evidence) if is_static else None
    programs = alike(group, evidence) if is_static and loop is None else None
    location = group.location if made is None else location_like(group.location, made, evidence)
    return Known(
        group=group,
        every_run=every_run,
        made=made,
        kept=kept,
        effects=effects,
        objects=objects,
        grows=grows,
        sizes=sizes_to_pad(group, evidence) if is_shape and grows is None else None,
        number=one_type(group, evidence) if group.kind == "weak type" else None,
        loop=loop,
        traced=jit_without(group, evidence) if is_static and loop is None else None,
        passed=call_with_array(group, evidence) if is_static and loop is None else None,
        forms=_forms(group, programs, evidence) if is_static and not every_run and loop is None else 0,
        programs=programs,
        within=within_first(group, evidence) if every_run else None,
        values=values_of_first(group, evidence) if every_run else None,
        library=library_called(group, evidence),
        called_at=_called_at(group, evidence) if location is None or is_librarys(group) else None,
        shapes=varying_shapes(group, evidence) if group.kind == "new function" and not group.eager else [],
        static_only=_static_only(group, evidence),
        method=None if made is None else method_remedy(group, made, evidence),
    )


def _static_only(group: Group, evidence: Evidence) -> dict[str, str]:
    """Return what all programs of a function read that would have to be a static argument, with what it is."""
    found = [{*each.static_only} for each in programs_of(group, evidence)]
    return dict(sorted(set.intersection(*found))) if found else {}


def _forms(group: Group, programs: Alike | None, evidence: Evidence) -> int:
    return forms_of(group, evidence) if programs is None or passable(group) else programs.forms


def _called_at(group: Group, evidence: Evidence) -> Frame | None:
    """Return the only line of the user's that runs the programs of a function; ``None`` if that is not known."""
    lines = {each.called_at for each in programs_of(group, evidence)}
    return lines.pop() if len(lines) == 1 else None


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
    if remedy is None or not known.shapes:
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
