"""Collects the facts about a function that compiles again, by which its remedy is chosen."""

from __future__ import annotations

from typing import NamedTuple

from ....compilation.record.compilation import Cause
from ....records.call_stack import Frame
from ....records.note import Note
from ...record.evidence import Evidence
from ..rewriting.changing_values import Kept
from ..rewriting.hoisting import Made
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
from .padding import Padding, sizes_to_pad
from .recompilations import (
    Alike,
    Group,
    alike,
    differing,
    for_shapes,
    forms_of,
    is_librarys,
    library_called,
    passable,
    programs_of,
    values_of_first,
    varying_shapes,
    within_first,
)
from .static.counted_loop import CountedLoop, counted_loop
from .static.passed_array import call_with_array
from .static.slice_start import SliceStart, slice_start
from .static.traced_number import jit_without


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
        start: The slices and indices that need the number, if nothing else does.
        forms: How many different programs the static values need; 0 where that does not matter.
        programs: How the programs for static values compare; ``None`` if unknown, or if there is only one.
        within: What differed in the first run, if every run compiles for new objects that hold the same as those of
            the run before, while those of one run differ.
        values: What differed in the first run, if every run makes the function or its static argument anew: JAX
            compares those of a later run with the same of the run before.
        library: The library that makes the function, if one does.
        called_at: The user's line that runs the programs, if theirs is not known or not the user's.
        shapes: The arguments of a function that have several shapes, each of which needs a program, if the function
            or its static argument is re-created.
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
    start: SliceStart | None
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
        start=slice_start(group, evidence) if is_static and loop is None else None,
        forms=_forms(group, programs, evidence) if is_static and not every_run and loop is None else 0,
        programs=programs,
        within=within_first(group, evidence) if every_run else None,
        values=values_of_first(group, evidence) if every_run else None,
        library=library_called(group, evidence),
        called_at=_called_at(group, evidence) if location is None or is_librarys(group) else None,
        shapes=varying_shapes(group, evidence) if for_shapes(group) is not None else [],
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
