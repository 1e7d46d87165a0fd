"""Finds the traced values in the failing expression, the functions that made them, and the way they came."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import FrameType, SimpleNamespace
from typing import Any

from .....runtime.around import attribute, of_type
from .....runtime.tracing import is_tracer, leak_message, origin_of, type_of
from ....analysis.failures import messages
from ....analysis.failures.expression import ABOUT, MOST_VALUES
from ....analysis.failures.wrong_arguments.values.formats import with_format
from ....analysis.written_paths import is_within, root_of
from ....record.failing_code import Handed, Traced, Value
from ....record.failure import Failure
from ..calls import value_of
from ..entries import Entry
from ..held import arrays_in
from ..statement import Place
from .decided import code_of
from .escapes import escapes_in_code, escapes_into, escapes_of
from .leaked import tracers_in

#: Arguments are searched for traced values down to this depth.
_DEPTH = 3


def with_closure(facts: Failure, last: Entry, caller: Entry) -> Failure:
    """Tell a leak from a ``custom_vjp`` function that uses a traced value from outside, which JAX calls the same."""
    node, code = caller.place.node, last.frame.f_code
    function = value_of(node.func, caller.frame) if isinstance(node, ast.Call) else None
    if of_type("__name__", type(function)) != "custom_vjp" or code_of(attribute(function, "fun")) is not code:
        return facts
    names = [name for name in code.co_freevars if is_tracer(last.frame.f_locals.get(name))]
    said = ("function", code.co_name), ("names", ", ".join(names))
    return replace(facts, kind="closure", said=said) if names else facts


def with_leaked(facts: Failure, leaked: Sequence[tuple[str, Any]], text: str, last: Entry) -> Failure:
    """Add which function made the values that leaked, and where they may have been stored.

    Args:
        facts: the facts that are known.
        leaked: the values, with their names.
        text: the message of the exception, which may be about something else.
        last: the innermost call of the user's code, whose function may have stored the values itself.
    """
    of_leak = messages.is_about_leak(text)
    told = [text if of_leak else leak_message(each) for _, each in leaked]
    said = [f"{each}\n{origin_of(value) or ''}" for each, (_, value) in zip(told, leaked, strict=True)] or [text]
    origins = values_of((str(place), each) for place, (_, each) in enumerate(leaked))
    types = {each.type for each in origins}
    computed_at = list(dict.fromkeys(map(messages.created_at, said)))
    traced = facts.traced if of_leak or not leaked else None
    traced = traced or common_origin(origins) or (messages.traced(said[0]) if len(said) == 1 else None)
    detail = facts.detail or (computed_at[0][-1] if len(computed_at) == 1 and computed_at[0] else None)
    known = [each for calls in computed_at for each in calls] or [*filter(None, [detail])]
    names = [name for name, _ in leaked]
    seen = SimpleNamespace(f_locals={}, f_globals=last.frame.f_globals)
    escapes = escapes_of(traced, known, seen)
    if traced is None and not known:
        escapes = tuple(
            each
            for each in escapes_of(None, [f"{last.where.file}:{last.where.line}"])
            if any(is_within(name, each.name) for name in names)
        )
    if not any(is_within(name, each.name) for each in escapes for name in names):
        escapes = (*escapes, *(each for name in names for each in escapes_into(name, last.frame)))
    if not escapes:
        of_module = [name for name in names if root_of(name) in last.frame.f_globals]
        found = (each for name in of_module for each in escapes_in_code(name, last.where.file))
        escapes = tuple(dict.fromkeys(found))
    return replace(
        facts,
        traced=traced,
        type=(facts.type if of_leak or not leaked else None) or (next(iter(types)) if len(types) == 1 else None),
        detail=detail,
        escapes=escapes,
    )


def meant(facts: Failure, place: Place, frame: FrameType) -> tuple[Value, ...]:
    """Return the traced values of which one is meant by the message: those in an index, a shape or a text."""
    if facts.kind == "format":
        nodes = ast.walk(place.statement) if place.statement is not None else ()
        formatted = (value for each in nodes for value in with_format(each) if not _reads_shape(value))
        return next(filter(None, (values_in(value, frame) for value in formatted)), ())
    index = _index_in(place.node)
    if facts.kind == "repeated" and isinstance(index, ast.BinOp):
        index = next((each for each in (index.left, index.right) if is_tracer(value_of(each, frame))), None)
    found = values_in(index, frame)
    if facts.kind == "scalar index" and (index is None or _reads_shape(index)):
        return ()
    if facts.kind in ("mask", "shape"):
        return found
    found = tuple(each for each in found if facts.type in (None, each.type))
    return found if len(found) == 1 else ()


def _reads_shape(node: ast.AST) -> bool:
    """Return whether an expression reads what is known of a traced value, such as its shape."""
    return any(isinstance(each, ast.Attribute) and each.attr in ABOUT for each in ast.walk(node))


def _index_in(node: ast.AST | None) -> ast.AST | None:
    """Return the index of ``x[i]`` and of ``x.at[i].set(y)``; other expressions are returned as they are."""
    match node:
        case ast.Subscript(slice=index):
            return index
        case ast.Call(func=ast.Attribute(value=ast.Subscript(value=ast.Attribute(attr="at"), slice=index))):
            return index
    return node


def beginning(traced: Traced | None, users: Sequence[Entry]) -> int | None:
    """Return which of the user's calls is that of the traced function, the innermost one if there are several."""
    if traced is None:
        return None
    known = (traced.function, traced.file, traced.line)
    codes = [each.frame.f_code for each in users]
    found = [
        place for place, code in enumerate(codes) if (code.co_name, code.co_filename, code.co_firstlineno) == known
    ]
    return found[-1] if found else None


def named(traced: Traced, frame: FrameType) -> Traced:
    """Name the arguments of a traced function for which JAX has no names, if the value depends on all of them.

    Args:
        traced: the function.
        frame: its call.
    """
    code, unnamed = frame.f_code, traced.unnamed
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if messages.UNNAMED in parameters:  # the user's name
        return replace(traced, arguments=(*traced.arguments, messages.UNNAMED), unnamed=0) if unnamed else traced
    found = [name for each in parameters for name, _ in arrays_in(each, frame.f_locals.get(each), is_tracer, _DEPTH)]
    return replace(traced, arguments=tuple(found), unnamed=0) if len(found) == unnamed else traced


def common_origin(values: Sequence[Value]) -> Traced | None:
    """Return the function that made all of some traced values, with the arguments on which they depend."""
    origins = [each.origin for each in values if each.origin is not None]
    if not origins or len(origins) < len(values) or len({(each.file, each.line) for each in origins}) > 1:
        return None
    arguments = tuple(dict.fromkeys(name for each in origins for name in each.arguments))
    return replace(origins[0], arguments=arguments)


def values_in(node: ast.AST | None, frame: FrameType) -> tuple[Value, ...]:
    """Return the names and attributes in an expression that hold traced values."""
    return values_of(tracers_in(node, frame))


def values_of(found: Iterable[tuple[str, Any]]) -> tuple[Value, ...]:
    """Return traced values by name, without those of which no name is known."""
    named = {name: value for name, value in found if name}
    return tuple(
        Value(
            name=name,
            type=messages.short_type(type_of(value) or "unknown"),
            origin=None if not (said := origin_of(value)) else messages.traced(said),
        )
        for name, value in itertools.islice(named.items(), MOST_VALUES)
    )


def handed(users: Sequence[Entry], begun: int | None) -> Iterator[Handed]:
    """Iterate over what callers that were being traced passed to the traced function."""
    if not begun:
        return
    for outer, inner in zip(reversed(users[:begun]), reversed(users[1 : begun + 1]), strict=True):
        node = outer.place.node
        if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
            return
        code = inner.frame.f_code
        if code_of(value_of(node.func, outer.frame)) is not code:
            return
        given = dict(zip(code.co_varnames[: code.co_argcount], node.args, strict=False))
        given |= {each.arg: each.value for each in node.keywords if each.arg}
        for parameter, passed in given.items():
            for value in values_in(passed, outer.frame):
                if value.origin is not None and value.origin.arguments:
                    text = ast.unparse(passed)
                    yield Handed(parameter=parameter, text=text, location=outer.where.location, origin=value.origin)
                    break
