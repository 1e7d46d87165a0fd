"""Rewrites a sort of which few elements are used with ``jax.lax.top_k``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from ...analysis.parsed_code import parsed
from ...analysis.replaced_node import ReplacedNode

#: The functions and methods that sort.
_SORTS = ("sort", "argsort")


class _End(NamedTuple):
    """The number of elements that are used, as the user wrote it, and which ones."""

    number: ast.expr
    largest: bool


def with_top_k(statement: str, end: str, rank: int = 0) -> str | None:
    """Return a statement with ``top_k`` in place of its only sliced sort; ``None`` if it is written otherwise.

    Args:
        statement: the source of the statement.
        end: which elements are used, ``"smallest"`` or ``"largest"``.
        rank: how many axes the array has; 0 if that is unknown.

    >>> with_top_k("best = jnp.argsort(-scores)[:k]", "smallest")
    'best = jax.lax.top_k(scores, k)[1]'
    >>> with_top_k("return jnp.sort(x)[..., -5:]", "largest")
    'return jax.lax.top_k(x, 5)[0][..., ::-1]'
    >>> with_top_k("near = jnp.argsort(r, axis=1)[:, :k]", "smallest", 2)
    'near = jax.lax.top_k(-r, k)[1]'
    """
    text = f"def _():\n {statement}" if statement.startswith("return") else statement
    tree = parsed(text)
    sliced = [each for each in ast.walk(tree) if isinstance(each, ast.Subscript) and _array(each.value, rank)]
    if len(sliced) != 1 or len(tree.body) != 1:
        return None
    (old,) = sliced
    array, part = _array(old.value, rank), _end(old.slice)
    if array is None or part is None or part.largest != (end == "largest"):
        return None
    new = ast.parse(_written(array, part, indices=_name(old.value) == "argsort"), mode="eval").body
    written = ast.unparse(ReplacedNode(old, new).visit(tree))
    return written.partition("\n")[2].strip() if statement.startswith("return") else written


def top_k_of(statement: str, end: str, used: int, *, indices: bool, rank: int = 0) -> str:
    """Return ``top_k`` of what the only sort in a statement sorts; empty if that is unclear.

    Args:
        statement: the source of the statement.
        end: which elements of what is sorted are used, ``"smallest"`` or ``"largest"``.
        used: how many.
        indices: whether indices are used.
        rank: how many axes the array has; 0 if that is unknown.

    >>> top_k_of("order = jnp.argsort(-scores)", "smallest", 5, indices=True)
    'jax.lax.top_k(scores, 5)[1]'
    >>> top_k_of("y = jnp.sort(a + b)", "smallest", 5, indices=False)
    '-jax.lax.top_k(-(a + b), 5)[0]'
    """
    tree = parsed(f"def _():\n {statement}")
    named = [each for each in ast.walk(tree) if isinstance(each, ast.Attribute) and each.attr in _SORTS]
    arrays = [_sorted(each, rank) for each in ast.walk(tree) if isinstance(each, ast.Call) and each.func in named]
    array = arrays[0] if len(arrays) == len(named) == 1 else None
    if array is None or named[0].attr != ("argsort" if indices else "sort"):
        return ""
    if end == "largest":
        return f"jax.lax.top_k({ast.unparse(array)}, {used})[{int(indices)}]"
    return _written(array, _End(ast.Constant(used), False), indices=indices)


def _sorted(call: ast.Call, rank: int) -> ast.expr | None:
    """Return what a call of a function of JAX sorts along its last axis, in either direction; ``None`` if unclear."""
    options = {each.arg: ast.unparse(each.value) for each in call.keywords}
    function = ast.unparse(call.func).rpartition(".")[0]
    if function not in ("jnp", "jax.numpy") or len(call.args) != 1 or not _is_last(options, rank):
        return None
    known = options.keys() <= {"axis", "descending", "stable"} and not isinstance(call.args[0], ast.Starred)
    return call.args[0] if known else None


def _written(array: ast.expr, part: _End, *, indices: bool) -> str:
    count = ast.unparse(part.number)
    if part.largest:
        return f"jax.lax.top_k({ast.unparse(array)}, {count})[{int(indices)}][..., ::-1]"
    is_negated = isinstance(array, ast.UnaryOp) and isinstance(array.op, ast.USub)
    negated = array.operand if is_negated and isinstance(array, ast.UnaryOp) else ast.UnaryOp(ast.USub(), array)
    return f"{'' if indices else '-'}jax.lax.top_k({ast.unparse(negated)}, {count})[{int(indices)}]"


def _is_last(options: Mapping[str | None, str], rank: int) -> bool:
    """Return whether a call with these keywords sorts along the last axis."""
    return options.get("axis", "-1") in ("-1", str(rank - 1))


def _array(node: ast.expr, rank: int) -> ast.expr | None:
    """Return what ``jnp.sort(x)`` or ``jnp.argsort(x, axis=-1)`` sorts; ``None`` if it is no such call."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="jnp" | "jax") | ast.Attribute(), attr=name),  # jax.numpy.sort(x)
            args=[array],
            keywords=[*keywords],
        ):
            options = {each.arg: ast.unparse(each.value) for each in keywords}
            fits = name in _SORTS and options.keys() <= {"axis"} and _is_last(options, rank)
            return array if fits else None
    return None


def _name(node: ast.expr) -> str:
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _end(index: ast.expr) -> _End | None:
    """Return which end an index takes, such as ``[:k]``, ``[..., -k:]`` or ``[:, :k]``."""
    if isinstance(index, ast.Tuple):
        *before, index = index.elts
        whole = ("...", ":")
        if any(ast.unparse(each) not in whole for each in before):
            return None
    match index:
        case ast.Slice(lower=None, upper=ast.expr() as count, step=None) if not _is_negative(count):
            return _End(count, False)
        case ast.Slice(lower=ast.UnaryOp(op=ast.USub(), operand=count), upper=None, step=None):
            return _End(count, True)
    return None


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp)
