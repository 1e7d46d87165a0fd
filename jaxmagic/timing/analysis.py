"""Selects what is worth reporting about a timing."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..compilation.record.compilation import STAGES, Compilation
from ..records.note import Note, note
from .record import Timing

#: A part of the wait is reported from this length and this share of the wall time on.
_WORTH_NAMING_NS = 300_000
_WORTH_NAMING_SHARE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the wall time; the parts of a timing add up to it."""

    name: str
    time_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The compilations of a timing, grouped as they are reported.

    Attributes:
        functions: jitted functions, in the order in which they were compiled.
        eager: operations outside ``jit``.
        elsewhere: compilations of other threads, which are in no part of the wall time.
    """

    functions: tuple[Compilation, ...]
    eager: tuple[Compilation, ...]
    elsewhere: tuple[Compilation, ...]


def parts(timing: Timing) -> tuple[Part, ...]:
    """Split the wall time into parts that add up to it, in the order in which they happen, without empty ones.

    Each stage of compilation, which a second call would not pay for, is a part.
    """
    named = ((name, getattr(timing, field)) for name, field in (*STAGES, ("host", "host_ns"), ("wait", "wait_ns")))
    return tuple(Part(name=name, time_ns=time_ns) for name, time_ns in named if time_ns)


def compiled(timing: Timing) -> Compiled:
    """Group the compilations of `timing` for the report."""
    ours = [each for each in timing.compilations if each.thread is None]
    return Compiled(
        functions=tuple(each for each in ours if not each.eager),
        eager=tuple(each for each in ours if each.eager),
        elsewhere=tuple(each for each in timing.compilations if each.thread is not None),
    )


def unreached_ns(timing: Timing) -> int | None:
    """Return the time spent in discarded work, if it is long enough to be distinguished from the fence's noise."""
    return _if_worth_naming(timing.unreached_ns, timing)


def code_wait_ns(timing: Timing) -> int | None:
    """Return the time that the code itself waited for results, if it is long enough to be worth a sentence."""
    return _if_worth_naming(timing.code_wait_ns, timing)


def notes(timing: Timing) -> tuple[Note, ...]:
    """Return the notes without those that doubt too small a share of the wall time to change what it tells."""
    doubts = {"timing.descheduled": "aside_ns", "timing.looked_late": "late_ns"}

    def is_told(each: Note) -> bool:
        doubted = doubts.get(each.kind)
        return doubted is None or float(each.facts[doubted]) >= _WORTH_NAMING_SHARE * timing.wall_ns

    return tuple(filter(is_told, timing.notes))


def _if_worth_naming(time_ns: int | None, timing: Timing) -> int | None:
    worth = max(_WORTH_NAMING_NS, _WORTH_NAMING_SHARE * timing.wall_ns)
    return time_ns if time_ns is not None and time_ns >= worth else None


def of_quoted_call(code: str | None) -> tuple[Note, ...]:
    """Note that some code is only text that would call something if it were not in quotes.

    >>> len(of_quoted_call("'f(x)'")), of_quoted_call("f('x')"), of_quoted_call("'a text'")
    (1, (), ())
    """
    try:
        text = ast.literal_eval((code or "0").rstrip("; "))
        calls = isinstance(text, str) and any(isinstance(each, ast.Call) for each in ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return (note("timing.quoted_call"),) if calls else ()
