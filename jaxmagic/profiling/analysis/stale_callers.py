"""Finds programs that an earlier call compiled: their callers in the trace are those of that call."""

from __future__ import annotations

from collections import Counter

from ...records.call_stack import Stack, is_users
from ..record.profile import Profile

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
        program = place.scope.partition("/")[0]
        name = program.removeprefix(_JIT).removesuffix(")")
        if program.startswith(_JIT) and name not in now and _has_callers(place.stack, name):
            time_ns[name] += place.time_ns
    return [name for name, _ in time_ns.most_common()]


def _has_callers(stack: Stack, name: str) -> bool:
    """Return whether a stack has the user's lines outside the function of this name."""
    named = (at for at in reversed(range(len(stack))) if stack[at].function.rpartition(".")[2] == name)
    return any(map(is_users, stack[: next(named, len(stack))]))
