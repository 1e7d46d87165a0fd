"""Takes the callers of an earlier call off the stacks of programs that the earlier call compiled.

A compiled program keeps the call stack of its compilation. JAX reports this stack for later calls as well, also for
calls from elsewhere: the line of ``a @ b`` is that of the first product of these shapes in the session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from ...records.call_stack import Frame, Stack, is_users
from ...records.inside import inside, line_of
from ..record.profile import OperationTime, PlaceTime

_JIT = "jit("


class Callers(NamedTuple):
    """Places and operations without callers of earlier calls.

    Attributes:
        places: the places.
        operations: the operations, with the lines that are left.
        unknown: the programs that are left without a line, the one with most device time first.
    """

    places: tuple[PlaceTime, ...]
    operations: tuple[OperationTime, ...]
    unknown: tuple[str, ...]


def without_stale_callers(
    places: Collection[PlaceTime],
    operations: Collection[OperationTime],
    compiled: Collection[str],
    called: Callable[[Frame], bool],
) -> Callers:
    """Take the callers that belong to an earlier call off the stacks.

    What is left of a stack begins at a function that runs now: the function of the program, or one that the code
    calls. Without such a function, it is not known who called the program.

    Args:
        places: the places of a profile.
        operations: its operations.
        compiled: the functions that were compiled for it.
        called: whether the code calls the function of a frame.
    """
    stacks = {id(each): _calls_of_now(each, compiled, called) for each in places}
    changed = [each for each in places if stacks[id(each)] != each.stack]
    lost: Counter[str] = Counter()
    for each in changed:
        if not stacks[id(each)]:
            lost[_program(each)] += each.time_ns
    lines = {
        (each.scope, line.location, operation): stacks[id(each)]
        for each in changed
        for line in [line_of(each.stack)]
        if line is not None
        for operation in each.operations
    }
    return Callers(
        places=tuple(replace(each, stack=stacks[id(each)]) for each in places),
        operations=tuple(_at(each, lines.get((each.scope, each.source or "", each.name))) for each in operations),
        unknown=tuple(name for name, _ in lost.most_common()),
    )


def _at(operation: OperationTime, stack: Stack | None) -> OperationTime:
    if stack is None:
        return operation
    line = line_of(stack)
    return replace(operation, source=None if line is None else line.location, inside=inside(stack))


def _calls_of_now(place: PlaceTime, compiled: Collection[str], called: Callable[[Frame], bool]) -> Stack:
    name, stack = _program(place), place.stack
    if not name or name in compiled:
        return stack
    own = next((at for at in reversed(range(len(stack))) if _is(stack[at], name)), len(stack))
    if not any(map(is_users, stack[:own])):
        return stack
    return stack[next((at for at in range(own) if is_users(stack[at]) and called(stack[at])), own) :]


def _program(place: PlaceTime) -> str:
    """Return the name of the jitted function that a place belongs to; empty if it is not known."""
    program = place.scope.partition("/")[0]
    return program.removeprefix(_JIT).removesuffix(")") if program.startswith(_JIT) else ""


def _is(frame: Frame, name: str) -> bool:
    return frame.function.rpartition(".")[2] == name
