"""Declares remedies: each replaces objects that the code sees, or compares two compiled programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from ....records.note import Note
from ...record.finding import RuleFinding
from .tried_code import TriedCode


class Change(NamedTuple):
    """The objects that the code sees once the remedy is applied; it is then measured.

    Attributes:
        replacements: what the code and the functions that it calls see instead of some objects, by their ids.
        context: makes a context for each run.
        met: whether the code has called what stands in place of the objects, once it has run.
        used: whether that has made a difference, after it has run several times.
        notes: what a reader must know about it.
        found: returns another such note, once the code has run.
        sizes: what compiled programs need without and with it, if memory is what it is about.
        ceiling: whether it computes something else, which shows what no remedy can exceed.
        code: the code to run with the remedy, if it is written in another way.
        unset: the variables that this code no longer assigns, such as the counter of a loop. They are not compared.
        products: the type in which it computes products, ``"bf16"`` or ``"tf32"``, if that is the remedy.
    """

    replacements: dict[int, Any]
    context: Callable[[], AbstractContextManager[object]] = nullcontext
    met: Callable[[], bool] = lambda: True
    used: Callable[[], bool] = lambda: True
    notes: tuple[Note, ...] = ()
    found: Callable[[], Note] | None = None
    sizes: Sizes | None = None
    ceiling: bool = False
    code: TriedCode | None = None
    unset: frozenset[str] = frozenset()
    products: str = ""


class Builds(NamedTuple):
    """Two ways to compile the same, which are timed.

    Attributes:
        before: compiles the original; returns the program, or ``None`` if that must not run.
        after: compiles it with the remedy, likewise.
        given: the arguments with which each program runs, if their arrays are not deleted.
        notes: what a reader must know about it.
        needs: returns the bytes that a program of each way needs, or ``None``, if memory is what it is about.
    """

    before: Callable[[], Callable[..., Any] | None]
    after: Callable[[], Callable[..., Any] | None]
    given: tuple[tuple[Any, ...], tuple[Any, ...]]
    notes: tuple[Note, ...] = ()
    needs: tuple[Callable[[Any], int | None], Callable[[Any], int | None]] | None = None


class Sizes(NamedTuple):
    """Bytes that two compiled programs need.

    Attributes:
        before_bytes: what the original needs.
        after_bytes: the same with the remedy.
        notes: what a reader must know about it.
        calls: calls of the two programs, if these can run without the code.
    """

    before_bytes: int
    after_bytes: int
    notes: tuple[Note, ...] = ()
    calls: tuple[ProgramCall, ProgramCall] | None = None


class ProgramCall(NamedTuple):
    """A call of a compiled program.

    Attributes:
        prepare: makes its arguments, anew before each call.
        call: calls it, and waits for its results.
    """

    prepare: Callable[[], None]
    call: Callable[[], Any]


class NotTried(Exception):
    """A remedy is not tried, or was tried in vain.

    Attributes:
        notes: the reason, and how often something ran nevertheless.
        differs: whether the outputs evidently differ.
    """

    def __init__(self, *notes: Note, differs: bool = False) -> None:
        super().__init__(" ".join(map(str, notes)))
        self.notes = notes
        self.differs = differs


#: Proposes a way to apply the remedy of a finding.
Remedy = Callable[[RuleFinding, TriedCode], Change | Sizes | Builds]


def names_given(finding: RuleFinding) -> list[str]:
    """Return the names that a finding applies to.

    >>> from jaxmagic.records.note import note
    >>> names_given(RuleFinding(rule="donation", found=note("text"), applies_to="params, state"))
    ['params', 'state']
    """
    return [each.strip() for each in (finding.applies_to or "").split(",") if each.strip()]


def calls_in_advice(finding: RuleFinding, called: str) -> list[ast.Call]:
    """Return the calls of functions with a name, such as ``"device_put"``, in the code that a finding recommends."""
    for body in ("", "\n    ..."):  # the code may end in the first line of a function
        try:
            tree = ast.parse(f"{finding.code or ''}{body}")
            break
        except (SyntaxError, ValueError):
            continue
    else:
        return []
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    return [each for each in calls if re.search(rf"(^|\.){called}$", ast.unparse(each.func))]


def constant_of(call: ast.Call, keyword: str) -> Any:
    """Return the value of a keyword argument if it is written out; ``None`` otherwise."""
    for each in call.keywords:
        if each.arg == keyword:
            try:
                return ast.literal_eval(each.value)
            except ValueError:
                return None
    return None


def first_arguments(calls: list[ast.Call]) -> list[str]:
    """Return the variables that calls have as their first argument.

    >>> first_arguments([ast.parse("jax.jit(f)", mode="eval").body])
    ['f']
    """
    return [each.args[0].id for each in calls if each.args and isinstance(each.args[0], ast.Name)]
