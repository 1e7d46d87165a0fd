"""Finds programs that an earlier call compiled: their callers in the trace are those of that call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from ...records.call_stack import Frame, Stack, is_users
from ..record.profile import PlaceTime, Profile

_JIT = "jit("


def compiled_earlier(profile: Profile) -> list[str]:
    """Return the functions whose callers are those of an earlier call, the one with most device time first.

    A compiled program keeps the call stack of its compilation. JAX reports this stack for later calls as well, also
    for calls from elsewhere.
    """
    if profile.runs is None:  # recorded elsewhere: it is not known what compiled
        return []
    compilations = (*(profile.warm_up.compilations if profile.warm_up else ()), *profile.compilations)
    now = {each.function for each in compilations}
    time_ns: Counter[str] = Counter()
    for place in profile.place_times:
        name = _program(place)
        if name and name not in now and _has_callers(place.stack, name):
            time_ns[name] += place.time_ns
    return [name for name, _ in time_ns.most_common()]


def calls_of_now(place: PlaceTime, earlier: Collection[str]) -> Stack:
    """Return the calls of a place without the callers of an earlier call, which did not call it this time.

    Args:
        place: the place.
        earlier: the functions that earlier calls compiled, as :func:`compiled_earlier` returns them.
    """
    name, stack = _program(place), place.stack
    if not name or name not in earlier:
        return stack
    return stack[next((at for at, frame in enumerate(stack) if _is(frame, name)), 0) :]


def _program(place: PlaceTime) -> str:
    """Return the name of the jitted function that a place belongs to; empty if it is not known."""
    program = place.scope.partition("/")[0]
    return program.removeprefix(_JIT).removesuffix(")") if program.startswith(_JIT) else ""


def _is(frame: Frame, name: str) -> bool:
    return frame.function.rpartition(".")[2] == name


def _has_callers(stack: Stack, name: str) -> bool:
    """Return whether a stack has the user's lines outside the function of this name."""
    named = (at for at in reversed(range(len(stack))) if _is(stack[at], name))
    return any(map(is_users, stack[: next(named, len(stack))]))
