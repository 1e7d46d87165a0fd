"""Tells from the syntax which variables may be texts, which jit does not take."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator

from ...host.syntax import Function, own_nodes
from ..jit.arguments import given_by
from ..syntax import last_name, parameters, stored
from .python_numbers import MAKE_NUMBERS, assignments

#: Functions of Python that return texts whatever they get.
_MAKE_TEXTS = frozenset({"format", "repr", "str"})

#: Methods that return texts, or what holds texts, of what is or holds some.
_KEEP_TEXTS = frozenset({"format", "items", "join", "keys", "lower", "split", "strip", "upper", "values"})


def texts_of(scope: ast.AST, begun: Collection[str] = ()) -> set[str]:
    r"""Return the variables of a function or module that may be texts or hold some, as far as the syntax tells.

    Args:
        scope: the function or module.
        begun: the variables that are texts from the beginning.

    >>> sorted(texts_of(ast.parse("a = f'{i}'\nfor b in ['x', 'y'] * 2:\n    c = table['z']\n    d = b")))
    ['a', 'b', 'd']
    """
    nodes = [*own_nodes(scope)]
    compared = {each.id for node in nodes for each in _compared(node) if isinstance(each, ast.Name)}
    found = {*begun} | compared
    sources = [(name, value) for name, value in assignments(scope) if value is not None]
    sources += [
        pair for node in nodes if isinstance(node, ast.For) for pair in _taken(node.target, node.iter) if pair[0]
    ]
    while True:
        more = {name for name, value in sources if _has_text(value, found)} - found
        if not more:
            return found
        found |= more


def texts_in(scope: ast.AST, tree: ast.Module) -> set[str]:
    """Return the variables that may be texts in a function or module, also its parameters and what it reads.

    Args:
        scope: the function or module.
        tree: what is known of the code around it.
    """
    if not isinstance(scope, Function):
        return texts_of(scope)
    around = texts_of(tree)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and last_name(each.func) == scope.name]
    passed = {name for call in calls for name, value in given_by(call, scope) if _has_text(value, around)}
    return texts_of(scope, passed | (around - parameters(scope) - stored(scope.body)))


def returns_text(function: Function) -> bool:
    """Return whether a function may return a text, which jit does not, as far as its syntax tells."""
    texts = texts_of(function)
    values = (each.value for each in own_nodes(function) if isinstance(each, ast.Return) and each.value is not None)
    return any(_has_text(each, texts) for each in values)


def _compared(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is compared with texts."""
    match node:
        case ast.Compare(left=left, comparators=others):
            if any(_has_text(each) for each in (left, *others)):
                yield from (left, *others)
        case ast.Match(subject=subject, cases=cases):
            values = (each.value for case in cases for each in ast.walk(case) if isinstance(each, ast.MatchValue))
            if any(map(_has_text, values)):
                yield subject


def _taken(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the variables of a loop with what holds their values."""
    match target, iterated:
        case ast.Name(id=name), _:
            yield name, iterated
        case ast.Tuple(elts=[_, item]), ast.Call(func=ast.Name(id="enumerate"), args=[items, *_]):
            yield from _taken(item, items)
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=args) if len(targets) == len(args):
            for each in zip(targets, args, strict=True):
                yield from _taken(*each)
        case ast.Tuple(elts=[ast.Name(id=name), item]), ast.Call(func=ast.Attribute(attr="items")):
            yield name, ast.Constant("")  # keys are texts, as a rule
            yield from _taken(item, iterated)
        case _:
            yield from ((name, iterated) for name in sorted(stored([target])))


def _has_text(value: ast.AST, texts: Collection[str] = ()) -> bool:
    """Return whether an expression is a text or a collection with one; a key of a dictionary is none."""

    def has(inner: ast.AST) -> bool:
        return _has_text(inner, texts)

    match value:
        case ast.Constant(value=constant):
            return isinstance(constant, str)
        case ast.Name(id=name):
            return name in texts
        case ast.JoinedStr():
            return True
        case ast.Subscript(value=inner):
            return has(inner)
        case ast.Dict(values=values):
            return any(map(has, values))
        case ast.Call(func=ast.Name(id=name)) if name in _MAKE_TEXTS:
            return True
        case ast.Call(func=ast.Name(id=name), args=args):
            return name not in MAKE_NUMBERS and hasattr(builtins, name) and any(map(has, args))
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr in _KEEP_TEXTS:
            return has(inner)
        case ast.Call() | ast.Compare() | ast.Lambda():
            return False
    return any(map(has, ast.iter_child_nodes(value)))
