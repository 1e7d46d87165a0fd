"""Finds what makes an argument of a jitted function unhashable, inside tuples and frozen dataclasses as well."""

from __future__ import annotations

import ast
import itertools
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
    value, items = value_at(node), pairs_of(node, value_at)
    if value is not MISSING:
        yield from unhashable_in(value, path, depth)
    elif items is not None:
        yield from itertools.islice(unhashable_parts(items, value_at, ast.unparse(items), depth), 1, None)
    elif isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.Set) or type(node) in _DISPLAYS:
        if type(node) in _DISPLAYS:
            yield path, _DISPLAYS[type(node)]
        for place, each in written_in(node, path) if depth else ():
            yield from unhashable_parts(each, value_at, place, depth - 1)
    elif isinstance(node, ast.Call):
        made = value_at(node.func)
        fields = fields_of(made) if is_a(made, type) else {}
        if is_a(made, type) and getattr(made, "__hash__", None) is None:
            yield path, str(of_type("__name__", made))
        elif fields and depth:
            named = [(each.arg or "", each.value) for each in node.keywords]
            for name, each in [*zip(fields, node.args, strict=False), *named]:
                yield from unhashable_parts(each, value_at, f"{path}.{name}", depth - 1)
        elif not is_a(made, type) and str(getattr(made, "__module__", "")).partition(".")[0] in ("numpy", "jax"):
            yield path, "array"


def written_in(node: ast.expr, path: str) -> Iterator[tuple[str, ast.expr]]:
    """Iterate over the items or values of a literal, with their paths."""
    if isinstance(node, ast.Tuple | ast.List):
        yield from ((f"{path}[{place}]", each) for place, each in enumerate(node.elts[:_MOST]))
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys[:_MOST], node.values, strict=False)
        yield from ((f"{path}[{ast.unparse(key)}]", each) for key, each in pairs if key is not None)


def unhashable_in(value: Any, path: str, depth: int = _DEEPEST) -> Iterator[tuple[str, str]]:
    """Yield the parts of a value that cannot be hashed, such as ``cfg[0]``, with their types.

    >>> list(unhashable_in((1, [2], (3, {4: {5}})), "cfg"))
    [('cfg[1]', 'list'), ('cfg[2][1]', 'dict'), ('cfg[2][1][4]', 'set')]
    """
    kind = type(value)
    if is_array(value) or is_tracer(value) or of_type("__name__", kind) == "ndarray":
        yield path, "array"
        return
    if getattr(kind, "__hash__", None) is None:
        yield path, str(of_type("__name__", kind))
    elif not is_a(value, tuple) and not fields_of(kind):
        return
    if depth:
        for place, each in _inside(value, path):
            yield from unhashable_in(each, place, depth - 1)


def pairs_of(node: ast.expr, value_at: Callable[[ast.expr], Any]) -> ast.expr | None:
    """Return the dictionary of which an expression such as ``tuple(sorted(cfg.items()))`` makes pairs.

    It is ``None`` for another expression.
    """
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        if node.func.id not in ("tuple", "sorted") or node.keywords or value_at(node.func) is not MISSING:
            return None
        node = node.args[0]
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[], keywords=[]):
            is_dict = isinstance(owner, ast.Dict) or is_exactly(value_at(owner), dict)
            return owner if is_dict else None
    return None


def not_traced(value: Any, path: str, depth: int = _DEEPEST) -> Iterator[tuple[str, str]]:
    """Yield the parts of a value that ``jit`` cannot trace, such as texts, with their types.

    >>> list(not_traced({"kind": "relu", "sizes": [1, len]}, "cfg"))
    [("cfg['kind']", 'str'), ("cfg['sizes'][1]", 'builtin_function_or_method')]
    """
    if is_exactly(value, str, bytes) or (callable(value) and not fields_of(type(value))):
        yield path, str(of_type("__name__", type(value)))
    elif depth:
        for place, each in _inside(value, path):
            yield from not_traced(each, place, depth - 1)


def fields_of(kind: type) -> dict[str, Any]:
    """Return the fields of a dataclass; none for another class."""
    found = member(kind, "__dataclass_fields__")
    return found if is_exactly(found, dict) else {}


def names_in(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a named tuple; none for another class."""
    found: Any = member(kind, "_fields")
    return found if is_exactly(found, tuple) else ()


def _inside(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Iterate over the items, values or fields of a value, with their paths."""
    if is_a(value, (list, tuple)):
        items = (list if is_a(value, list) else tuple).__iter__(value)
        names = names_in(type(value)) if is_a(value, tuple) else ()
        for place, each in enumerate(itertools.islice(items, _MOST)):
            yield f"{path}.{names[place]}" if place < len(names) else f"{path}[{place}]", each
    elif is_a(value, dict):
        for key, each in itertools.islice(dict.items(value), _MOST):
            if is_exactly(key, str, int):
                yield f"{path}[{key!r}]", each
    elif fields := fields_of(type(value)):
        for name, each in (attributes(value) or {}).items():
            if name in fields:
                yield f"{path}.{name}", each
