"""Corrects the call stacks of instructions that JAX traced for an earlier caller and has cached since.

JAX traces and lowers an inner jitted function, such as the one in :func:`jax.random.split`, once for all callers with
the same shapes. Its instructions then carry the call stack of the first caller, which may belong to another program:

- JAX 0.10 and newer put the current caller's frames in front of the first caller's, as they do for the body of a
  loop. The first caller is recognized because the path of one of the instructions names it, as in
  ``jit(second)/jit(_threefry_split)/first/while``, or because it is the program's own function. Its frames are
  removed, unless instructions of the program itself show that the line before calls this function.
- JAX 0.8 records only the first caller's frames. They are correct from the jitted function on, if that is the user's
  own. If it is a library's, no frame is correct, and the line is unknown.

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

#: Identifies instructions with the same stack and the same path.
_Key = tuple[int, str]

#: A line, and the name and the file of a function that it calls.
_Called = tuple[Frame, tuple[str, str]]

_JIT = re.compile(r"\b(?:p?jit)\(([^()/]*)\)")


def with_own_callers(module: HloModule) -> HloModule:
    """Return the module with each instruction's stack in this program, as far as it is known."""
    keys = {number: (id(each.stack), each.op_name) for number, each in module.instructions.items()}
    once = {keys[number]: each for number, each in module.instructions.items()}  # many share a key
    own = _own_callers(once)
    corrected = {
        number: each._replace(stack=own[keys[number]].stack, traced_for=own[keys[number]].traced_for)
        for number, each in module.instructions.items()
        if own[keys[number]] is not once[keys[number]]
    }
    return module._replace(instructions={**module.instructions, **corrected}) if corrected else module


def without_callers(module: HloModule) -> HloModule:
    """Return the module without the calls that led to the program: those of the call that compiled it.

    Another call may run it from elsewhere. The lines of an eager operation are only such calls.
    """
    shortened: dict[tuple[Stack, str], Stack] = {}
    instructions = {}
    names = [name for each in module.instructions.values() for name in _jitted(each.op_name)[:1]]
    for number, each in module.instructions.items():
        key = each.stack, next(iter(_jitted(each.op_name) or names), "")
        if key not in shortened:
            shortened[key] = _inside(*key)
        instructions[number] = each._replace(stack=shortened[key])
    return module._replace(instructions=instructions)


def _inside(stack: Stack, program: str) -> Stack:
    """Return the calls of a stack from the program's function on; all of them if functions were not recorded."""
    if not all(frame.function for frame in stack):
        return stack
    name = "__call__" if program == "<unnamed function>" else program  # of a callable object
    named = (at for at in reversed(range(len(stack))) if name in stack[at].function.split("."))
    return stack[next(named, len(stack)) :]


def _own_callers(once: Mapping[_Key, HloInstruction]) -> dict[_Key, HloInstruction]:
    """Correct one instruction per key."""
    written = [each for each in once.values() if each.stack]
    foreign = {frame for each in written for frame in _foreign(each.stack, each.op_name)}
    inside = (
        {one for each in written if len(_jitted(each.op_name)) == 1 for one in _called(each)} if foreign else set()
    )
    starts = list(dict.fromkeys(_starts(written))) or list(dict.fromkeys(_named(written)))
    corrected = {key: _corrected(each, starts, foreign, inside) for key, each in once.items()}
    known = {each.function: each for each in starts if each.function is not None}
    return _completed(corrected, *known.values()) if len(known) == 1 else corrected


def _completed(corrected: dict[_Key, HloInstruction], start: _Start) -> dict[_Key, HloInstruction]:
    """Add the calls that are missing between the program's function and the recorded ones."""
    stacks = [each.stack for each in corrected.values() if len(_jitted(each.op_name)) == 1]
    found = with_lost_calls(stacks, start.calls, lambda frame: (frame.function, frame.file) == start.function)
    return {
        key: each._replace(stack=found[each.stack])
        if len(_jitted(each.op_name)) == 1 and each.stack in found
        else each
        for key, each in corrected.items()
    }


def _called(instruction: HloInstruction) -> Iterator[_Called]:
    """Yield which line calls which function, as far as the stack of an instruction has it."""
    frames = [call.frame for call in _calls(instruction.stack, instruction.op_name)]
    yield from ((line, (frame.function, frame.file)) for line, frame in pairwise(frames))


def _corrected(
    instruction: HloInstruction, starts: Sequence[_Start], foreign: Set[Frame], inside: Set[_Called]
) -> HloInstruction:
    if not instruction.stack:
        return instruction
    jitted = _jitted(instruction.op_name)
    calls = _calls(instruction.stack, instruction.op_name)
    whole = tuple(call.frame for call in calls)
    called = [False, *(one in inside for one in _called(instruction))]
    repeated = (at for at, call in enumerate(calls) if call.again and call.frame in foreign and not called[at])
    end = next(repeated, len(calls))
    stack = whole[:end]
    cut = len(stack) < len(whole)
    if (len(jitted) == 1 and not cut) or any(_follows(stack, start, whole=cut) for start in starts):
        return instruction if stack == instruction.stack else instruction._replace(stack=stack)
    inner = next(
        (at for at, frame in enumerate(whole) if _name(frame) in set(jitted[1:]) - set(jitted[:1])), len(whole)
    )
    return instruction._replace(stack=whole[inner:], traced_for=_name(whole[inner - 1]) if inner else "")


class _Start(NamedTuple):
    """The calls that led to the program, and its function and file; ``None`` if no frame has the program's name."""

    calls: Stack
    function: tuple[str, str] | None


def _starts(instructions: Iterable[HloInstruction]) -> Iterator[_Start]:
    """Find how the program was called, from instructions that are certainly its own."""
    for instruction in instructions:
        jitted = _jitted(instruction.op_name)
        if len(jitted) != 1:
            continue
        stack = tuple(call.frame for call in _calls(instruction.stack, instruction.op_name))
        at = _root(stack, jitted)
        if at is None:
            yield _Start(stack[:-1], None)
        else:
            yield _Start(stack[:at], (stack[at].function, stack[at].file))


def _named(instructions: Iterable[HloInstruction]) -> Iterator[_Start]:
    """Find how a program that only calls jitted functions was called, by its own name if frames have names."""
    for instruction in instructions:
        jitted = _jitted(instruction.op_name)
        if (jitted and not jitted[0].isidentifier()) or not instruction.stack[-1].function:
            yield _Start((), None)
        named = [frame for frame in instruction.stack if jitted and _name(frame) == jitted[0]]
        yield from (_Start((), (frame.function, frame.file)) for frame in named)


def _follows(stack: Stack, start: _Start, *, whole: bool) -> bool:
    """Return whether a stack contains the program's function or, if that is unknown, begins with the calls to it.

    Unless `whole`, a stack that ends before that function also counts. JAX drops the outermost frames of deep stacks,
    so the calls before a known function are not compared.
    """
    if not whole and stack == start.calls[: len(stack)]:
        return True
    if start.function is None:
        return stack[: len(start.calls)] == start.calls
    return any((frame.function, frame.file) == start.function for frame in stack)


class _Call(NamedTuple):
    """A call, and whether it follows calls that JAX has repeated."""

    frame: Frame
    again: bool


def _calls(stack: Stack, op_name: str) -> list[_Call]:
    """Return each call once: JAX repeats the calls that led to a loop's body, or to a function lowered separately.

    The repetition begins with the program's function. The calls before that may contain the same frame twice.

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
    """Return whether a function really called itself, as nested wrappers of flax and equinox do.

    It did if the calls in between are not repeated as a whole, and if none of them is a user's function that the path
    names as the first caller.

    Args:
        between: the calls from its first occurrence to the second.
        rest: the calls from the second occurrence on.
        op_name: the path of the operation.
    """
    if list(rest[: len(between)]) == list(between):
        return False
    named = op_name.split("/")
    return not any(is_users(frame) and _name(frame) in named for frame in between)


def _root(stack: Stack, jitted: Sequence[str]) -> int | None:
    """Return the position of the program's function in a stack; ``None`` if no frame has its name."""
    named = (at for at, frame in enumerate(stack) if _name(frame) in jitted[:1] and is_users(frame))
    return next(named, None)


def _foreign(stack: Stack, op_name: str) -> Iterator[Frame]:
    """Yield the frames of the first caller that follow those of the current one.

    The first caller is named in the path after a library's jitted function, or is the program's own function at
    another line.
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
    """Return the names of the jitted functions in a path, without the wrapper that older versions add."""
    return [each for each in _JIT.findall(op_name) if each != "main"]


def _name(frame: Frame) -> str:
    """Return the function's own name, without the names of enclosing functions and classes."""
    return frame.function.rpartition(".")[2]
