"""Advises what to write where a traced value chooses one of several lists, which code joins to others by ``+``."""

from __future__ import annotations

import ast
import copy
import re

from .....records.note import Note, note
from ....record.failure import Failure
from ...replaced_node import ReplacedNode
from ..expression import Expression, before_dot, value_named
from ..origin import fallback

_DISPLAYS = ast.List | ast.Tuple

#: Arithmetic that computes the same with an array as with each of its elements.
_ARITHMETIC = ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod


def is_joined(failing: Expression, *, lists: bool) -> bool:
    """Return whether ``+`` joins the failing expression with a list.

    Args:
        failing: the failing expression, which takes an item.
        lists: whether this item is known to be a list or a tuple; else the other operand has to be one.
    """
    parent = failing.parent
    if isinstance(parent, ast.AugAssign):
        return lists and isinstance(parent.op, ast.Add)
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Add):
        return False
    return lists or isinstance(parent.left, _DISPLAYS) or isinstance(parent.right, _DISPLAYS)


def joined_lists(failure: Failure, failing: Expression, jnp: str) -> Note:
    """Return the advice for the item of a list of lists: one array, in place of all of them."""
    node = failing.node
    assert isinstance(node, ast.Subscript)
    traced, joined = failure.traced, is_joined(failing, lists=True)
    outermost = traced is not None and traced.transform == "jit" and failure.nested is False
    goes_on = outermost and not failure.vmapped and failure.call is None and fallback(failure) is None
    return note(
        "doctor.write_joined_lists",
        items=ast.unparse(node.value),
        index=ast.unparse(node.slice),
        jnp=jnp,
        joined=joined,
        code=(_all_at_once(failure, failing, node, jnp) or "") if joined else "",
        function=traced.function if goes_on and traced is not None else "",
    )


def joined_arrays(failure: Failure, failing: Expression | None, jnp: str) -> tuple[str, bool]:
    """Return ``x, jnp.array([1, 2])`` for ``x + [1, 2]``, and whether that is evidently meant to join; empty if not.

    A list of another length than the array cannot be added to it, and nobody adds a list of one item.
    """
    node = None if failing is None else failing.node
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) and len(failure.operands) == 2 else []
    found = [*zip(failure.operands, sides, strict=False)]
    lists = [(each, side) for each, side in found if each.type in ("list", "tuple") or isinstance(side, _DISPLAYS)]
    if len(lists) != 1:
        return "", False
    (operand, side), array = lists[0], next(each for each, _ in found if each is not lists[0][0])
    if array.shape is not None and len(array.shape) != 1:
        return "", False
    count = len(side.elts) if isinstance(side, _DISPLAYS) else len(operand.items)
    meant = count > 0 and array.shape != (count,) and (array.shape is not None or count == 1)
    texts = (f"{jnp}.array({ast.unparse(node)})" if node is side else ast.unparse(node) for node in sides)
    return ", ".join(texts), meant


def _all_at_once(failure: Failure, failing: Expression, node: ast.Subscript, jnp: str) -> str | None:
    """Return ``a = jnp.concatenate([a[i // 2], i[:, None]], axis=1)`` for ``a = [a[j // 2] + [j] for j in i]``."""
    match failing.statement:
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.ListComp(
                elt=ast.BinOp(left=left, op=ast.Add(), right=ast.List(elts=[last])),
                generators=[ast.comprehension(target=ast.Name(id=each), iter=ast.Name() as whole, ifs=[])],
            ),
        ) if left is node and isinstance(node.value, ast.Name):
            value = value_named(failure, whole.id)
            if value is None or re.search(r"\[\d+\]$", value.type) is None:
                return None
            rows, column = _of_all(node.slice, each, whole), _of_all(last, each, whole)
            if node.value.id != target or rows is None or column is None:
                return None
            taken = ast.unparse(ast.Subscript(node.value, rows, ast.Load()))
            return f"{target} = {jnp}.concatenate([{taken}, {before_dot(ast.unparse(column))}[:, None]], axis=1)"
    return None


def _of_all(node: ast.expr, each: str, whole: ast.Name) -> ast.expr | None:
    """Return arithmetic with one element as that with the whole array; ``None`` for anything else."""
    new = copy.deepcopy(node)
    waiting, found = [new], list[ast.Name]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name) and part.id == each:
            found.append(part)
        elif isinstance(part, ast.BinOp) and isinstance(part.op, _ARITHMETIC):
            waiting += [part.left, part.right]
        elif any(isinstance(inner, ast.Name) and inner.id == each for inner in ast.walk(part)):
            return None
    if len(found) != 1:
        return None
    replaced: ast.expr = ReplacedNode(found[0], whole).visit(new)
    return replaced
