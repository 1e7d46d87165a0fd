"""Finds arrays that were deleted, and the calls that may have donated them."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ....records.call_stack import Frame, is_users
from ....records.cell_names import cells_with, known_as
from ....runtime.around import enclosed, is_a, is_exactly, member
from ....runtime.tracing import is_array
from ...analysis.written_paths import is_within, root_of
from ...record.failing_code import Kept
from ..changes import reach
from .aliases import Code, Keeping, keeping_of, other_methods
from .calls import is_missing, value_of
from .held import arrays_in
from .libraries.donating import arguments_donated
from .statement import Place, definition, span, was_evaluated

#: The names of the code of comprehensions.
_COMPREHENSIONS = "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"

#: Parts of a statement of which at most one runs.
_EXCLUSIVE: dict[type[ast.AST], tuple[set[str], ...]] = {
    ast.If: ({"body", "orelse"},),
    ast.Try: ({"handlers", "orelse"},),
}

#: So many calls inside of each other are followed to the one that donates.
_DEPTH = 3

#: At most this many calls are listed.
_MOST = 5


def deleted_in(place: Place, frame: FrameType) -> dict[str, Any]:
    """Return the arrays that were deleted, by their names in a failing expression."""
    node = place.node or place.statement
    found: dict[str, Any] = {}
    for each in ast.walk(node) if node is not None else ():
        if isinstance(each, ast.Name | ast.Attribute):
            held = arrays_in(ast.unparse(each), value_of(each, frame), is_array)
            found |= {name: array for name, array in held if array.is_deleted()}
    return found


class Donors(NamedTuple):
    """Calls that may have donated an array.

    Attributes:
        calls: as they are written, with their lines.
        before: whether they come only after the failure, so that they donated the array when they ran before.
        kept: the statement that kept the array under another name before they donated it, if there is one.
        names: the names of the array where they stand, if they are not those of the failing line.
    """

    calls: tuple[str, ...] = ()
    before: bool = False
    kept: Kept | None = None
    names: tuple[str, ...] = ()


class _Names(NamedTuple):
    """The variables of a function, as a frame has them."""

    f_locals: Mapping[str, Any]
    f_globals: Mapping[str, Any]


def donors_of(
    deleted: tuple[str, ...], arrays: Sequence[Any], frame: FrameType, where: Frame, place: Place
) -> Donors:
    """Return earlier calls that donate one of the names, with their lines: in the same function, file or cells.

    Only calls of functions that the failing line sees under the same name are found. Without an earlier one, also
    earlier in the failing line, it is this line, which has run before: in a loop, in another call of its function, or
    in the same cell; or a later line of the same loop.

    Args:
        deleted: the names of the arrays that were deleted.
        arrays: the arrays, which may have other names, such as in a state that a call donates.
        frame: the frame of the failing line.
        where: the failing line.
        place: the failing expression.
    """
    code = frame.f_code
    codes: list[Code] = []
    found: list[str] = []
    again: list[str] = []
    other: dict[str, None] = {}
    for file in cells_with(where.file):
        tree: ast.AST | None = _parsed(file)
        if tree is None:
            continue
        if code.co_name in _COMPREHENSIONS:  # a function of its own up to Python 3.11
            tree = place.statement if file == where.file else None
        elif code.co_name != "<module>":
            tree = definition(tree, code.co_name, code.co_firstlineno) if file == where.file else None
        nodes = list(_same_scope(tree))
        codes.append(Code(file, nodes))
        for node in nodes:
            gone: tuple[str, ...] = ()
            if isinstance(node, ast.Call):
                gone = _donates(node, deleted, frame, arrays) or (deleted if _deletes(node, deleted) else ())
            if not isinstance(node, ast.Call) or not gone:
                continue
            if file == where.file and tree is not None and _is_ruled_out(node, place, tree, gone):
                continue
            other |= dict.fromkeys(name for name in gone if name not in deleted)
            text = f"{ast.unparse(node)} ({known_as(file)}:{node.lineno})"
            earlier = node.lineno < where.line or (node.lineno == where.line and was_evaluated(node, place))
            if file != where.file or earlier:
                found.append(text)
            elif node.lineno == where.line or (tree is not None and _in_one_loop(node, place, tree)):
                again.append(text)
    kept = None if found else _kept(deleted, codes, frame, where, place)
    if kept is not None:
        calls = (f"{ast.unparse(node)} ({known_as(file)}:{node.lineno})" for file, node in kept.calls)
        return Donors(tuple(dict.fromkeys(calls))[:_MOST], False, _described(kept))
    return Donors(tuple(dict.fromkeys(found or again))[:_MOST], not found and bool(again), names=tuple(other))


def _kept(
    deleted: tuple[str, ...], codes: Sequence[Code], frame: FrameType, where: Frame, place: Place
) -> Keeping | None:
    """Return the statement that kept one of the arrays under another name, under which a call donated it."""
    number = [each.file for each in codes].index(where.file) if codes else 0
    tree = _parsed(frame.f_code.co_filename)
    earlier = [
        *codes[:number],
        *(Code(where.file, [*_same_scope(each)]) for each in other_methods(frame.f_code, tree)),
    ]
    line = where.line if place.statement is None else place.statement.lineno

    def donates(node: ast.Call, name: str) -> bool:
        return bool(_donates(node, (name,), frame))

    found = (keeping_of(each, [*earlier, *codes[number : number + 1]], line, donates) for each in deleted)
    return next((each for each in found if each is not None), None)


def _described(kept: Keeping) -> Kept:
    text = ast.unparse(kept.statement).partition("\n")[0]
    line = getattr(kept.statement, "lineno", 0)
    return Kept(statement=text, location=f"{known_as(kept.file)}:{line}", name=kept.name, is_array=kept.is_array)


def _parsed(file: str) -> ast.Module | None:
    """Parse a file or a cell; ``None`` if that is impossible."""
    return _tree_of("".join(linecache.getlines(file)))


@functools.lru_cache(maxsize=4)  # the file of a call is that of most functions that it calls
def _tree_of(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


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
    roots = {root_of(name) for name in deleted}
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
    return hasattr(node, "lineno") and span(node) == span(other)


def _same_scope(tree: ast.AST | None) -> Iterator[ast.AST]:
    """Iterate over the nodes of a function or a module without the functions inside of it."""
    for node in ast.iter_child_nodes(tree) if tree is not None else ():
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield node
            yield from _same_scope(node)


def _donates(
    node: ast.Call, deleted: tuple[str, ...], frame: FrameType, arrays: Sequence[Any] = ()
) -> tuple[str, ...]:
    """Return the names of the deleted arrays that a call donates."""
    given = list(_given_away(node, _Names(frame.f_locals, frame.f_globals)))
    named = tuple(name for name in deleted if any(is_within(name, each) for each in given))
    return named or tuple(name for each in given for name in names_of(arrays, each, frame))


def names_of(arrays: Sequence[Any], outer: str, frame: FrameType) -> list[str]:
    """Return the names of arrays inside the value of a name such as ``state``, without running code of its class."""
    value = value_of(ast.parse(outer, mode="eval").body, frame)
    found = () if is_missing(value) or not arrays else reach({outer: value}, code=False)
    return [each.path for each in found if any(each.value is array for array in arrays)]


def _given_away(node: ast.Call, seen: _Names, depth: int = _DEPTH) -> Iterator[str]:
    """Iterate over the arguments that a call donates: itself, or in the user's function that it calls."""
    called, skipped = value_of(node.func, seen), 0
    if is_exactly(called, staticmethod):
        called = called.__func__
    elif isinstance(node.func, ast.Attribute):
        skipped = int(_is_bound(node.func, called, seen))
    bound = skipped
    while is_exactly(called, functools.partial):
        called, skipped = called.func, skipped + len(called.args)
    yield from map(ast.unparse, arguments_donated(called, node, skipped))
    if depth > 0 and skipped == bound and is_exactly(called, FunctionType):
        yield from _given_away_in(called, node, seen, depth)


def _is_bound(node: ast.Attribute, called: object, seen: _Names) -> bool:
    """Return whether a call passes the object before the dot to a function of its class."""
    owner = value_of(node.value, seen)
    return not is_a(owner, (ModuleType, type)) and member(type(owner), node.attr) is called


def _given_away_in(called: FunctionType, node: ast.Call, seen: _Names, depth: int) -> Iterator[str]:
    """Iterate over the arguments that a function of the user donates in a call."""
    code = called.__code__
    if not is_users(Frame(function=code.co_name, file=code.co_filename, line=code.co_firstlineno)):
        return
    given = list(node.args)
    if isinstance(node.func, ast.Attribute) and _is_bound(node.func, called, seen):
        given.insert(0, node.func.value)
    if any(isinstance(each, ast.Starred) for each in given):
        return
    passed = dict(zip(code.co_varnames[: code.co_argcount], given, strict=False))
    passed |= {each.arg: each.value for each in node.keywords if each.arg}
    values = {name: value_of(each, seen) for name, each in passed.items()}
    inside = _Names({**enclosed(called), **values}, called.__globals__)
    nodes = list(_same_scope(definition(_parsed(code.co_filename), code.co_name, code.co_firstlineno)))
    kept = {ast.unparse(each) for part in nodes for each in _attributes_set(part)}
    for inner in nodes:
        for text in _given_away(inner, inside, depth - 1) if isinstance(inner, ast.Call) else ():
            root = next((each for each in passed if is_within(text, each)), None)
            if root is not None and text not in kept:
                yield ast.unparse(passed[root]) + text[len(root) :]


def _attributes_set(statement: ast.AST) -> list[ast.expr]:
    """Return the attributes that an assignment sets: they hold another array afterwards."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    return [each for each in parts if isinstance(each, ast.Attribute)]


def _deletes(node: ast.Call, deleted: tuple[str, ...]) -> bool:
    """Return whether a call is ``x.delete()`` of one of the arrays."""
    function = node.func
    return (
        isinstance(function, ast.Attribute) and function.attr == "delete" and ast.unparse(function.value) in deleted
    )
