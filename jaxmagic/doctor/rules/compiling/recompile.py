"""Finds functions that compile again: in every run, or several times in one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .... import units
from ....compilation.record.compilation import Cause
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ..rewriting.changing_values import Kept
from ..rewriting.hoisting import Made
from ..rewriting.jit_obstacles import sized_by_values
from ..rewriting.syntax import source_of_location
from ..rule import LEAST_SHARE, Rule, is_worth_it, source_at
from .compile_claims import numbers_of
from .every_run import always_compiled, compiled_in_every_run, kept_alive
from .growth import Growth, growth
from .made_anew import changed_for_effect, kept_if_made_once, location_like, made_anew
from .one_type import one_type
from .operations import Operation, operations_joined, varying_sizes
from .padding import MOST_TIMES, Padding, about_sizes, padding_code, sizes_to_pad
from .recompilations import (
    Group,
    counts,
    forms_of,
    function_of,
    grouped,
    is_librarys,
    library_called,
    only_argument,
    only_numbers_differ,
    programs_of,
    settings_of,
)
from .static_loop import counted_loop

#: Several programs of one function in the first run are worth a finding if they took this long.
_LEAST_FIRST_RUN_NS = 50_000_000

#: Fewer further programs of one function are no finding.
_SEVERAL = 3

#: The same for :data:`_CERTAIN` causes.
_TWO = 2

#: A single program that could have been avoided is worth a finding if it took this long.
_LEAST_SINGLE_NS = 500_000_000

#: Causes that are avoided by how a function is called, whatever its values: one program is one too many.
_SINGLE = ("weak type", "placement")

#: Causes without which one program does for all calls.
_CERTAIN = (*_SINGLE, "new function")

#: Causes in the first run that are by design, or that no call of the user's own can avoid.
_BY_DESIGN = ("first call", "ahead of time", "while tracing", "unknown", "dtype", "eager", "transfer")


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find what every later run compiled again, and what the first run compiled several times."""
    yield from operations_joined(list(_found(evidence)))


def _found(evidence: Evidence) -> Iterator[Operation]:
    for group, cost_ns in compiled_in_every_run(evidence):
        if is_worth_it(cost_ns, evidence):
            yield operation_of(group, evidence, float(cost_ns), every_run=True)
    always = always_compiled(evidence)
    once = [each for each in evidence.first.compilations if counts(each)]
    for group in grouped([each for each in once if function_of(each) not in always]):
        if group.kind in _BY_DESIGN or not _is_avoidable(group, evidence):
            continue
        single = group.kind in _SINGLE and group.cost_ns >= _LEAST_SINGLE_NS
        least = _TWO if group.kind in _CERTAIN else _SEVERAL
        several = len(group.compilations) >= least and group.cost_ns >= _LEAST_FIRST_RUN_NS
        if single or several:
            yield operation_of(group, evidence, float(group.cost_ns), every_run=False)


def operation_of(group: Group, evidence: Evidence, cost_ns: float, *, every_run: bool) -> Operation:
    """Return the finding about a function that compiles again, which takes so much time."""
    lines = [each.called_at for each in programs_of(group, evidence) if each.called_at is not None]
    return Operation(_finding(group, evidence, cost_ns, every_run=every_run), lines, varying_sizes(group))


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
        several = forms_of(group, evidence) <= 1 or _repeating(group, evidence) >= _SEVERAL
        return several and all(each.cause.remedy or only_numbers_differ(each.cause) for each in group.compilations)
    if group.kind == "new function" and (
        kept_if_made_once(group, evidence).names or changed_for_effect(group, evidence)
    ):
        return True
    return all(each.cause.remedy for each in group.compilations)


def _repeating(group: Group, evidence: Evidence) -> int:
    """Return how many programs repeat the operations and shapes of another, as far as is known."""
    return len(programs_of(group, evidence)) - forms_of(group, evidence)


def _called_at(group: Group, evidence: Evidence) -> Frame | None:
    """Return the only line of the user's that runs the programs of a function; ``None`` if that is not known."""
    lines = {each.called_at for each in programs_of(group, evidence)}
    return lines.pop() if len(lines) == 1 else None


def _finding(group: Group, evidence: Evidence, cost_ns: float, *, every_run: bool) -> RuleFinding:
    last = group.compilations[-1].cause
    values = _values_of_first(group, evidence) if every_run else None
    anew = group.kind == "new function" or (group.kind == "transformation" and every_run)
    made = made_anew(group, evidence) if anew else None
    kept = kept_if_made_once(group, evidence) if anew else Kept()
    effects = changed_for_effect(group, evidence) if anew else []
    if made is not None and not effects and (kept.names or _changes([each.cause for each in group.compilations])):
        made = made._replace(code=None)  # made once, it would keep the first value
    is_shape = group.kind == "shape" and not group.eager
    grows = growth(group, evidence) if is_shape else None
    sizes = sizes_to_pad(group, evidence) if is_shape and grows is None else None
    if sizes is not None and not every_run:  # the programs for these sizes compile all the same
        cost_ns *= min((sizes.seen - sizes.needed) / len(group.compilations), 1)
    number = one_type(group, evidence) if group.kind == "weak type" else None
    loop = counted_loop(group, evidence) if group.kind == "static value" else None
    forms = forms_of(group, evidence) if group.kind == "static value" and not every_run and loop is None else 0
    if forms > 1:  # a program for each of them compiles all the same
        cost_ns *= min(_repeating(group, evidence) / len(group.compilations), 1)
    location = group.location if made is None else location_like(group.location, made, evidence)
    called_at = _called_at(group, evidence) if location is None or is_librarys(group) else None
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.recompile",
            function=group.function,
            cause=group.kind,
            programs=len(group.compilations),
            every_run=int(every_run),
            reason=last.reason,
            made="" if made is None else made.made,
            given=int(group.eager),
        ),
        line=location if called_at is None else called_at.location,
        source=source_of_location(location, evidence) if called_at is None else source_at(called_at),
        evidence=(
            *(
                _changes([each.cause for each in group.compilations if each.cause.kind == group.kind])
                or _reason(group)
            ),
            *_changes([] if values is None else [values]),
            *_about(made, grows, last.argument, forms),
            *(() if sizes is None else about_sizes(group, sizes, evidence)),
            *(_alive(group, evidence) if every_run else ()),
        ),
        cost_ns=cost_ns,
        basis="estimated" if (sizes is not None or forms > 1) and not every_run else "measured",
        per="run" if every_run else "first run",
        compiles=_compiles(group, evidence, every_run=every_run),
        remedy=_remedy_of_eager(called_at)
        if group.eager and group.kind == "shape"
        else note("doctor.recompile_counted", argument=last.argument or "")
        if loop is not None
        else note("doctor.recompile_one_type", converted=number.converted, same=int(number.same_dtypes))
        if number is not None
        else note("doctor.recompile_kept", names=", ".join(kept.names), random=int(kept.random))
        if {*kept.names} - {*(() if made is None else made.captured)}
        else note("doctor.recompile_effects", names=", ".join(effects))
        if effects
        else _remedy(group, made, grows, sizes, library_called(group, evidence), values, every_run=every_run),
        code=made.code
        if made is not None
        else number.code
        if number is not None
        else loop
        if sizes is None
        else padding_code(group, sizes, evidence),
        applies_to=None if made is None else made.maker,
    )


def _remedy_of_eager(line: Frame | None) -> Note:
    """Advise one size for operations outside of jit, as the line that calls them needs it."""
    obstacle = None if line is None else sized_by_values(line)
    if obstacle is None:
        return note("doctor.recompile_one_size")
    return note("doctor.recompile_by_values", text=obstacle.text, argument=obstacle.argument)


def _compiles(group: Group, evidence: Evidence, *, every_run: bool) -> tuple[int, ...]:
    """Return the compilations of the first run that would not happen: one is needed if every run compiles again."""
    if not every_run:
        return numbers_of(group.compilations, evidence)
    same = (each for each in evidence.first.compilations if counts(each) and function_of(each) == group.same_function)
    return numbers_of(list(same)[1:], evidence)


def _values_of_first(group: Group, evidence: Evidence) -> Cause | None:
    """Return what differed around a new function in the first run; a later run compiles for the same values again."""
    if group.kind != "new function":
        return None
    own = [
        each.cause
        for each in evidence.first.compilations
        if counts(each) and function_of(each) == group.same_function
    ]
    return next((each for each in reversed(own) if each.kind == group.kind and each.argument and each.remedy), None)


def _changes(causes: Sequence[Cause]) -> tuple[Note, ...]:
    """Describe the last differences."""
    found = [
        note("doctor.recompile_difference", argument=each.argument, now=each.now, before=each.before)
        if each.argument
        else note("doctor.recompile_reason", reason=each.reason)
        for each in causes[-3:]
        if each.now and each.before and each.now != each.before
    ]
    return tuple(dict.fromkeys(found))


def _reason(group: Group) -> tuple[Note, ...]:
    """Say which static argument differs where its values look the same."""
    if group.kind != "static value":
        return ()
    return (note("doctor.recompile_reason", reason=group.compilations[-1].cause.reason),)


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


def _about(made: Made | None, grows: Growth | None, argument: str | None, forms: int) -> Iterator[Note]:
    if forms > 1:
        yield note("doctor.recompile_forms", argument=argument or "", forms=forms)
    if made is not None and made.captured:
        yield note("doctor.recompile_captured", names=", ".join(made.captured))
    if grows is not None:
        yield note("doctor.recompile_grows", argument=grows.argument, axis=grows.axis, step=grows.step)


def _remedy(
    group: Group,
    made: Made | None,
    grows: Growth | None,
    sizes: Padding | None,
    library: str | None,
    values: Cause | None,
    *,
    every_run: bool,
) -> Note | None:
    last = group.compilations[-1].cause
    remedy = (values or last).remedy
    if grows is not None:
        inside = group.function if grows.returned else ""
        return note("doctor.recompile_preallocate", argument=grows.argument, function=inside)
    if sizes is not None:
        return note("doctor.recompile_pad", integers=", ".join(sizes.integers))
    if made is not None and made.captured and made.passable and remedy is not None:
        return note("doctor.recompile_pass", names=", ".join(made.captured))
    if made is not None and group.kind == "transformation":
        return note("doctor.recompile_once")
    if remedy is None and group.kind == "static value" and only_numbers_differ(last):
        return note("doctor.recompile_numbers", argument=last.argument or "")
    if remedy is None and group.kind == "static value" and every_run and last.argument and last.now is None:
        return note("doctor.recompile_own_equality", argument=last.argument)
    if library is not None:
        return note("doctor.recompile_in_library", library=library)
    if made is not None and made.captured and remedy is not None and not (values or last).argument:
        return note("doctor.recompile_each", names=", ".join(made.captured))
    if group.kind == "pytree" and (argument := only_argument(group)) is not None:
        return note("doctor.recompile_structure", argument=argument)
    if group.kind == "context" and (settings := settings_of(group)):
        return note("doctor.recompile_settings", settings=", ".join(settings))
    return None if remedy is None else note("doctor.recompile_remedy", remedy=remedy)


RULE = Rule(
    name="recompile",
    looks_for="functions that compile again and again",
    decides="Reports a function that compiles in every run after the first one, if that takes at least "
    f"{units.percent(LEAST_SHARE)} of the run. Also reports one that compiles at least {_SEVERAL} times in the first "
    "run, not counting its first call, for a reason that can be avoided, if that takes at least "
    f"{_LEAST_FIRST_RUN_NS // 10**6} ms. For a new function, {_TWO} times are enough; for another kind of number, or "
    f"a placement, also one of at least {_LEAST_SINGLE_NS // 10**6} ms. What the code itself jits and keeps, outside "
    "of loops, does not count if it compiles once in each run: code that runs only once compiles it only once. "
    "Different shapes count if one axis varies, of one argument or of each of several, and padding to powers of two "
    "needs at most half as many programs. Sizes that vary on their own may be padded to the largest ones instead, if "
    f"these are at most {MOST_TIMES} times the smallest ones. Different shapes also count if an argument "
    "grows from call to call, because the function returns it longer or the code around the call appends to it. "
    "Different static values count if programs have the same operations and shapes, or if only the range of a loop "
    "needs them that a loop of JAX could replace. Operations outside of jit count for shapes, and for new functions "
    "that a loop or a branch gets each time. The cause is the one that %jaxtime reports.",
    source="https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching",
    look=look,
)
