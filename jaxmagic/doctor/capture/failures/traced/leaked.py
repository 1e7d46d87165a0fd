"""Finds traced values in the failing code, and decides whether they are used after their function was traced."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

from .....runtime.tracing import is_traced_in, is_tracer, traces_around
from ....analysis.failures.messages import is_jax_file
from ....record.failing_code import Traced
from ..calls import value_of
from ..held import arrays_in
from ..statement import Place

#: Containers in the failing expression are searched down to this depth.
_DEPTH = 3


def tracers_in(node: ast.AST | None, frame: FrameType, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Iterate over the traced values in the variables, attributes and elements of an expression, with their names.

    Args:
        node: the expression.
        frame: the frame in which it was evaluated.
        depth: how deep containers are searched.
    """
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        found = list(arrays_in(ast.unparse(node), value_of(node, frame), is_tracer, depth))
        yield from found
        if found:  # what it is an element or an attribute of holds others as well
            node = node.slice if isinstance(node, ast.Subscript) else None
    for each in ast.iter_child_nodes(node) if node is not None else ():
        yield from tracers_in(each, frame, depth)


class Around(NamedTuple):
    """The calls around the failing expression.

    Attributes:
        frames: the calls, with those that JAX has removed from the traceback.
        complete: whether none is missing; those in other threads cannot be found, nor those around a generator if JAX
            has removed its calls from the traceback.
    """

    frames: list[FrameType]
    complete: bool

    def is_over(self, tracer: Any) -> bool:
        """Return whether the trace of a value had surely ended; of any value, nothing is traced, for ``None``."""
        return self.complete and is_traced_in(tracer, self.frames) is False

    def is_under_way(self, tracer: Any) -> bool:
        """Return whether a value is surely being traced."""
        return is_traced_in(tracer, self.frames) is True


def calls_around(traceback: Sequence[FrameType]) -> Around:
    """Return the calls around the innermost frame of a traceback."""
    frames: dict[int, FrameType] = {}
    complete = True
    filtered = not traceback or not is_jax_file(traceback[-1].f_code.co_filename)
    for number, outer in enumerate(traceback):
        here: FrameType | None = outer
        while here is not None and id(here) not in frames:
            frames[id(here)] = here
            here = here.f_back
        generator = outer.f_back is None and bool(outer.f_code.co_flags & inspect.CO_GENERATOR)
        complete = complete and (here is not None or number == 0 or (generator and not filtered))
    return Around(list(frames.values()), complete)


def leaked_in(
    node: ast.AST | None, frame: FrameType, around: Around, passed: Sequence[tuple[str, Any]]
) -> list[tuple[str, Any]]:
    """Return the traced values in an expression and its containers whose trace had ended.

    If there are none, these are those that the failing operation got; else those of which it is unknown.

    Args:
        node: the expression.
        frame: the frame in which it was evaluated.
        around: the calls around it.
        passed: what the failing operation got, with the text of each, which is empty if that is unknown.
    """
    found = list(tracers_in(node, frame, _DEPTH))
    over = [each for each in found if around.is_over(each[1])] or ended_in(passed, around)
    return over or [each for each in found if not around.is_under_way(each[1])]


def ended_in(passed: Sequence[tuple[str, Any]], around: Around) -> list[tuple[str, Any]]:
    """Return the traced values that an operation got, also in containers, whose trace had ended."""
    return [
        (name if text else "", each)
        for text, value in passed
        for name, each in arrays_in(text, value, is_tracer, _DEPTH)
        if around.is_over(each)
    ]


def used(place: Place) -> ast.AST | None:
    """Return the failing expression; the statement if it is unknown, or in a text, where Python 3.11 misplaces it."""
    return place.statement if place.operation.startswith("FORMAT") else place.node or place.statement


def has_leaked(traced: Traced | None, place: Place, frame: FrameType, around: Around) -> bool:
    """Return whether the failing expression uses a value whose trace had ended; false if that is uncertain.

    Args:
        traced: the function that made the value, if JAX says it.
        place: where the code stopped.
        frame: the innermost frame of the user's code.
        around: the calls around it.
    """
    node = used(place)
    found = list(tracers_in(node, frame)) or list(tracers_in(node, frame, _DEPTH))
    if found:
        return all(around.is_over(value) for _, value in found)
    if not around.is_over(None):
        return False
    if traced is None:  # an operation of Python on a value; a call may have traced something of its own
        return place.operation.startswith("FORMAT") or isinstance(node, ast.BinOp)
    known = (traced.function, traced.file, traced.line)
    codes = (each.f_code for each in around.frames)
    return all((each.co_name, each.co_filename, each.co_firstlineno) != known for each in codes)


def is_nested(frame: FrameType) -> bool | None:
    """Return whether a function was traced inside of other tracing, by the traced values among its variables."""
    tracers = (value for value in list(frame.f_locals.values()) if is_tracer(value))
    kinds = [each for each in map(traces_around, tracers) if each is not None]
    return min(map(len, kinds)) > 2 if kinds else None


def is_vmap(frame: FrameType) -> bool:
    """Return whether a call is that of a function that ``jax.vmap`` returned."""
    code = frame.f_code
    return code.co_name == "vmap_f" and code.co_filename.replace("\\", "/").endswith("/jax/_src/api.py")


def vmapped_in(frame: FrameType) -> tuple[str, ...]:
    """Return the variables of a call that ``jax.vmap`` traces first of all, and what they hold, as ``batch['n']``."""
    depth = 0 if frame.f_locals is frame.f_globals else _DEPTH
    variables = list(frame.f_locals.items())
    return tuple(name for each, value in variables for name, _ in arrays_in(each, value, _is_vmapped, depth))


def _is_vmapped(value: object) -> bool:
    """Return whether a value is traced by ``jax.vmap`` first of all."""
    kinds = traces_around(value) if is_tracer(value) else None
    return kinds is not None and kinds[0].startswith(("Batch", "Vmap"))
