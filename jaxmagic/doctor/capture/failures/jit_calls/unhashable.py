"""Finds what makes an argument of a jitted function unhashable, inside tuples and frozen dataclasses as well."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from .....runtime.around import attributes, is_a, is_exactly, member, of_type
from .....runtime.tracing import is_array, is_tracer
from ..calls import MISSING

#: Types whose values can be hashed, whatever they are.
HASHABLE = int, float, complex, bool, str, bytes, type(None)

#: Parts inside of others are looked for down to this depth, and so many of them.
_DEEPEST, _MOST = 4, 100


#: The types of literals and comprehensions that cannot be hashed.
_DISPLAYS = {
    **dict.fromkeys((ast.List, ast.ListComp), "list"),
    **dict.fromkeys((ast.Dict, ast.DictComp), "dict"),
    **dict.fromkeys((ast.Set, ast.SetComp), "set"),
}


def unhashable_parts(
    node: ast.expr, value_at: Callable[[ast.expr], Any], path: str, depth: int = _DEEPEST
) -> Iterator[tuple[str, str]]:
    """Yield the parts of an argument that cannot be hashed, as far as its values or its syntax tell.

    Args:
        node: the argument.
        value_at: what gives the value of an expression without running code, or ``MISSING``.
        path: the parameter.
        depth: how deep its parts are looked through.
    """
    value = value_at(node)
    if value is not MISSING:
        yield from unhashable_in(value, path, depth)
    elif type(node) in _DISPLAYS:
        yield path, _DISPLAYS[type(node)]
    elif isinstance(node, ast.Tuple) and depth:
        for place, each in enumerate(node.elts[:_MOST]):
            yield from unhashable_parts(each, value_at, f"{path}[{place}]", depth - 1)
    elif isinstance(node, ast.Call):
        made = value_at(node.func)
        fields = _fields(made) if is_a(made, type) else {}
        if is_a(made, type) and getattr(made, "__hash__", None) is None:
            yield path, str(of_type("__name__", made))
        elif fields and depth:
            named = [(each.arg or "", each.value) for each in node.keywords]
            for name, each in [*zip(fields, node.args, strict=False), *named]:
                yield from unhashable_parts(each, value_at, f"{path}.{name}", depth - 1)
        elif not is_a(made, type) and str(getattr(made, "__module__", "")).partition(".")[0] in ("numpy", "jax"):
            yield path, "array"


def unhashable_in(value: Any, path: str, depth: int = _DEEPEST) -> Iterator[tuple[str, str]]:
    """Yield the parts of a value that cannot be hashed, such as ``cfg[0]``, with their types.

    >>> list(unhashable_in((1, [2], (3, {4: 5})), "cfg"))
    [('cfg[1]', 'list'), ('cfg[2][1]', 'dict')]
    """
    kind = type(value)
    if is_array(value) or is_tracer(value) or of_type("__name__", kind) == "ndarray":
        yield path, "array"
    elif getattr(kind, "__hash__", None) is None:
        yield path, str(of_type("__name__", kind))
    elif depth and is_a(value, tuple):
        for place, each in enumerate(tuple.__iter__(value)):
            if place < _MOST:
                yield from unhashable_in(each, f"{path}[{place}]", depth - 1)
    elif depth and _fields(kind):
        for name, each in (attributes(value) or {}).items():
            yield from unhashable_in(each, f"{path}.{name}", depth - 1)


def hashable(node: ast.expr, value_at: Callable[[ast.expr], Any]) -> ast.expr | None:
    """Return the expression with tuples, frozensets and pairs in place of what cannot be hashed; ``None`` if unknown.

    Args:
        node: the expression.
        value_at: what gives the value of an expression without running code, or ``MISSING``.
    """
    match node:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            found = [hashable(each, value_at) for each in items]
            return None if None in found else ast.Tuple([each for each in found if each is not None], ast.Load())
        case ast.Set(elts=items):
            return _call("frozenset", node) if all(_is_plain(each, value_at) for each in items) else None
        case ast.Dict(keys=keys, values=values) if None not in keys:
            texts = all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in keys)
            if not texts or not all(_is_plain(each, value_at) for each in values):
                return None
            pairs = ast.Call(ast.Attribute(node, "items", ast.Load()), [], [])
            return _call("tuple", _call("sorted", pairs))
        case ast.Call(func=called) if is_a(value_at(called), type) and _fields(value_at(called)):
            given = [hashable(each, value_at) for each in node.args]
            named = [(each.arg, hashable(each.value, value_at)) for each in node.keywords]
            if None in given or any(value is None for _, value in named):
                return None
            words = [ast.keyword(name, value) for name, value in named if value is not None]
            return ast.Call(called, [each for each in given if each is not None], words)
    value = value_at(node)
    if is_exactly(value, list) and all(is_exactly(each, *HASHABLE) for each in value):
        return _call("tuple", node)
    if is_exactly(value, set):
        return _call("frozenset", node)
    return node if _is_plain(node, value_at) else None


def _fields(kind: type) -> dict[str, Any]:
    """Return the fields of a dataclass; none for another class."""
    found = member(kind, "__dataclass_fields__")
    return found if is_exactly(found, dict) else {}


def _is_plain(node: ast.expr, value_at: Callable[[ast.expr], Any]) -> bool:
    """Return whether an expression is a number, a text or the like."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    value = value_at(node)
    return isinstance(inner, ast.Constant) or (value is not MISSING and is_exactly(value, *HASHABLE))


def _call(function: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])
