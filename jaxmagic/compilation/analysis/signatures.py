"""Compare which arguments two calls pass by position, and which by keyword: JAX compiles for each way."""

from __future__ import annotations

from dataclasses import replace

from ..record.compilation import Cause
from ..record.events import Call
from .remedies import difference

_ONE_WAY = "pass each argument by position in every call, or by keyword in every call"


def signature_differences(now: Call, before: Call) -> list[Cause]:
    """List that two calls pass other arguments, or pass them in another way, as one cause."""
    if now.call_signature == before.call_signature:
        return []
    here, there = _in_words(now), _in_words(before)
    cause = difference("pytree", "the arguments are passed differently", None, here, there)
    return [replace(cause, remedy=_ONE_WAY) if _passed(now) == _passed(before) else cause]


def is_passed_otherwise(now: Call, before: Call) -> bool:
    """Return whether an argument is passed by position in one of two calls, and by keyword in the other."""
    (here, keywords), (there, other_keywords) = now.call_signature or (0, ()), before.call_signature or (0, ())
    return bool({*now.parameters[:here]} & {*other_keywords} or {*before.parameters[:there]} & {*keywords})


def _passed(call: Call) -> set[str]:
    """Return the parameters for which a call passes an argument."""
    by_position, by_keyword = call.call_signature or (0, ())
    return {*call.parameters[:by_position], *by_keyword}


def _in_words(call: Call) -> str:
    by_position, by_keyword = call.call_signature or (0, ())
    parts = [f"{by_position} by position"] if by_position or not by_keyword else []
    return ", ".join(parts + [f"{name}=…" for name in by_keyword])
