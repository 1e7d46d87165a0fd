"""Makes the finding for an error, with how a traced value came to its line, and how to go on without jit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ....records.call_stack import Frame, is_users
from ....records.cell_names import known_as
from ....records.note import Note, note
from ...record.failing_code import Traced
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .expression import expression_of
from .known_values.vmapped_arguments import vmapped_arguments

#: The kinds of errors that often stop a first try with jit.
FIRST_TRIES = "bool", "number", "index", "shape", "static"

#: The kinds of errors that are about one traced value.
OF_TRACED = "bool", "number", "index", "shape", "numpy", "mask", "format"

#: The kinds of errors in an operation that JAX derived from one on a line that it names.
OF_TRANSFORMED = "nan", "cotangents", "cotangent type", "loop gradient"

#: A longer call is not shown: nobody pastes it.
_LONGEST = 1000


def error_finding(
    failure: Failure, *, found: Note, remedy: Note | None, code: str | None = None, evidence: Iterable[Note] = ()
) -> RuleFinding:
    """Make the finding for an error, with where its values come from after its own evidence."""
    return RuleFinding(
        rule="error",
        found=found,
        line=failure.line,
        source=failure.source,
        evidence=(*evidence, *evidence_of(failure)),
        remedy=remedy,
        code=code,
    )


def evidence_of(failure: Failure) -> tuple[Note, ...]:
    """Return notes on the traced function and its arguments, the calls in between, and the call without jit."""
    notes = []
    if failure.behind is not None:
        notes.append(note("doctor.error_behind", error=failure.error, behind=failure.behind))
    if failure.library is not None:
        library = failure.library
        where = f"{known_as(library.file)}:{library.line}"
        notes.append(note("doctor.error_in_library", function=library.function, location=where))
    outdated = dict(failure.said).get("outdated")
    if outdated:
        notes.append(note("doctor.error_outdated", file=outdated))
    elif failure.source is None and failure.stack:  # code from a string, as of exec() and %timeit
        outer = next((each for each in reversed(failure.stack) if each.file != failure.stack[-1].file), None)
        if outer is not None:
            notes.append(note("doctor.error_run_by", file=failure.stack[-1].file, location=outer.location))
    said = dict(failure.said)
    if failure.kind in OF_TRANSFORMED and said.get("location", failure.line) != failure.line:
        location, code = said["location"], said["code"]
        notes.append(
            note("doctor.error_loop_at", location=location, code=code)
            if failure.kind == "loop gradient"
            else note("doctor.error_transformed", location=location, code=code)
        )
    if failure.kind in (*OF_TRACED, "scalar index", "repeated", "truncated"):  # or about a value that is not traced
        notes += _origin(failure)
    if failure.call is not None and failure.call.left and failure.kind in FIRST_TRIES and failure.nested is False:
        names, function = ", ".join(failure.call.left), failure.call.function
        notes.append(note("doctor.error_left", names=names, function=function))
    unjitted = fallback(failure)
    if unjitted is not None and len(unjitted) <= _LONGEST and failure.call is not None:
        notes.append(note("doctor.error_fallback", function=failure.call.function, code=unjitted))
    return tuple(notes)


def _origin(failure: Failure) -> list[Note]:
    traced = failure.traced
    if traced is None:
        return [_vmapped(failure)] if failure.vmapped else []
    if not is_users(Frame(function=traced.function, file=traced.file, line=traced.line)):
        return []  # a library's function, whose arguments have names that the user did not write
    notes = []
    function, location, transform = traced.function, place(traced), traced.transform
    if traced.arguments:
        notes.append(
            note(
                "doctor.error_depends",
                arguments=", ".join(traced.arguments),
                function=function,
                location=location,
                transform=transform,
            )
        )
        only = traced.arguments[0] if len(traced.arguments) == 1 else ""
        if traced.transform.startswith("checkpoint") and failure.kind in FIRST_TRIES and only.isidentifier():
            notes.append(note("doctor.error_checkpoint", argument=only, function=traced.function))
    elif traced.unnamed:
        notes.append(note("doctor.error_unnamed_argument", function=function, location=location, transform=transform))
    else:
        notes.append(note("doctor.error_no_argument", function=function, location=location, transform=transform))
        notes += _closed_over(failure, traced)
    calls = _calls(failure, traced)
    if calls:
        notes.append(note("doctor.error_through", calls=calls))
    for handed in failure.handed:
        arguments = ", ".join(handed.origin.arguments)
        notes.append(
            note(
                "doctor.error_handed",
                parameter=handed.parameter,
                text=handed.text,
                location=handed.location,
                function=handed.origin.function,
                arguments=arguments,
            )
        )
    return notes


def _vmapped(failure: Failure) -> Note:
    """Return a note on the values that ``jax.vmap`` traces, of which JAX says neither function nor argument."""
    names = vmapped_arguments(failure, expression_of(failure))
    roots = {re.split(r"[.\[]", each)[0] for each in names}
    functions = [each.function for each in failure.stack if not each.function.endswith(("comp>", "<genexpr>"))]
    own = bool(names and functions) and roots.issubset(failure.parameters)
    return note("doctor.error_vmapped", names=", ".join(names), function=functions[-1] if own else "")


def _closed_over(failure: Failure, traced: Traced) -> list[Note]:
    """Return notes on variables of the failing line that other traced functions made."""
    return [
        note(
            "doctor.error_closed_over",
            name=each.name,
            type=each.type,
            function=each.origin.function,
            location=place(each.origin),
            arguments=", ".join(each.origin.arguments),
        )
        for each in failure.values
        if each.origin is not None and each.origin.arguments and each.origin.line != traced.line
    ]


def _calls(failure: Failure, traced: Traced) -> str:
    """Return the user's calls from the traced function to the failing line; empty if there are none in between."""
    codes = [(each.function, each.file) for each in failure.stack]
    if (traced.function, traced.file) not in codes:
        return ""
    begun = len(codes) - 1 - codes[::-1].index((traced.function, traced.file))
    calls = failure.stack[begun:]
    return " → ".join(map(_call, calls)) if len(calls) > 1 else ""


def _call(frame: Frame) -> str:
    return f"{frame.function} ({frame.location})"


def place(traced: Traced) -> str:
    """Return where a function is defined, such as ``"cell 3:1"``."""
    return f"{known_as(traced.file)}:{traced.line}"


def fallback(failure: Failure, kinds: Collection[str] = FIRST_TRIES) -> str | None:
    """Return the call of the jitted function without jit; ``None`` if that would not run, or if it is unknown.

    Args:
        failure: the error.
        kinds: the kinds of errors for which to return it.

    Without jit, a condition or a conversion works on one number. It works in no loop of JAX, which traces its
    function anyway, and in no function that another traced function calls. It does not work where the failed call has
    left traced values in an object that the function uses.
    """
    call = failure.call
    if call is None or failure.kind not in kinds or call.left:
        return None
    if failure.kind == "static":
        return call.unjitted
    if failure.traced is None or failure.traced.transform != "jit" or failure.nested is not False:
        return None
    if failure.vmapped or (failure.kind == "bool" and not (failure.type or "").endswith("[]")):
        return None
    return call.unjitted
