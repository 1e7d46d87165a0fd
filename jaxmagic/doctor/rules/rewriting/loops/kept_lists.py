"""Tells how a list that a loop fills is used: that nothing sees it before the loop ends, and as what after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.cell_names import cells_with
from ...host.syntax import Function, around, function_around, own_nodes
from ..syntax import last_name, parameters, tree_of
from .loop_facts import Appended

#: Functions of Python that do the same with the rows of an array as with the elements of a list.
_OF_SEQUENCES = frozenset({"enumerate", "len", "list", "max", "min", "reversed", "sum", "tuple", "zip"})

#: Managers that keep an exception from the code after them.
_SUPPRESSING = frozenset({"raises", "suppress"})


class Extreme(NamedTuple):
    """A statement that keeps the least or the largest item of a list so far, as ``best = min(best, losses[-1])``.

    Attributes:
        statement: the statement.
        name: the variable that keeps it.
        function: ``"min"`` or ``"max"``.
    """

    statement: ast.Assign
    name: str
    function: str


def extreme_after(appends: ast.stmt, kept: str, line: Frame) -> Extreme | None:
    """Return the statement that follows the one that appends to a list, if it keeps the least or largest item."""
    owners = around(line)[-2:-1]
    blocks = (block for each in owners for _, block in ast.iter_fields(each) if isinstance(block, list))
    block = next((each for each in blocks if appends in each), [])
    following = block[block.index(appends) + 1 :][:1] if block else []
    match following:
        case [
            ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Name(id="min" | "max" as function),
                    args=[
                        ast.Name(id=before),
                        ast.Subscript(value=ast.Name(id=items), slice=ast.UnaryOp(ast.USub(), ast.Constant(value=1))),
                    ],
                    keywords=[],
                ),
            ) as statement
        ] if before == name and items == kept:
            return Extreme(statement, name, function)
    return None


def is_kept_until_after(extreme: Extreme, loop: ast.For | ast.While, line: Frame) -> bool:
    """Return whether nothing else sees, until a loop has ended, the variable that keeps the least or largest item."""
    scope = function_around(line) or tree_of(line.file)
    return scope is not None and _uses(loop, extreme.name) == 2 and not _is_seen(extreme.name, scope, line.file)


def loop_that_fills(line: Frame, kept: str, besides: ast.stmt | None = None) -> ast.For | ast.While | None:
    """Return the outermost loop that appends to a list at a line; ``None`` if other code may see the list before.

    The list has to be made empty before the loop, in the same function or module. Until the loop has ended, this
    line is the only one that names it. So the list has no other name, and holds nothing else.

    Args:
        line: the line that appends.
        kept: the variable that holds the list.
        besides: another statement that may name it.
    """
    times = 1 + (0 if besides is None else _uses(besides, kept))
    nodes = around(line)
    scopes = [number for number, each in enumerate(nodes) if isinstance(each, ast.Module | Function | ast.ClassDef)]
    path = nodes[scopes[-1] :] if scopes else []
    if len(path) < 2 or any(map(_catches, path)) or _is_seen(kept, path[0], line.file):
        return None
    loop: ast.For | ast.While | None = None
    for owner, inner in zip(path[-2::-1], path[:0:-1], strict=True):
        before = _before(inner, owner)
        if before is None:
            return None
        last = next((each for each in reversed(before) if _uses(each, kept)), None)
        if last is not None:
            return loop if _makes_empty(last, kept) else None
        if isinstance(owner, ast.For | ast.While):
            loop = owner
            if _uses(owner, kept) != times:
                return None
        elif any(_uses(each, kept) for each in ast.iter_child_nodes(owner) if not isinstance(each, ast.stmt)):
            return None  # its condition, or its parameters
    return None


def _catches(node: ast.AST) -> bool:
    """Return whether code goes on after an exception in a statement, or whether it is no place for a loop of ours."""
    match node:
        case ast.Try() | ast.TryStar() | ast.AsyncFor() | ast.ClassDef():
            return True
        case ast.With(items=items) | ast.AsyncWith(items=items):
            calls = (call for each in items for call in ast.walk(each) if isinstance(call, ast.Call))
            return any(last_name(each.func) in _SUPPRESSING for each in calls)
    return False


def _before(inner: ast.AST, owner: ast.AST) -> list[ast.stmt] | None:
    """Return the statements before another one in the same block; ``None`` if they are not found."""
    for _, block in ast.iter_fields(owner):
        if isinstance(block, list) and any(each is inner for each in block):
            return block[: next(number for number, each in enumerate(block) if each is inner)]
    return None


def _uses(node: ast.AST, name: str) -> int:
    """Return how often some code, with the functions inside it, names a variable."""
    return sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _makes_empty(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement assigns a new, empty list to a variable, and to nothing else.

    >>> _makes_empty(ast.parse("losses, errors = [], []").body[0], "losses")
    True
    >>> _makes_empty(ast.parse("losses = errors = []").body[0], "losses")
    False
    """
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=value):
            return value is not None and _is_empty(value)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pairs = [(to, value) for to, value in zip(targets, values, strict=False) if _uses(to, name)]
            alone = len(pairs) == 1 and isinstance(pairs[0][0], ast.Name)
            return alone and _is_empty(pairs[0][1]) and not any(_uses(each, name) for each in values)
    return False


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Call(func=ast.Name(id="list"), args=[], keywords=[]):
            return True
    return False


def _is_seen(name: str, scope: ast.AST, file: str) -> bool:
    """Return whether functions see a variable of a scope, or whether it belongs to another scope."""
    if isinstance(scope, ast.Module):
        trees = [tree for each in cells_with(file) if (tree := tree_of(each)) is not None]
        return any(_closes_over(each, name) for each in trees)
    return _is_declared(name, own_nodes(scope)) or _closes_over(scope, name)


def _is_declared(name: str, nodes: Iterator[ast.AST]) -> bool:
    return any(isinstance(each, ast.Global | ast.Nonlocal) and name in each.names for each in nodes)


def _closes_over(scope: ast.AST, name: str) -> bool:
    """Return whether a function or class inside a scope names a variable of it.

    >>> _closes_over(ast.parse("def show(): print(losses)"), "losses")
    True
    >>> _closes_over(ast.parse("def train(): losses = []; return losses"), "losses")
    False
    """
    pending = [*ast.iter_child_nodes(scope)]
    while pending:
        each = pending.pop()
        if not isinstance(each, Function | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(each)
            continue
        if isinstance(each, ast.ClassDef):  # its body has run before
            sees = _closes_over(each, name)
        else:
            own = [node for node in own_nodes(each) if isinstance(node, ast.Name) and node.id == name]
            binds = name in parameters(each) or any(isinstance(node.ctx, ast.Store) for node in own)
            sees = not binds and (bool(own) or _closes_over(each, name))
        if sees or _is_declared(name, own_nodes(each)):
            return True
    return False


def is_used_as_array(collected: Appended, loop: ast.For, function: ast.AST) -> bool:
    """Return whether a list may be an array after a loop: ``ys + zs`` would add its elements, and not join lists."""
    if isinstance(collected.value, ast.Dict | ast.Tuple | ast.List | ast.Set):
        return False
    end = loop.end_lineno or 0
    parents = {id(child): node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    uses = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == collected.name)
    return all(_takes_array(each, parents) for each in uses if each.lineno > end)


def _takes_array(used: ast.AST, parents: Mapping[int, ast.AST]) -> bool:
    """Return whether what uses a list, or a part of it, does the same with an array of the elements."""
    node = parents.get(id(used))
    match node:
        case ast.Call(func=ast.Name(id=name)) if used in node.args:
            return name in _OF_SEQUENCES
        case ast.Call(func=ast.Attribute() as called) if used in node.args:
            return ast.unparse(called).split(".")[0] in ("jax", "jnp", "lax", "np", "numpy")
        case ast.Return():  # the advice says that it is an array
            return True
        case ast.Tuple(ctx=ast.Load()) | ast.Dict() | ast.Subscript(slice=ast.Slice(), ctx=ast.Load()):
            return _takes_array(node, parents)
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value is used
        case ast.For(iter=source) | ast.comprehension(iter=source):
            return source is used
    return False
