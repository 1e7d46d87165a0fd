"""Finds on which of the values that ``jax.vmap`` traces a failing expression depends: JAX names none of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from ....record.failure import Failure
from ..expression import ABOUT, Expression, value_named
from .size_use import parts_in

#: The kinds of errors that a size may raise.
_OF_SIZES = "shape", "number", "index", "bool"

#: Functions of Python that compare all of their arguments.
_EXTREMES = "max", "min"

_NAMED = ast.Name | ast.Attribute | ast.Subscript


def vmapped_arguments(failure: Failure, failing: Expression | None) -> tuple[str, ...]:
    """Return the arguments, or else the variables, on which the failing value depends; none if that is unsure."""
    if failing is None or failure.library is not None:
        return ()
    parts, surely = _parts(failure, failing)
    typed = {each.name for each in failure.values if failure.type in (None, each.type)}
    direct = list(dict.fromkeys(name for part in parts for name in _read(failure.vmapped, part)))
    if not surely:
        direct = [each for each in direct if each in typed]
    if len(direct) > 1 and not surely:
        return ()
    known = dict(failure.computed_of)
    return tuple(dict.fromkeys(source for name in direct for source in _sources(failure, known, name)))


def _parts(failure: Failure, failing: Expression) -> tuple[Sequence[ast.AST], bool]:
    """Return what in the failing expression may need the value, and whether all of it surely does."""
    match failing.node:
        case ast.Call() if failing.called in _EXTREMES:
            return [failing.node], True
        case ast.Call() if failure.kind in _OF_SIZES and (sizes := parts_in(failure, failing)):
            return [part for each in sizes for part in _elements(each) if _may_fail(failure, part)], True
        case ast.Subscript(slice=index) if failure.kind == "shape":
            return [each for each in _elements(index) if isinstance(each, ast.Slice)], True
        case ast.Subscript(slice=index):
            return [index], True
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return [test], True
        case ast.For(iter=iterated):
            return [iterated], True
        case ast.Call(args=args, keywords=keywords):
            return [failing.node], len(args) + len(keywords) < 2
    return [failing.node], True


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List) else [node]


def _may_fail(failure: Failure, node: ast.expr) -> bool:
    """Return whether a size may be the value of the message: one of another type is not, unless it was compared."""
    value = value_named(failure, ast.unparse(node))
    return value is None or failure.kind == "bool" or failure.type in (None, value.type)


def _read(names: Sequence[str], node: ast.AST) -> Iterator[str]:
    """Iterate over those of some names, such as ``batch['n']``, whose values an expression computes with."""
    text = ast.unparse(node) if isinstance(node, _NAMED) else ""
    if text in names:
        yield text
    elif not (isinstance(node, ast.Attribute) and node.attr in ABOUT):
        for each in ast.iter_child_nodes(node):
            yield from _read(names, each)


def _sources(failure: Failure, known: Mapping[str, str], name: str) -> Iterator[str]:
    """Iterate over the arguments of which a variable was computed; the variable itself if they are unknown."""
    text = known.get(name, "")
    rest = {each: of for each, of in known.items() if each != name}
    node = ast.parse(text, mode="eval") if text else None
    found = [] if node is None else [*_read(failure.vmapped, node)]
    yield from (source for each in found for source in _sources(failure, rest, each)) if found else iter((name,))
