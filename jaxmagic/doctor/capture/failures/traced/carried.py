"""Tells whether a float that is used as an index is the carry of a loop, and not its counter."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from .....runtime.around import is_exactly
from .....runtime.tracing import is_tracer, type_of
from ....analysis.failures.messages import is_jax_file
from ..calls import MISSING, value_of
from ..entries import Entry
from ..held import arrays_in
from ..statement import Place
from .assigned import computed_of
from .decided import code_of

#: The kinds of errors about an index that is a float.
OF_INDEX = "index type", "scalar index", "start dtype"


class _Loop(NamedTuple):
    """How a loop of JAX gets its body, and calls it.

    Attributes:
        place: the position of the body among the arguments.
        keyword: its keyword.
        carry: which argument of the body is the carry.
        takes: how many arguments the body takes.
    """

    place: int
    keyword: str
    carry: int
    takes: int


_LOOPS = {
    "fori_loop": _Loop(2, "body_fun", 1, 2),
    "scan": _Loop(0, "f", 0, 2),
    "while_loop": _Loop(1, "body_fun", 0, 1),
}

#: Functions that take positions, by the beginnings of their names, and which argument is the first of them.
_FIRST = {"range": 0, "dynamic_update": 2, "dynamic": 1}


def carried_index(users: Sequence[Entry]) -> tuple[tuple[str, str], ...]:
    """Return what is known if a float in the failing index comes from the carry of a loop; nothing otherwise.

    Args:
        users: the user's calls, the innermost last.
    """
    last = users[-1]
    floats = [(name, value) for part in _indices(last.place.node) for name, value in _floats(part, last.frame)]
    for outer, inner in reversed([*itertools.pairwise(users)]):
        found = _body_in(outer.place.node, outer.frame, inner.frame.f_code)
        if found is None:
            continue
        loop, called, parameters = found
        carry, others = parameters[loop.carry], [each for each in parameters if each != parameters[loop.carry]]
        values = list(arrays_in(carry, inner.frame.f_locals.get(carry, MISSING), is_tracer))
        direct = next((name for name, value in floats if any(value is each for _, each in values)), "")
        whole = any(value is inner.frame.f_locals.get(carry) for _, value in values)
        computed = "" if direct or inner is not last else _computed_of(last.place, inner.frame, carry, others)
        if not direct and not computed:
            return ()
        return (
            ("index", direct or computed),
            ("loop", ast.unparse(called.func)),
            ("of", called.func.attr if isinstance(called.func, ast.Attribute) else ast.unparse(called.func)),
            ("body", inner.frame.f_code.co_name),
            ("parameters", ", ".join(parameters)),
            ("carry", carry),
            ("part", "" if whole else "1"),
            ("computed", "" if direct else "1"),
        )
    return ()


def mapped_list(users: Sequence[Entry]) -> tuple[tuple[str, str], ...]:
    """Return which parameter of the failing function gets slices of arrays that JAX goes over, and what these are.

    That is for a function that ``scan``, ``map`` or ``vmap`` calls, if it is known that it does.
    """
    if len(users) < 2:
        return ()
    outer, code = users[-2], users[-1].frame.f_code
    parameters, node = code.co_varnames[: code.co_argcount], outer.place.node
    loop = _body_in(node, outer.frame, code)
    if loop is not None and loop[0] is _LOOPS["scan"]:
        given = [*loop[1].args[2:3], *(each.value for each in loop[1].keywords if each.arg == "xs")]
        return (("going", "scan"), ("slices", loop[2][1]), ("whole", "".join(map(ast.unparse, given))))
    match node:
        case ast.Call(func=ast.Attribute(attr="map"), args=[_, items, *_]):
            return (("going", "map"), ("slices", ", ".join(parameters)), ("whole", ast.unparse(items)))
        case ast.Call(func=ast.Call(func=ast.Attribute(attr="vmap") | ast.Name(id="vmap"))):
            return (("going", "vmap"), ("slices", ", ".join(parameters)), ("whole", ""))
    return ()


def _indices(node: ast.AST | None) -> list[ast.expr]:
    """Return what is used as an index in the failing expression."""
    match node:
        case ast.Subscript(slice=index):
            return [index]
        case ast.Call(func=ast.Attribute(value=ast.Subscript(value=ast.Attribute(attr="at"), slice=index))):
            return [index]
        case ast.Call(func=function, args=arguments):
            name = ast.unparse(function).rpartition(".")[2]
            first = next((number for begin, number in _FIRST.items() if name.startswith(begin)), len(arguments))
            return arguments[first:]
    return []


def _floats(node: ast.AST, frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Iterate over the variables in an index that hold traced floats."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute | ast.Subscript):
            value = value_of(each, frame)
            if value is not MISSING and is_tracer(value) and _is_float(value):
                yield ast.unparse(each), value


def _is_float(value: Any) -> bool:
    return (type_of(value) or "").lstrip("~").startswith(("float", "bfloat"))


def _computed_of(place: Place, frame: FrameType, carry: str, others: Sequence[str]) -> str:
    """Return a variable in the index that is computed of the carry alone; empty if there is none."""
    of = dict(computed_of(place, frame.f_code))
    for name in _names(*_indices(place.node)):
        read, seen = [name], set[str]()
        while read:
            here = read.pop()
            if here not in seen:
                seen.add(here)
                read += _names(ast.parse(of[here], mode="eval")) if here in of else []
        value = frame.f_locals.get(name)
        if carry in seen and not seen.intersection(others) and is_tracer(value) and _is_float(value):
            return name
    return ""


def _names(*nodes: ast.AST) -> list[str]:
    return [each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)]


def _body_in(
    node: ast.AST | None, frame: FrameType, code: CodeType
) -> tuple[_Loop, ast.Call, tuple[str, ...]] | None:
    """Return the loop that a line calls with a function as body, and the body's parameters; ``None`` for others."""
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    function = value_of(node.func, frame)
    if not is_exactly(function, FunctionType) or not is_jax_file(function.__code__.co_filename):
        return None
    loop = _LOOPS.get(function.__name__)
    if loop is None:
        return None
    named = [each.value for each in node.keywords if each.arg == loop.keyword]
    body: ast.expr | None = next(iter([*node.args[loop.place : loop.place + 1], *named]), None)
    if body is None:
        return None
    given = 0
    if isinstance(body, ast.Call) and ast.unparse(body.func).rpartition(".")[2] == "partial" and body.args:
        given, body = len(body.args) - 1, body.args[0]
    value = value_of(body, frame)
    if is_exactly(value, functools.partial):
        given, value = len(value.args), value.func
    if code_of(value) is not code and not (isinstance(body, ast.Lambda) and code.co_name == "<lambda>"):
        return None
    parameters = code.co_varnames[: code.co_argcount]
    bound = isinstance(body, ast.Attribute) and parameters[:1] == ("self",)  # a method
    parameters = parameters[given + bound :]
    return (loop, node, parameters) if len(parameters) == loop.takes else None
