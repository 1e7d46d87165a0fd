"""Finds functions that compile again: in every run, or several times in one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .... import units
from ....compilation.record.compilation import Cause, Compilation
from ....records.note import Note, note
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ..rewriting.syntax import source_of_location
from ..rule import LEAST_SHARE, Rule, is_worth_it, source_at
from .compile_claims import numbers_of
from .earlier_programs import with_earlier
from .every_run import always_compiled, compiled_in_every_run, kept_alive, only_first_run
from .growth import growth
from .made_anew import changed_for_effect, kept_if_made_once, location_like
from .operations import Operation, operations_joined, varying_sizes
from .padding import MOST_TIMES, about_sizes, sizes_to_pad
from .recompilations import (
    Group,
    alike,
    avoidable,
    counts,
    differing,
    for_shapes,
    forms_of,
    function_of,
    grouped,
    in_first_run,
    passable,
    programs_of,
    repeating,
)
from .recompile_facts import Known, known_of
from .recompile_remedies import avoidable_share, code_of, remedy_of
from .static.counted_loop import counted_loop

#: Several programs of one function in the first run are worth a finding if they took this long.
_LEAST_FIRST_RUN_NS = 50_000_000

#: Fewer further programs of one function are no finding.
_SEVERAL = 3

#: The same for :data:`_CERTAIN` causes.
_TWO = 2

#: A single program that could have been avoided is worth a finding if it took this long.
_LEAST_SINGLE_NS = 500_000_000

#: What tells objects apart that read the same.
_ADDRESS = re.compile(r" \(object 0x[0-9a-f]+\)")

#: Causes that are avoided by how a function is called, whatever its values: one program is one too many.
_SINGLE = ("weak type", "placement")

#: Causes without which one program does for all calls.
_CERTAIN = (*_SINGLE, "new function")

#: Causes in the first run that are by design, or that no call of the user's own can avoid.
_BY_DESIGN = (
    *("first call", "cleared caches", "ahead of time", "while tracing"),
    *("unknown", "dtype", "eager", "transfer"),
)


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find what every later run compiled again, and what the first run compiled several times."""
    yield from operations_joined(list(_found(evidence)))


def _found(evidence: Evidence) -> Iterator[Operation]:
    for group, cost_ns in compiled_in_every_run(evidence):
        if is_worth_it(cost_ns, evidence):
            yield operation_of(group, evidence, float(cost_ns), every_run=True)
    always = always_compiled(evidence)
    once = [each for each in evidence.first.compilations if counts(each)]
    groups = with_earlier(grouped([each for each in once if function_of(each) not in always]), evidence)
    for group in map(avoidable, groups):
        if not group.compilations or group.kind in _BY_DESIGN or not _is_avoidable(group, evidence):
            continue
        single = group.kind in _SINGLE and group.cost_ns >= _LEAST_SINGLE_NS and _has_others(group, evidence)
        least = _TWO if group.kind in _CERTAIN else _SEVERAL
        several = len(group.compilations) >= least and group.cost_ns >= _LEAST_FIRST_RUN_NS
        if single or several:
            yield operation_of(group, evidence, float(group.first_run_ns), every_run=False)


def operation_of(group: Group, evidence: Evidence, cost_ns: float, *, every_run: bool) -> Operation:
    """Return the finding about a function that compiles again, which takes so much time."""
    lines = [each.called_at for each in programs_of(group, evidence) if each.called_at is not None]
    return Operation(_finding(group, evidence, cost_ns, every_run=every_run), lines, varying_sizes(group))


def _has_others(group: Group, evidence: Evidence) -> bool:
    """Return whether the first run has several programs of a function: an only one differs from earlier code."""
    return max(len(in_first_run(group, evidence)), len(programs_of(group, evidence))) > 1


def _is_avoidable(group: Group, evidence: Evidence) -> bool:
    """Return whether one program, or a few, could have done what these did."""
    if group.eager and group.kind not in ("shape", "new function"):
        return False
    if group.kind == "shape":
        grows = not group.eager and growth(group, evidence) is not None
        return grows or sizes_to_pad(group, evidence) is not None
    if group.kind == "static value":
        if counted_loop(group, evidence) is not None:
            return True
        if passable(group):
            return forms_of(group, evidence) <= 1 or repeating(group, evidence) >= _SEVERAL
        programs = alike(group, evidence)
        return programs is not None and (programs.forms == 1 or programs.repeating >= _SEVERAL)
    if group.kind == "new function" and (
        kept_if_made_once(group, evidence).names or changed_for_effect(group, evidence)
    ):
        return True
    return all(each.cause.remedy for each in group.compilations)


def _finding(group: Group, evidence: Evidence, cost_ns: float, *, every_run: bool) -> RuleFinding:
    known = known_of(group, evidence, every_run=every_run)
    joined = group.kind == "transformation"
    estimated = not every_run and (known.sizes is not None or known.forms > 1 or joined)
    made, called_at = known.made, known.called_at
    location = group.location if made is None else location_like(group.location, made, evidence)
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.recompile",
            function=group.function,
            cause=group.kind,
            programs=len(group.compilations),
            every_run=int(every_run),
            reason=known.told.reason,
            made="" if made is None else made.made,
            given=int(group.eager),
            unknown=int(made is None and not group.eager),
            shapes=sum(each.cause.kind != group.kind for each in group.compilations),
            types=int(any(each.cause.kind not in (group.kind, "shape") for each in group.compilations)),
            objects=", ".join(known.objects.names) if group.kind == "new function" else "",
            earlier=group.earlier,
        ),
        line=location if called_at is None else called_at.location,
        source=source_of_location(location, evidence) if called_at is None else source_at(called_at),
        evidence=tuple(dict.fromkeys(_evidence(known, evidence))),
        cost_ns=cost_ns * avoidable_share(known, evidence) if estimated else cost_ns,
        basis="estimated" if estimated else "measured",
        per="run" if every_run else "first run",
        compiles=_compiles(known, evidence),
        remedy=remedy_of(known),
        code=code_of(known, evidence),
        applies_to=None if made is None else made.maker,
    )


def _evidence(known: Known, evidence: Evidence) -> Iterator[Note]:
    group = known.group
    changes = differing([each for each in group.compilations if each.cause.kind == group.kind])
    yield from _changes(changes) or _reason(known)
    yield from _changes(differing([each for each in group.compilations if each.cause.kind != group.kind]))
    yield from () if known.values is None else _changes([known.values])
    if group.kind == "static value" and not known.every_run and only_first_run(group, evidence):
        yield note("doctor.recompile_same_values")
    yield from _about(known, evidence)
    if known.loop is not None and known.loop.converts:
        yield note("doctor.unrolled_converts", dtype=known.loop.converts)
    if known.sizes is not None:
        yield from about_sizes(group, known.sizes, evidence)
    shapes = for_shapes(group)
    padding = None if shapes is None or not shapes.compilations else sizes_to_pad(shapes, evidence)
    if shapes is not None and padding is not None:
        yield from about_sizes(shapes, padding, evidence)
    if known.every_run:
        yield from _alive(group, evidence)


def _compiles(known: Known, evidence: Evidence) -> tuple[int, ...]:
    """Return the compilations of the first run that would not happen.

    One is needed if every run compiles again, and one for each other shape or static object of a re-created function,
    unless the remedy is to pass what differs in these objects as an array.
    """
    group = known.group
    if not known.every_run:
        return numbers_of(group.compilations, evidence)
    others, shapes = in_first_run(group, evidence)[1:], dict[object, Compilation]()
    if not known.serves_all_values:
        others = [each for each in others if not each.cause.new_objects or each.cause.remedy]
    for each in others if for_shapes(group) is not None else ():
        if each.cause.kind == "shape":
            shapes.setdefault((each.cause.argument, each.cause.now), each)
    return numbers_of([each for each in others if not any(each is one for one in shapes.values())], evidence)


def _changes(causes: Sequence[Cause]) -> tuple[Note, ...]:
    """Describe what differed, where its two values read differently: other elements of an array do not.

    Neither do two objects that only their addresses tell apart.
    """
    found = [
        note("doctor.recompile_difference", argument=each.argument, now=each.now or "", before=each.before or "")
        if each.argument
        else note("doctor.recompile_reason", reason=each.reason)
        for each in causes
        if not each.argument or _without_address(each.now) != _without_address(each.before)
    ]
    return tuple(dict.fromkeys(found))


def _without_address(value: str | None) -> str:
    return _ADDRESS.sub("", value or "")


def _reason(known: Known) -> tuple[Note, ...]:
    """Say which static argument differs where its values look the same, within a run and from run to run."""
    if known.group.kind != "static value":
        return ()
    within = known.within
    if within is None:
        return (note("doctor.recompile_reason", reason=known.told.reason),)
    return (
        note("doctor.recompile_within", reason=within.reason),
        note("doctor.recompile_between", reason=known.last.reason),
    )


def _alive(group: Group, evidence: Evidence) -> Iterator[Note]:
    """Say that the programs pile up."""
    kept = kept_alive(group, evidence)
    if kept is not None:
        yield note(
            "doctor.recompile_alive",
            function=group.function,
            programs=kept.programs,
            code_bytes=kept.code_bytes or 0,
        )


def _about(known: Known, evidence: Evidence) -> Iterator[Note]:
    if known.forms > 1:
        yield note("doctor.recompile_forms", argument=known.last.argument or "", forms=known.forms)
    at = known.objects.made
    if at is not None and (known.group.kind == "new function" or at.optimizer is not None):
        line = location_like(known.group.location, at, evidence) or ""
        source = source_of_location(line, evidence) or ""
        yield note("doctor.recompile_object_made", object=known.objects.names[0], line=line, source=source)
    if known.made is not None and known.made.captured:
        yield note("doctor.recompile_captured", names=", ".join(known.made.captured))
    if known.grows is not None:
        grows = known.grows
        yield note("doctor.recompile_grows", argument=grows.argument, axis=grows.axis, step=grows.step)


RULE = Rule(
    name="recompile",
    looks_for="functions that compile again and again",
    decides="Reports a function that compiles in every run after the first one, if that takes at least "
    f"{units.percent(LEAST_SHARE)} of the run. Also reports a function that compiles at least {_SEVERAL} times in "
    "the first run, not counting its first call, for a reason that can be avoided, if that takes at least "
    f"{_LEAST_FIRST_RUN_NS // 10**6} ms. For a new function object, {_TWO} times are enough. For another kind of "
    f"value or another placement, one compilation of at least {_LEAST_SINGLE_NS // 10**6} ms is enough, if the run "
    "has another program of the function. A function that the code itself jits and keeps, outside of loops, does not "
    "count if it compiles once in each run: a script that runs only once compiles it only once. "
    "Different shapes count if one axis varies, in one argument or in each of several, and padding to powers of two "
    "needs at most half as many programs. Sizes that vary independently may be padded to the largest sizes instead, "
    f"if these are at most {MOST_TIMES} times the smallest ones. Different shapes also count if an argument grows "
    "from call to call, because the function returns a longer one or the code around the call appends to it. "
    "Different static values count if the programs have the same operations and shapes. They also count if only the "
    "range of a loop depends on them, and a JAX loop could replace that loop. Programs for such values that the run "
    "uses, but that earlier measurements compiled, count as well. The code leaves a number out of the static "
    "arguments if the syntax shows that the function only computes with it and arrays, or only indexes arrays and "
    "begins slices of constant size with it. For a gradient outside jit, only the backward passes count: jitted as a "
    "whole, one program does the forward and the backward pass. "
    "Operations outside jit count if their shapes differ, or if a loop or a branch gets a new function each time. "
    "The cause is the one that %jaxtime reports.",
    source="https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching",
    look=look,
)
