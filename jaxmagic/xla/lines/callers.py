"""Corrects the calls of instructions that JAX traced for another caller, earlier, and has kept since.

JAX traces and lowers a function that is jitted itself, such as the one in :func:`jax.random.split`, once for all
callers with the same shapes. Its instructions then carry the calls of the first caller, which may belong to a program
that does not run at all:

- JAX 0.10 and newer put the calls of the caller that runs in front, and begin anew with the first one behind them,
  as they do with the body of a loop. The first caller is known by its name in the path of one of the instructions,
  such as ``jit(second)/jit(_threefry_split)/first/while``, or because it is the program itself. It is taken away.
- JAX 0.8 tells the first caller alone. From the jitted function on the calls are right, if it is the user's own. Of a
  library's nothing is left, and the line is not known.

>>> [step for step in _jitted("jit(f)/vmap(jit(g))/transpose(jvp(h))/sin")]
['f', 'g']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from ...records.call_stack import Frame, Stack, is_users
from ..hlo import HloInstruction, HloModule
from .lost_calls import with_lost_calls

#: What stands for instructions with the same calls and the same path.
_Key = tuple[int, str]

_JIT = re.compile(r"\b(?:p?jit)\(([^()/]*)\)")


def with_own_callers(module: HloModule) -> HloModule:
    """Return the module with the calls that led to each instruction in this program, as far as they are known."""
    keys = {number: (id(each.stack), each.op_name) for number, each in module.instructions.items()}
    once = {keys[number]: each for number, each in module.instructions.items()}  # many have the same
    own = _own_callers(once)
    corrected = {
        number: each._replace(stack=own[keys[number]].stack, traced_for=own[keys[number]].traced_for)
        for number, each in module.instructions.items()
        if own[keys[number]] is not once[keys[number]]
    }
    return module._replace(instructions={**module.instructions, **corrected}) if corrected else module


def _own_callers(once: Mapping[_Key, HloInstruction]) -> dict[_Key, HloInstruction]:
    """Return the same with the calls that led to each instruction in this program."""
    written = [each for each in once.values() if each.stack]
    foreign = {frame for each in written for frame in _foreign(each.stack, each.op_name)}
    starts = list(dict.fromkeys(_starts(written))) or list(dict.fromkeys(_named(written)))
    corrected = {key: _corrected(each, starts, foreign) for key, each in once.items()}
    known = {each.function: each for each in starts if each.function is not None}
    return _completed(corrected, *known.values()) if len(known) == 1 else corrected


def _completed(corrected: dict[_Key, HloInstruction], start: _Start) -> dict[_Key, HloInstruction]:
    """Put in what is missing between the program and the calls behind it."""
    stacks = [each.stack for each in corrected.values() if len(_jitted(each.op_name)) == 1]
    found = with_lost_calls(stacks, start.calls, lambda frame: (frame.function, frame.file) == start.function)
    return {
        key: each._replace(stack=found[each.stack])
        if len(_jitted(each.op_name)) == 1 and each.stack in found
        else each
        for key, each in corrected.items()
    }


def _corrected(instruction: HloInstruction, starts: Sequence[_Start], foreign: Set[Frame]) -> HloInstruction:
    if not instruction.stack:
        return instruction
    jitted = _jitted(instruction.op_name)
    calls = _calls(instruction.stack, instruction.op_name)
    end = next((at for at, call in enumerate(calls) if call.again and call.frame in foreign), len(calls))
    whole = tuple(call.frame for call in calls)
    stack = whole[:end]
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
    """Tell how the program began, by instructions that are surely its own."""
    for each in instructions:
        jitted = _jitted(each.op_name)
        if len(jitted) != 1:
            continue
        stack = tuple(call.frame for call in _calls(each.stack, each.op_name))
        at = _root(stack, jitted)
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
    """Tell whether calls are the program's: through its function, if that is known, or up to it, unless `whole`.

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


def _calls(stack: Stack, op_name: str) -> list[_Call]:
    """Each call once: JAX says again how it came to a loop's body, or to what it has lowered apart.

    It begins anew with the program's function. What led to that may well contain a call twice.

    >>> frames = [Frame(function=name, file="a.py", line=1) for name in "mmffb"]
    >>> "".join(call.frame.function for call in _calls(tuple(frames), "jit(f)/while/body/sin"))
    'mmfb'
    """
    root = _root(stack, _jitted(op_name))
    found = [_Call(frame, again=False) for frame in stack[: len(stack) if root is None else root]]
    first = dict.fromkeys(stack[:root] if root is not None else (), False)
    again = False
    places: dict[Frame, int] = {}
    for number, frame in () if root is None else enumerate(stack[root:], root):
        at = places.get(frame)
        if at is not None and at != root and _is_nested([call.frame for call in found[at:]], stack[number:], op_name):
            at = None
        if at is None:
            places[frame] = len(found)
            found.append(_Call(frame, again=first.setdefault(frame, again)))
        else:
            again = True
            for call in found[at + 1 :]:
                places.pop(call.frame, None)
            del found[at + 1 :]
            places[frame] = at
    return found


def _is_nested(between: Sequence[Frame], rest: Stack, op_name: str) -> bool:
    """Tell whether a function really called itself, as the wrappers of flax and equinox do where they nest.

    It did if its calls are not said again as a whole, and no function of the user's that it called is a first caller,
    which the path names.

    Args:
        between: the calls from its first one to the second.
        rest: the calls from the second one on.
        op_name: the path of the operation.
    """
    if list(rest[: len(between)]) == list(between):
        return False
    named = op_name.split("/")
    return not any(is_users(frame) and _name(frame) in named for frame in between)


def _root(stack: Stack, jitted: Sequence[str]) -> int | None:
    """Find where the function of the program is called; ``None`` if no call has its name."""
    named = (at for at, frame in enumerate(stack) if _name(frame) in jitted[:1] and is_users(frame))
    return next(named, None)


def _foreign(stack: Stack, op_name: str) -> Iterator[Frame]:
    """The first caller's calls behind those of the one that runs.

    The path names it behind a library's jitted function; or it is the program's own function, at another line.
    """
    jitted = _jitted(op_name)
    calls = _calls(stack, op_name)
    root = _root(stack, jitted)
    behind = [call.frame for call in calls if call.again]
    if root is not None:
        own = stack[root].function, stack[root].file
        yield from (frame for frame in behind if (frame.function, frame.file) == own)
    names = {_name(call.frame) for call in calls}
    for step, following in pairwise(op_name.split("/")[1:]):
        inner = _jitted(step)
        if inner and inner[-1] not in names:
            yield from (frame for frame in behind if _name(frame) == following)


def _jitted(op_name: str) -> list[str]:
    """The names of the jitted functions of a path, but for the wrapper that older compilers add."""
    return [each for each in _JIT.findall(op_name) if each != "main"]


def _name(frame: Frame) -> str:
    """The function's own name, without the one that it is defined in."""
    return frame.function.rpartition(".")[2]
