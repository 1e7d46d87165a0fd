"""Stages and causes of compilations, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import units
from ..records.names import listed
from ..terminal import printable
from .analysis.grouping import total_ns
from .analysis.remedies import ALSO
from .record.compilation import STAGES, Cause, Compilation

#: The causes of eager operations that had compiled before, or that move data, in a few words.
_EAGER = {
    "shape": "for a different shape",
    "dtype": "for a different dtype",
    "weak type": "for a different kind of value",
    "static value": "for different parameters",
    "placement": "for a different placement",
    "context": "under a different configuration",
    "new function": "for a re-created function",
    "transfer": "to create or move arrays",
}

#: A float as Python writes it without an exponent, with at most six digits before the point.
_FLOAT = re.compile(r"-?\d{1,6}\.\d+")

#: As many digits of a float are shown, if it differs from the other one in these.
_DIGITS = 6


def lines_before_0_10() -> str:
    """Word which source lines are unreliable before JAX 0.10."""
    return (
        "Before JAX 0.10, operations within a nested jitted function, such as jnp.sort, may have the line of an "
        "earlier call with the same shapes, perhaps in another program. The body of a vmapped while_loop has the "
        "line of its call."
    )


def stages(compilation: Compilation) -> list[tuple[str, int]]:
    """Return the short name and duration of each stage that took time."""
    named = [(label, getattr(compilation, field)) for label, field in STAGES]
    return [(label, time_ns) for label, time_ns in named if time_ns]


def reason(compilation: Compilation, digits: int) -> str:
    """Explain why a function was compiled, by which line, and whether the persistent cache had it."""
    text = printable(_reason(compilation.cause))
    if compilation.called_at is not None:
        text += f"; called at {printable(compilation.called_at)}"
    if not compilation.compiled:
        text += f"; {'traced' if compilation.last_stage == 'tracing' else 'lowered'} only, not compiled"
    if compilation.cache == "hit":
        saved = compilation.saved_ns
        text += "; from the persistent cache"
        if saved is not None and saved > 0:
            text += f", which saved {units.time(saved, digits)}"
    elif compilation.cache == "miss":
        text += "; not in the persistent cache"
    return text


def _reason(cause: Cause) -> str:
    """Return the reason of a cause, in which long floats have six digits if the values differ in these."""
    now, before = cause.now or "", cause.before or ""
    short, other = map(_six_digits, (now, before))
    if short == other:
        return cause.reason
    return cause.reason.replace(f": {now} now, {before} ", f": {short} now, {other} ")


def _six_digits(value: str) -> str:
    """Return a float with at most six digits; any other value as it is.

    >>> _six_digits("0.13333333333333336"), _six_digits("2.0"), _six_digits("f32[3]")
    ('0.133333', '2.0', 'f32[3]')
    """
    digits = value.replace(".", "").strip("-0")
    return f"{float(value):.{_DIGITS}g}" if _FLOAT.fullmatch(value) and len(digits) > _DIGITS else value


def remedies(compilations: Sequence[Compilation]) -> list[str]:
    """Return the remedy beside each compilation: once for all of a function that have it for the same argument.

    Of several remedies, those that have not been told are; all but the first are for other arguments.
    """
    told: set[tuple[str, str | None, str | None, str]] = set()
    shown = []
    for each in compilations:
        first, *others = (each.cause.remedy or "").split(ALSO)
        parts = [(each.cause.argument, first), *((None, other) for other in others)]
        keys = [(each.function, each.location, *part) for part in parts]
        new = [number for number, key in enumerate(keys) if key not in told]
        text = ALSO.join(parts[number][1] for number in new)
        shown.append(f"also {text}" if text and new[0] else text)
        told.update(keys)
    return shown


def about_eager(operations: Sequence[Compilation], digits: int) -> list[str]:
    """Describe eager operations, in one sentence for all that share a kind of cause and a remedy."""
    groups: dict[tuple[str, str | None, bool], list[Compilation]] = {}
    for each in operations:
        about = each.cause.reason if each.cause.kind == "while tracing" else _EAGER.get(each.cause.kind, "")
        groups.setdefault((about, each.cause.remedy, each.compiled), []).append(each)
    sentences = []
    for (about, remedy, compiled), group in groups.items():
        total = units.time(total_ns(group), digits)
        about = printable(about.replace("run while", "while"))
        verb = "compiled" if compiled else "traced only"
        head = f"{units.count(len(group), 'eager operation')} {verb}{f' {about}' if about else ''}, {total} "
        advice = "" if remedy is None else f": {remedy}"
        sentences.append(f"{head}({_operations(group)}){advice}.")
    return sentences


def _operations(group: Sequence[Compilation]) -> str:
    """Return the names of the operations; for a single one, also the cause."""
    names = list(dict.fromkeys(printable(each.function) for each in group))
    if len(group) == 1 and group[0].cause.kind not in ("eager", "while tracing"):
        return f"{names[0]}: {printable(_reason(group[0].cause))}"
    return listed(names, 4)
