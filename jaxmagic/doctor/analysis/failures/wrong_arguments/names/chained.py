"""Translates the other methods of another library in a line, so that it runs as it is printed, or not at all."""

from __future__ import annotations

import ast

from .....record.failure import Failure
from ...expression import Expression, spelled, statements
from ..operands import fact
from .methods import IN_PLACE, IN_WORDS
from .renamed import RENAMED
from .templates import filled, template_of

#: A line has at most this many such methods.
_MOST = 20

#: Keywords of PyTorch's reductions.
_OF_REDUCTIONS = "dim", "keepdim"


def completed(failure: Failure, code: str) -> str | None:
    """Return code in which all methods that arrays of JAX lack are translated; ``None`` if one of them is not.

    Args:
        failure: the failure, with the names of these methods.
        code: a statement or an expression.
    """
    lacking = dict(each.split(":") for each in fact(failure, "lacking").split(", ") if each)
    written: str | None = code
    for _ in range(_MOST):
        body = statements(written) if written is not None else []
        calls = {id(each.func): each for part in body for each in ast.walk(part) if isinstance(each, ast.Call)}
        nodes = [each for part in body for each in _methods(failure, part)]
        foreign = [each for each in nodes if each.attr in lacking or _is_foreign(calls.get(id(each)))]
        if not foreign or written is None or len(body) != 1:
            return written
        node = foreign[0]
        call = calls.get(id(node))
        new = _jaxs(failure, node, call, lacking)
        old: ast.expr = node if call is None else call
        replaced = Expression(body[0], old, None)
        written = None if new is None else replaced.with_node(ast.parse(new, mode="eval").body)
    return None


def _methods(failure: Failure, node: ast.AST) -> list[ast.Attribute]:
    """Return the methods and attributes of values in code, the inner ones first, without the names of modules."""
    found = [part for each in ast.iter_child_nodes(node) for part in _methods(failure, each)]
    return [*found, node] if isinstance(node, ast.Attribute) and not _is_module(failure, node.value) else found


def _is_module(failure: Failure, node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in {spelled(failure, "numpy"), *dict(failure.names).values()}


def _is_foreign(call: ast.Call | None) -> bool:
    """Return whether a method that arrays have gets arguments that it takes in PyTorch alone."""
    match call:
        case ast.Call(func=ast.Attribute(attr="view"), args=[_, _, *_]):
            return True
        case ast.Call(func=ast.Attribute(attr="view"), args=[size]):
            return isinstance(size, ast.UnaryOp | ast.Tuple) or isinstance(getattr(size, "value", None), int)
        case ast.Call(func=ast.Attribute(attr="size")):
            return True
    return call is not None and any(each.arg in _OF_REDUCTIONS for each in call.keywords)


def _jaxs(failure: Failure, node: ast.Attribute, call: ast.Call | None, lacking: dict[str, str]) -> str | None:
    """Return what JAX has in place of a method or its call; ``None`` if that is not certain."""
    name, array = node.attr, ast.unparse(ast.Attribute(node.value, "x", ast.Load())).removesuffix(".x")
    if name in lacking:
        known = lacking[name] and name not in (*IN_PLACE, *IN_WORDS, "numpy", "values")
        template = template_of(failure, name, lacking[name].strip("?"), call) if known or name == "to" else ""
        return filled(failure, name, template, ast.unparse(node.value), call) if template else None
    if call is None:
        return None
    named = [f"{_new(each)}={ast.unparse(each.value)}" for each in call.keywords]
    given = ", ".join([*map(ast.unparse, call.args), *named])
    if name == "view":
        return f"{array}.reshape({given})"
    if name == "size":
        return None if len(call.args) > 1 or call.keywords else f"{array}.shape" + (f"[{given}]" if given else "")
    return f"{array}.{name}({given})"


def _new(keyword: ast.keyword) -> str:
    """Return the name that JAX has for a keyword."""
    return RENAMED.get(keyword.arg or "", keyword.arg or "")
