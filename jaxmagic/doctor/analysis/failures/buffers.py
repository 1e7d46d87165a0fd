"""Explains leaked traced values, and arrays that were donated or deleted."""

from __future__ import annotations

import ast

from ....records.call_stack import Frame, is_users
from ....records.cell_names import place_known_as
from ....records.note import Note, note
from ...record.failing_code import Kept, Traced
from ...record.failure import Failure
from ...record.finding import RuleFinding
from ..written_paths import is_within
from .expression import before_dot, spelled
from .origin import error_finding, place
from .wrong_arguments.operands import fact

#: At most this many names are listed.
_MOST = 3


def _is_users(traced: Traced) -> bool:
    """Return whether JAX names the user's function, rather than that of a library such as Equinox around it."""
    return is_users(Frame(function=traced.function, file=traced.file, line=traced.line))


def explain_leak(failure: Failure) -> RuleFinding:
    """Explain ``UnexpectedTracerError``: which function made the value, and which of its lines may have kept it."""
    traced = failure.traced
    names = [each.name for each in failure.values if traced is None or _made_by(failure, each.name)]
    checked, holder = "checked" in dict(failure.said), fact(failure, "holder")
    function = "" if traced is None else traced.function
    evidence: list[Note] = []
    made_at = "" if traced is None or not _is_users(traced) else place(traced)
    known = failure.detail is not None and not names[1:]  # JAX says it of one value, and not of which
    computed = place_known_as(failure.detail) if known and failure.detail is not None else None
    if computed is not None and function:
        evidence.append(note("doctor.error_created", location=computed))
    stored = [each for each in failure.escapes if each.name]
    likely = [each for each in stored if any(is_within(name, each.name) for name in names)]
    if checked:  # the holder may be anything that leads to the variable, such as the shell
        likely = [each for each in stored if holder and is_within(each.name, holder)]
    if likely:
        evidence += [note("doctor.error_escaped", location=each.location, code=each.text) for each in likely[:3]]
    elif failure.escapes:
        evidence += [
            note("doctor.error_may_escape", location=each.location, code=each.text) for each in failure.escapes[:5]
        ]
    elif fact(failure, "linen"):
        evidence.append(note("doctor.error_made_by_linen"))
    elif not checked:
        evidence.append(note("doctor.error_escape_unknown"))
    caches = [each for each in failure.escapes if each.text.startswith("@")]
    candidates = [each for each in likely or stored if computed in (each.location, None)] or likely or stored
    read = ", ".join(dict.fromkeys(each.read for each in candidates if each.read))
    filled = ", ".join(dict.fromkeys(each.name for each in candidates)) if all(c.fills for c in candidates) else ""
    remedy = note("doctor.write_returned", function=function, debug=f"{spelled(failure, 'jax')}.debug.print")
    if read:
        remedy = note("doctor.write_passed_on", read=read, loop=_loop(traced))
    elif filled:
        remedy = note("doctor.write_filled_before", cache=filled, function=function)
    if fact(failure, "linen") and not failure.escapes:
        remedy = note("doctor.write_linen_before", function=function)
    if caches and not likely:
        remedy = note("doctor.write_uncached", cache=caches[0].text)
    return error_finding(
        failure,
        found=note(
            "doctor.error_leak",
            name=", ".join(names[:_MOST]),
            type=failure.type or "",
            function=function,
            location=(computed or "") if traced is None else made_at,
            transform="" if traced is None else traced.transform,
        )
        if not checked
        else note(
            "doctor.error_leak_checked",
            function=function,
            location=made_at or computed or "",
            holder=holder if likely else "",
        ),
        evidence=evidence,
        remedy=remedy,
    )


def _loop(traced: Traced | None) -> str:
    """Return the loop whose step JAX traced; empty for other code."""
    found = "" if traced is None else traced.transform.partition("_")[0]
    return found if found in ("scan", "while", "fori") else ""


def _made_by(failure: Failure, name: str) -> bool:
    """Return whether a name holds a value that the function of the leak made."""
    origin = next(each.origin for each in failure.values if each.name == name)
    traced = failure.traced
    return origin is not None and traced is not None and (origin.file, origin.line) == (traced.file, traced.line)


def explain_deleted(failure: Failure) -> RuleFinding:
    """Explain the use of an array that was donated or deleted."""
    evidence = [_suspect(failure, call) for call in failure.donated_by]
    if not evidence:
        evidence = [note("doctor.error_donor_unknown")]
    name, called = _donated(failure)
    if failure.kept is not None:
        evidence.append(_kept(failure.kept))
    jnp = spelled(failure, "jax.numpy")
    array = name in _deleted(failure)
    copied = f"{before_dot(name)}.copy()" if array else f"{spelled(failure, 'jax')}.tree.map({jnp}.copy, {name})"
    return error_finding(
        failure,
        found=note("doctor.error_deleted", names=failure.detail or ""),
        evidence=evidence,
        remedy=_copied_where_kept(failure, failure.kept)
        if failure.kept is not None
        else note("doctor.write_later_deleted", name=name, copied=copied if name else "")
        if failure.donated_by and all(map(_is_deletion, failure.donated_by))
        else note(
            "doctor.write_reassigned",
            name=name,
            called=called,
            copied=copied if name else "",
            unknown=not failure.donated_by,
        ),
    )


def _kept(kept: Kept) -> Note:
    return note("doctor.error_kept", statement=kept.statement, location=kept.location, name=kept.name)


def _copied_where_kept(failure: Failure, kept: Kept) -> Note:
    """Return the advice to keep a copy in place of the array that is donated later."""
    jnp = spelled(failure, "jax.numpy")
    copied = (
        f"{jnp}.copy({kept.name})"
        if kept.is_array
        else f"{spelled(failure, 'jax')}.tree.map({jnp}.copy, {kept.name})"
    )
    return note("doctor.write_kept_copy", location=kept.location, name=kept.name, copied=copied)


def _suspect(failure: Failure, call: str) -> Note:
    """Return a note on a call that may have deleted the array."""
    several = len(failure.donated_by) > 1
    if failure.donated_before:
        return note("doctor.error_donor_before", call=call, same_line=call.endswith(f" ({failure.line})"))
    if _is_deletion(call):
        return note("doctor.error_deleter", call=call, several=several)
    return note("doctor.error_donor", call=call, several=several)


def _is_deletion(call: str) -> bool:
    """Return whether a call, with its line behind it, is ``x.delete()``."""
    return call.rpartition(" (")[0].endswith(".delete()")


def _deleted(failure: Failure) -> list[str]:
    """Return the names of the arrays that were deleted, those in the function of the donating call first."""
    return [*failure.donated_names, *(each for each in (failure.detail or "").split(", ") if each)]


def _donated(failure: Failure) -> tuple[str, str]:
    """Return what was passed to the donating call, and this call; the array itself if the call is unknown."""
    names = _deleted(failure)
    for each in failure.donated_by if len(failure.donated_by) == 1 else ():
        text = each.rpartition(" (")[0]
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.Call):
            given = [ast.unparse(part) for part in (*node.args, *(pair.value for pair in node.keywords))]
            passed = [part for part in given if any(is_within(name, part) for name in names)]
            if passed:
                return passed[0], text
    return (names[0] if names else ""), ""
