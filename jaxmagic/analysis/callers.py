"""Corrects the calls of instructions that JAX traced for another caller, earlier, and has kept since.

JAX traces and lowers a function that is jitted itself, such as the one in :func:`jax.random.split`, once for all
callers with the same shapes. Its instructions then carry the calls of the first caller, which may belong to a program
that does not run at all:

- JAX 0.10 and newer put the calls of the caller that runs in front, and begin anew with the first one behind them.
  The body of a loop begins anew as well, but with the function that is jitted: so the first caller is known by calls
  that are repeated and belong to no jitted function, or by its name in the path, such as
  ``jit(second)/jit(_threefry_split)/first/while``. It is taken away.
- JAX 0.8 tells the first caller alone. From the jitted function on the calls are right, if it is the user's own. Of a
  library's nothing is left, and the line is not known.

>>> [step for step in _jitted("jit(f)/vmap(jit(g))/transpose(jvp(h))/sin")]
['f', 'g']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from ..model.frame import Frame, Stack
from ..model.hlo import HloInstruction, Module
from .heap import is_users

_JIT = re.compile(r"\b(?:p?jit)\(([^()/]*)\)")


def with_own_callers(module: Module) -> Module:
    """Return the module with the calls that led to each instruction in this program, as far as they are known."""
    written = [each for each in module.instructions.values() if each.stack]
    foreign = {frame for each in written for frame in _repeated(each.stack, _jitted(each.op_name))}
    starts = list(dict.fromkeys(_starts(written))) or list(dict.fromkeys(_named(written)))
    corrected = {number: _corrected(each, starts, foreign) for number, each in module.instructions.items()}
    return module._replace(instructions=corrected)


def _corrected(instruction: HloInstruction, starts: Sequence[_Start], foreign: Set[Frame]) -> HloInstruction:
    if not instruction.stack:
        return instruction
    calls = _calls(instruction.stack)
    end = next((at for at, call in enumerate(calls) if call.again and call.frame in foreign), len(calls))
    whole = tuple(call.frame for call in calls)
    stack = _without_first_caller(whole[:end], instruction.op_name)
    jitted = _jitted(instruction.op_name)
    cut = len(stack) < len(whole)
    if (len(jitted) == 1 and not cut) or any(_follows(stack, start, whole=cut) for start in starts):
        return instruction if stack == instruction.stack else instruction._replace(stack=stack)
    inner = next(
        (at for at, frame in enumerate(whole) if _name(frame) in set(jitted[1:]) - set(jitted[:1])), len(whole)
    )
    return instruction._replace(stack=whole[inner:], traced_for=_name(whole[inner - 1]) if inner else "")


class _Start(NamedTuple):
    """The calls that led to the program, and its function with its file; ``None`` where none has its name."""

    calls: Stack
    function: tuple[str, str] | None


def _starts(instructions: Iterable[HloInstruction]) -> Iterator[_Start]:
    """How the program began, by instructions that are surely its own."""
    for each in instructions:
        jitted = _jitted(each.op_name)
        if len(jitted) != 1:
            continue
        stack = tuple(call.frame for call in _calls(each.stack))
        at = next((place for place, frame in enumerate(stack) if _name(frame) == jitted[0]), None)
        if at is None:
            yield _Start(stack[:-1], None)
        else:
            yield _Start(stack[:at], (stack[at].function, stack[at].file))


def _named(instructions: Iterable[HloInstruction]) -> Iterator[_Start]:
    """The same of a program that only calls jitted functions: by the name of its own, if calls have names."""
    for each in instructions:
        jitted = _jitted(each.op_name)
        if (jitted and not jitted[0].isidentifier()) or not each.stack[-1].function:
            yield _Start((), None)
        named = [frame for frame in each.stack if jitted and _name(frame) == jitted[0]]
        yield from (_Start((), (frame.function, frame.file)) for frame in named)


def _follows(stack: Stack, start: _Start, *, whole: bool) -> bool:
    """Whether calls are the program's: through its function, if that is known, or up to it, unless `whole`.

    Of many calls JAX leaves out the outermost.
    """
    if not whole and stack == start.calls[: len(stack)]:
        return True
    if start.function is None:
        return stack[: len(start.calls)] == start.calls
    return any((frame.function, frame.file) == start.function for frame in stack)


class _Call(NamedTuple):
    """A call, and whether it stands behind others that are said again."""

    frame: Frame
    again: bool


def _calls(stack: Stack) -> list[_Call]:
    """Each call once: JAX says again how it came to a loop's body, or to what it has lowered apart.

    >>> frames = [Frame(function=name, file="a.py", line=1) for name in "mffb"]
    >>> "".join(call.frame.function for call in _calls(tuple(frames)))
    'mfb'
    """
    found: dict[Frame, bool] = {}
    again = False
    for frame in stack:
        if frame in found:
            again = True
            known = list(found.items())
            found = dict(known[: [each for each, _ in known].index(frame) + 1])
        else:
            found[frame] = again
    return [_Call(frame, behind) for frame, behind in found.items()]


def _repeated(stack: Stack, jitted: Sequence[str]) -> Iterator[Frame]:
    """The user's calls behind which JAX began anew, though they are of no jitted function within the program."""
    for at, frame in enumerate(stack):
        if frame in stack[:at] and is_users(frame) and _name(frame) not in jitted[1:]:
            before = _calls(stack[:at])
            if any(call.again and call.frame == frame for call in before):
                yield frame


def _without_first_caller(stack: Stack, op_name: str) -> Stack:
    """Without what follows the name of another function in the path of a library's jitted one."""
    names = [_name(frame) for frame in stack]
    steps = op_name.split("/")
    for step, following in pairwise(steps[1:]):
        jitted = _jitted(step)
        if jitted and jitted[-1] not in names and following in names[1:]:
            return stack[: names.index(following, 1)]
    return stack


def _jitted(op_name: str) -> list[str]:
    """The names of the jitted functions of a path, but for the wrapper that older compilers add."""
    return [each for each in _JIT.findall(op_name) if each != "main"]


def _name(frame: Frame) -> str:
    """The function's own name, without the one that it is defined in."""
    return frame.function.rpartition(".")[2]
