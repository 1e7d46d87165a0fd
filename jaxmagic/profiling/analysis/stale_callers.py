"""Programs of a profile that an earlier call had compiled: what is told of their callers is told of that call."""

from __future__ import annotations

from ...records.call_stack import Stack, is_users
from ..record.profile import Profile

_JIT = "jit("


def compiled_earlier(profile: Profile) -> list[str]:
    """The functions of which lines outside are those of an earlier call, what took longest first.

    A program keeps the calls that led to it when it was compiled: of what is called again, also by somebody else, JAX
    tells these.
    """
    if profile.runs is None:  # recorded elsewhere: nobody knows what compiled
        return []
    compilations = (*(profile.warm_up.compilations if profile.warm_up else ()), *profile.compilations)
    now = {each.function for each in compilations}
    time_ns: dict[str, int] = {}
    for place in profile.place_times:
        program = place.scope.partition("/")[0]
        name = program.removeprefix(_JIT).removesuffix(")")
        if program.startswith(_JIT) and name not in now and _has_callers(place.stack, name):
            time_ns[name] = time_ns.get(name, 0) + place.time_ns
    return sorted(time_ns, key=lambda each: -time_ns[each])


def _has_callers(stack: Stack, name: str) -> bool:
    """Tell whether lines of the user are told from outside of a function."""
    named = (at for at in reversed(range(len(stack))) if stack[at].function.rpartition(".")[2] == name)
    return any(map(is_users, stack[: next(named, len(stack))]))
