"""Restores calls between a program and an operation that JAX has not recorded.

Where a transformation evaluates a function separately, as JAX does for ``equinox.filter_checkpoint``, the stack has
the calls that led to the program, followed at once by the calls within that function. The operation would be
attributed to the line that called the program. The missing calls are taken from other operations in the same
function, if these agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from ...records.call_stack import Frame, Stack, owner


def with_lost_calls(stacks: Iterable[Stack], calls: Stack, is_program: Callable[[Frame], bool]) -> dict[Stack, Stack]:
    """Return the stacks with missing calls, each with a completed stack.

    Args:
        stacks: the stacks of all operations of a program.
        calls: the calls that led to the program.
        is_program: returns whether a frame is the program's own function.

    >>> def stack(names):
    ...     return tuple(Frame(function=name, file="a.py", line=1) for name in names)
    >>> stacks = map(stack, ["mpab", "mac", "mxd"])
    >>> found = with_lost_calls(stacks, stack("m"), lambda frame: frame.function == "p")
    >>> {"".join(each.function for each in key): "".join(each.function for each in value)
    ...     for key, value in found.items()}
    {'mac': 'mpac', 'mxd': 'xd'}
    """
    whole: list[Stack] = []
    lost: list[Stack] = []
    for stack in dict.fromkeys(stacks):
        (whole if any(map(is_program, stack)) else lost).append(stack)
    behind = {stack: stack[_common(stack, calls) :] for stack in lost}
    heads: dict[Frame, dict[Stack, None]] = defaultdict(dict)
    wanted = {rest[0] for rest in behind.values() if rest}
    for stack in whole:
        for at, frame in enumerate(stack):
            if frame in wanted:
                heads[frame][stack[:at]] = None
    return {stack: _head(heads[rest[0]]) + rest for stack, rest in behind.items() if rest}


def _common(stack: Stack, calls: Stack) -> int:
    """Return the length of the common prefix."""
    return next((at for at, (one, other) in enumerate(zip(stack, calls, strict=False)) if one != other), len(calls))


def _head(heads: Iterable[Stack]) -> Stack:
    """Return the first of the candidate heads if all come from one line of the user's; nothing otherwise."""
    candidates = list(heads)
    return candidates[0] if len(set(map(owner, candidates))) == 1 else ()
