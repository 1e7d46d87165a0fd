"""Finds arrays that were deleted, the calls that may have donated them, and what takes memory."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

from ....records.call_stack import Frame
from ....records.cell_names import known_as
from ....runtime.functions import donated_arguments
from ....runtime.tracing import is_array
from .calls import value_of
from .held import arrays_in
from .statement import Place, definition

#: The names of the code of comprehensions.
_COMPREHENSIONS = "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"

#: Parts of a statement of which at most one runs.
_EXCLUSIVE: dict[type[ast.AST], tuple[set[str], ...]] = {
    ast.If: ({"body", "orelse"},),
    ast.Try: ({"handlers", "orelse"},),
}

#: At most this many arrays are listed.
_MOST = 5


def deleted_in(place: Place, frame: FrameType) -> tuple[str, ...]:
    """Return the names in a failing expression that hold arrays that were deleted."""
    node = place.node or place.statement
    names: dict[str, None] = {}
    for each in ast.walk(node) if node is not None else ():
        if isinstance(each, ast.Name | ast.Attribute):
            held = arrays_in(ast.unparse(each), value_of(each, frame), is_array)
            names |= dict.fromkeys(name for name, array in held if array.is_deleted())
    return tuple(names)[:_MOST]


class Donors(NamedTuple):
    """Calls that may have donated an array.

    Attributes:
        calls: as they are written, with their lines.
        before: whether they come only after the failure, so that they donated the array when they ran before.
    """

    calls: tuple[str, ...] = ()
    before: bool = False


def donors_of(deleted: tuple[str, ...], frame: FrameType, where: Frame, place: Place) -> Donors:
    """Return earlier calls that donate one of the names, with their lines: in the same function, file or cells.

    Only calls of functions that the failing line sees under the same name are found. Without an earlier one, also
    earlier in the failing line, it is this line, which has run before: in a loop, in another call of its function, or
    in the same cell; or a later line of the same loop.
    """
    code = frame.f_code
    found = []
    again = []
    for file in _files(where.file):
        try:
            tree: ast.AST | None = ast.parse("".join(linecache.getlines(file)))
        except (SyntaxError, ValueError, RecursionError):
            continue
        if code.co_name in _COMPREHENSIONS:  # a function of its own up to Python 3.11
            tree = place.statement if file == where.file else None
        elif code.co_name != "<module>":
            tree = definition(tree, code.co_name, code.co_firstlineno) if file == where.file else None
        for node in _same_scope(tree):
            if not isinstance(node, ast.Call) or not (_donates(node, deleted, frame) or _deletes(node, deleted)):
                continue
            if file == where.file and tree is not None and _is_ruled_out(node, place, tree, deleted):
                continue
            text = f"{ast.unparse(node)} ({known_as(file)}:{node.lineno})"
            earlier = node.lineno < where.line or (node.lineno == where.line and was_evaluated(node, place))
            if file != where.file or earlier:
                found.append(text)
            elif node.lineno == where.line or (tree is not None and _in_one_loop(node, place, tree)):
                again.append(text)
    return Donors(tuple(dict.fromkeys(found or again))[:_MOST], not found and bool(again))


def _is_ruled_out(call: ast.Call, place: Place, tree: ast.AST, deleted: tuple[str, ...]) -> bool:
    """Return whether an earlier call has surely not deleted the arrays that a failing statement uses.

    It is in a branch that did not run, or the variables have got other arrays since.
    """
    there, here = _path(tree, call), _path(tree, place.statement)
    if any(isinstance(node, ast.If) and node.test is not None and _is_never(node, part) for node, part in there):
        return True
    if not here:
        return False
    for (node, part), (other, other_part) in zip(there, here, strict=False):
        if isinstance(node, ast.For | ast.While | ast.AsyncFor):  # a branch of an earlier round may have run
            return False
        if node is not other:
            break
        if part != other_part and {part, other_part} in _EXCLUSIVE.get(type(node), ()):
            return True
    roots = {name.partition(".")[0].partition("[")[0] for name in deleted}
    before = (call.end_lineno or 0, call.end_col_offset or 0)
    return any(
        isinstance(each, ast.Assign | ast.AnnAssign)
        and before <= (each.end_lineno or 0, each.end_col_offset or 0)
        and (each.end_lineno or 0) < (place.statement.lineno if place.statement is not None else 0)
        and roots <= {part.id for target in _targets(each) for part in ast.walk(target) if isinstance(part, ast.Name)}
        for node, part in here
        for each in getattr(node, part, [])
        if isinstance(getattr(node, part, None), list)
    )


def _in_one_loop(call: ast.Call, place: Place, tree: ast.AST) -> bool:
    """Return whether a call and the failing statement are in the same loop."""
    pairs = zip(_path(tree, call), _path(tree, place.statement), strict=False)
    return any(
        node is other and isinstance(node, ast.For | ast.While | ast.AsyncFor) for (node, _), (other, _) in pairs
    )


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """Return the variables that an assignment binds: not those whose element or attribute it sets."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [each for each in targets if isinstance(each, ast.Name | ast.Tuple | ast.List)]


def _is_never(node: ast.If, part: str) -> bool:
    """Return whether a branch never runs, by a constant condition."""
    return isinstance(node.test, ast.Constant) and part == ("orelse" if node.test.value else "body")


def _path(tree: ast.AST, inner: ast.AST | None) -> list[tuple[ast.AST, str]]:
    """Return the nodes around a node, the outermost first, with the name of the field that it is in."""
    for name, value in ast.iter_fields(tree):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST) and inner is not None:
                if _is_same(each, inner):
                    return [(tree, name)]
                path = _path(each, inner)
                if path:
                    return [(tree, name), *path]
    return []


def _is_same(node: ast.AST, other: ast.AST) -> bool:
    """Return whether nodes of two trees of one file are the same."""
    return hasattr(node, "lineno") and _span(node) == _span(other)


def was_evaluated(call: ast.Call, place: Place) -> bool:
    """Return whether a call on the line of a failure was evaluated before it; also if that cannot be told.

    It was if it stands in an earlier statement, or comes first in the failing one; its own arguments come before it.
    """
    failed, statement = place.node, place.statement
    if not isinstance(failed, ast.expr) or statement is None or place.tree is None:
        return failed is None or ast.unparse(failed) != ast.unparse(call)
    if (call.end_lineno, call.end_col_offset) <= (statement.lineno, statement.col_offset):
        return True
    order = [_span(each) for each in _evaluated(statement)]
    if _span(call) not in order or _span(failed) not in order:
        return False
    return order.index(_span(call)) < order.index(_span(failed)) and not _exclude(call, failed, statement)


def _span(node: ast.AST) -> tuple[Any, ...]:
    names = "lineno", "col_offset", "end_lineno", "end_col_offset"
    return type(node), *(getattr(node, name, None) for name in names)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Iterate over the nodes of a statement in the order in which their evaluation ends."""
    parts: list[ast.AST] = list(ast.iter_child_nodes(node))
    match node:
        case ast.IfExp(test=test, body=body, orelse=other):
            parts = [test, body, other]
        case ast.Assign(targets=targets, value=value):
            parts = [value, *targets]
    for each in parts:
        yield from _evaluated(each)
    yield node


def _exclude(call: ast.AST, failed: ast.AST, statement: ast.stmt) -> bool:
    """Return whether one of two nodes is evaluated only where the other one is not."""
    for each in ast.walk(statement):
        if isinstance(each, ast.IfExp):
            body, other = ({_span(inner) for inner in ast.walk(part)} for part in (each.body, each.orelse))
            if (_span(call) in body and _span(failed) in other) or (_span(call) in other and _span(failed) in body):
                return True
    return False


def _same_scope(tree: ast.AST | None) -> Iterator[ast.AST]:
    """Iterate over the nodes of a function or a module without the functions inside of it."""
    for node in ast.iter_child_nodes(tree) if tree is not None else ():
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield node
            yield from _same_scope(node)


def _files(file: str) -> list[str]:
    """Return a file, or all cells if it is one."""
    if known_as(file) == file:
        return [file]
    return [each for each in list(linecache.cache) if known_as(each) != each]


def _donates(node: ast.Call, deleted: tuple[str, ...], frame: FrameType) -> bool:
    donated = donated_arguments(value_of(node.func, frame))
    if donated is None:
        return False
    numbers, names = donated
    given = [ast.unparse(each) for number, each in enumerate(node.args) if number in numbers]
    given += [ast.unparse(each.value) for each in node.keywords if each.arg in names]
    return any(name == each or name.startswith((f"{each}[", f"{each}.")) for name in deleted for each in given)


def _deletes(node: ast.Call, deleted: tuple[str, ...]) -> bool:
    """Return whether a call is ``x.delete()`` of one of the arrays."""
    function = node.func
    return (
        isinstance(function, ast.Attribute) and function.attr == "delete" and ast.unparse(function.value) in deleted
    )


def largest_alive(namespace: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return the largest live arrays with the names that hold them, and their bytes on all devices."""
    from ....memory_use.capture.live_arrays import list_live_arrays

    try:
        arrays = list_live_arrays(namespace).arrays
    except Exception:  # a device that is out of memory may answer nothing more
        return ()
    named = ((each.names[0] if each.names else "no name", each) for each in arrays[:_MOST])
    return tuple((f"{name} {each.shape}", each.own_bytes) for name, each in named)
