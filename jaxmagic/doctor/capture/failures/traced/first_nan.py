"""Finds the operation that made the first NaN of a failed call: in a loop, in a jitted program, or in a gradient.

Nothing of the user's code runs again. What JAX has traced is computed, for the arguments of the failed call; if that
cannot be done, JAX's own calls still tell which operation's derivative it was computing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

from .....records.call_stack import Frame, is_users_file
from .....records.cell_names import text_of
from .....runtime.clock import Clock, now_ns
from .....runtime.jaxprs.equations import Written, defined_in, transforms_of, written_at
from .....runtime.jaxprs.frames import applied_in, programs_in, transposed_in
from .....runtime.tracing import inner_jaxprs, is_tracer
from ....record.not_finite import Made, NotFinite, Role
from ...frames import known
from ..statement import place_of
from .assigned import computed_of
from .computed import Value
from .loop_bodies import LONGEST_NS, FromInput, Origin, Search, first_in_loop
from .reasons import reason_of_operands


def first_nan(
    frames: Sequence[FrameType],
    beyond: Sequence[FrameType],
    *,
    infinite: bool,
    longest_ns: int = LONGEST_NS,
    clock: Clock = now_ns,
) -> NotFinite | None:
    """Return what is known about the operation that made the first NaN; ``None`` if that is nothing.

    Args:
        frames: the calls of the traceback.
        beyond: those of them that the user's innermost line led to.
        infinite: whether infinity is looked for, and not NaN.
        longest_ns: how long the steps after the first one may be computed in each loop.
        clock: the clock.
    """
    try:
        return _found(frames, beyond, infinite, longest_ns, clock)
    except Exception:
        return None


def _found(
    frames: Sequence[FrameType], beyond: Sequence[FrameType], infinite: bool, longest_ns: int, clock: Clock
) -> NotFinite | None:
    transposed = transposed_in(frames)
    found = first_in_loop(beyond, infinite=infinite, longest_ns=longest_ns, clock=clock)
    if found is not None:
        first = _first(found.origin, transposed, bool(transposed))
        return replace(first, loop=found.loop, step=found.step, number=found.number, length=found.length)
    for program in programs_in(frames):
        try:
            origin = Search(infinite, longest_ns, clock).origin(program.jaxpr, program.args)
        except FromInput as error:
            if program.names and _is_of_the_user(program.jaxpr):
                return NotFinite(argument=program.names[error.number], recomputed=True)
        except Exception:
            continue
        else:
            return _first(origin, program.transposed, bool(program.transposed), _is_of_the_user(program.jaxpr))
    return _of_gradient(transposed, frames, infinite)


def _is_of_the_user(jaxpr: Any) -> bool:
    file = defined_in(jaxpr)
    return file is None or is_users_file(file)


def _first(origin: Origin, around: Sequence[Any], is_derivative: bool, is_known: bool = True) -> NotFinite:
    """Return the operation of an equation, with the user's line if that is known for its jaxpr."""
    made, infinity = (
        None if each is None else _made((*around, *(each.chain if is_known else ())), each.name, is_derivative)
        for each in (origin, origin.infinite)
    )
    return NotFinite(made=made, reason=origin.reason, infinity=infinity, recomputed=True)


def _of_gradient(transposed: Sequence[Any], frames: Sequence[FrameType], infinite: bool) -> NotFinite | None:
    """Return what JAX's calls tell about an operation of a gradient that is not jitted."""
    applied = applied_in(frames)
    if not transposed or applied is None or any(map(is_tracer, applied.args)):
        return None
    if any(Value(0, each).has(infinite) for each in applied.args):
        return None  # it was there before
    reason = "" if infinite else reason_of_operands(applied.name, applied.args)
    return NotFinite(made=_made(transposed, applied.name, True), reason=reason)


def _made(chain: Sequence[Any], operation: str, is_derivative: bool) -> Made:
    """Return the operation of the last of some equations, with the innermost of the user's expressions.

    The line of an equation in a function of a library that is jitted may be that of another call of it.
    """
    found: Written | None = None
    for equation in chain:
        users = (each for each in written_at(equation) if is_users_file(each.code.co_filename))
        found = next(users, found)
        files = [defined_in(each) for each in inner_jaxprs(equation)]
        if any(each is not None and not is_users_file(each) for each in files):
            break
    transforms = " ".join(map(transforms_of, chain))
    role: Role = "either" if "jvp(" in transforms else "value"
    made = Made(operation=operation, role="derivative" if is_derivative or "transpose(" in transforms else role)
    return made if found is None else _with_code(made, found)


def _with_code(made: Made, written: Written) -> Made:
    code = written.code
    line = known(Frame(function=code.co_name, file=code.co_filename, line=written.line))
    place, lines = place_of(code, written.offset), text_of(code.co_filename)
    is_shown = 0 < written.line <= len(lines) and not place.outdated
    source = lines[written.line - 1].strip() if is_shown else ""
    names = tuple(sorted({*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}))
    return replace(
        made,
        line=line,
        source=source,
        statement=place.text,
        node=place.position,
        names=names,
        computed_of=computed_of(place, code),
    )
