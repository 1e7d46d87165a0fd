"""Tells what the arguments of a call were when it was made, although variables may have changed since."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FrameType
from typing import Any, NamedTuple

from .....runtime.tracing import arguments_passed_to
from ..calls import MISSING, Names, value_of
from ..statement import Place

#: Expressions with variables of their own, which are gone when the traceback is read.
_COMPREHENSIONS = ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp


class Variables(NamedTuple):
    """The variables that an expression sees."""

    f_locals: Mapping[str, Any]
    f_globals: Mapping[str, Any]


class CallValues:
    """The values that the expressions in a call had when it was made.

    The arguments are those that the called function got, where its frame is known. Other variables are read from the
    frame of the call: those of a module may have changed since then, and those of a comprehension are unknown.

    Args:
        place: the call.
        frame: its frame.
        innermost: the frame that failed.
    """

    def __init__(self, place: Place, frame: FrameType, innermost: FrameType) -> None:
        node = place.node
        self._frame: Names = _without(frame, _of_comprehensions(place) if frame.f_code.co_name[:1] != "<" else set())
        called = _called_by(frame, innermost)
        self._passed = _passed(node, called) if isinstance(node, ast.Call) and called is not None else {}

    def value_of(self, node: ast.AST) -> Any:
        """Return the value of an expression, without running code; ``MISSING`` if that is impossible."""
        passed = self._passed.get(ast.unparse(node), MISSING)
        return value_of(node, self._frame) if passed is MISSING else passed

    def hold(self) -> bool:
        """Return whether the variables that were passed still have the same values, as far as is known."""
        names = ((ast.Name(name, ast.Load()), value) for name, value in self._passed.items() if name.isidentifier())
        now = ((value_of(node, self._frame), value) for node, value in names)
        return all(current is MISSING or current is value for current, value in now)


def _called_by(frame: FrameType, innermost: FrameType) -> FrameType | None:
    """Return the frame that another one called, on the way to the innermost one."""
    called: FrameType | None = innermost
    while called is not None and called.f_back is not frame:
        called = called.f_back
    return called


def _passed(node: ast.Call, called: FrameType) -> dict[str, Any]:
    """Return the arguments that a frame got, by the text at the call; empty if it is no frame that collects them all.

    A method of a library's object may get that object before the arguments.
    """
    found = arguments_passed_to(called)
    given = [*node.args, *(each.value for each in node.keywords)]
    if found is None or any(isinstance(each, ast.Starred) for each in node.args):
        return {}
    args, kwargs = found
    if len(args) - len(node.args) not in (0, 1) or list(kwargs) != [each.arg for each in node.keywords]:
        return {}
    values = [*args[len(args) - len(node.args) :], *kwargs.values()]
    return {ast.unparse(each): value for each, value in zip(given, values, strict=True)}


def _without(frame: Names, hidden: set[str]) -> Names:
    if not hidden:
        return frame
    kept = (
        {name: each for name, each in names.items() if name not in hidden}
        for names in (frame.f_locals, frame.f_globals)
    )
    return Variables(*kept)


def _of_comprehensions(place: Place) -> set[str]:
    """Return the variables of the comprehensions around a call."""
    around = [each for each in ast.walk(place.tree or ast.Pass()) if isinstance(each, _COMPREHENSIONS)]
    targets = (each.target for outer in around if place.node in [*ast.walk(outer)] for each in outer.generators)
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
