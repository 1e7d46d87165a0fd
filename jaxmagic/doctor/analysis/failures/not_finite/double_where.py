"""Writes ``jnp.where`` in front of an operation with an infinite derivative at zero, and behind it."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ....record.failure import Failure
from ...replaced_node import ReplacedNode
from ..expression import spelled
from .domains import Place, is_repeatable, is_steep
from .operations import Written, is_root

#: Statements in front of which another one can be written.
SIMPLE = ast.Return | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr

#: Expressions whose parts are not computed where the statement begins.
_LATER = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.IfExp | ast.BoolOp

#: Longer code is not shown.
_LONGEST = 400


def double_where(failure: Failure, found: Written, place: Place, names: Collection[str]) -> str | None:
    """Return the statement with the root of an operand that is zero in places; ``None`` if it cannot be written.

    At zero the value stays zero, and the gradient becomes zero.

    Args:
        failure: the error.
        found: the expression with the root.
        place: where its operand is.
        names: the names that the function uses.
    """
    owner, field, number, needs = place
    operand = getattr(owner, field) if number is None else getattr(owner, field)[number]
    if needs.steep != "0" or not is_root(found.node) or not is_repeatable(failure, operand) or is_steep(operand):
        return None
    jnp, first, inner = spelled(failure, "jax.numpy"), "", ast.unparse(operand)
    if not isinstance(operand, ast.Name):
        if not _can_begin(found):
            return None
        inner = _unused(names)
        first = f"{inner} = {ast.unparse(operand)}\n"
    kept = ast.parse(f"{jnp}.where({inner} > 0, {inner}, 1)", mode="eval").body
    if number is None:
        setattr(owner, field, kept)
    else:
        getattr(owner, field)[number] = kept
    root = ast.unparse(ast.fix_missing_locations(found.node))
    both = ast.parse(f"{jnp}.where({inner} > 0, {root}, 0)", mode="eval").body
    return _with_node(found, both, first)


def is_norm(failure: Failure, node: ast.AST) -> bool:
    """Return whether an expression is a Euclidean norm."""
    if not isinstance(node, ast.Call) or len(node.args) != 1:
        return False
    is_called = ast.unparse(node.func) == f"{spelled(failure, 'jax.numpy')}.linalg.norm"
    return is_called and all(each.arg in ("axis", "keepdims") for each in node.keywords)


def double_where_of_norm(failure: Failure, found: Written, names: Collection[str]) -> str | None:
    """Return the statement with the root of a sum of squares in place of a norm; ``None`` if it cannot be written."""
    node = found.node
    assert isinstance(node, ast.Call)
    if not is_repeatable(failure, node.args[0]) or not _can_begin(found):
        return None
    jnp, inner = spelled(failure, "jax.numpy"), _unused(names)
    options = "".join(f", {ast.unparse(each)}" for each in node.keywords)
    first = f"{inner} = {jnp}.sum({jnp}.abs({ast.unparse(node.args[0])}) ** 2{options})\n"
    root = f"{jnp}.where({inner} > 0, {jnp}.sqrt({jnp}.where({inner} > 0, {inner}, 1)), 0)"
    return _with_node(found, ast.parse(root, mode="eval").body, first)


def _can_begin(found: Written) -> bool:
    """Return whether another statement can be written in front, which computes a part of the expression."""
    return isinstance(found.statement, SIMPLE) and not any(isinstance(each, _LATER) for each in found.ancestors)


def _with_node(found: Written, new: ast.expr, first: str) -> str | None:
    statement = ReplacedNode(found.node, new).visit(found.statement)
    code = first + ast.unparse(ast.fix_missing_locations(statement))
    return code if len(code) <= _LONGEST else None


def _unused(names: Collection[str]) -> str:
    """Return a name that no variable has."""
    name = "inner"
    while name in names:
        name += "_"
    return name
