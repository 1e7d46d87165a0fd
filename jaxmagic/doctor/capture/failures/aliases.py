"""Finds the lines that kept an array under another name before a call donated it, as ``best = state`` does."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import NamedTuple

from ...analysis.written_paths import is_within
from .statement import definition

#: So many names are followed from one to the next.
_DEPTH = 3

#: Methods of containers that store their last argument.
_STORING = "append", "add", "appendleft", "insert"

#: Functions that copy a container, and not the arrays in it.
_SHALLOW = "dict", "list", "tuple", "copy.copy", "copy"

_LOOPS = ast.For | ast.While | ast.AsyncFor


class Code(NamedTuple):
    """The statements of a function, or of a module.

    Attributes:
        file: the file.
        nodes: the nodes, without those of functions inside of it.
    """

    file: str
    nodes: Sequence[ast.AST]


class Keeping(NamedTuple):
    """A statement that keeps an array under another name.

    Attributes:
        file: its file.
        statement: the statement.
        name: what it keeps, as it is written.
        is_array: whether that is the array itself, rather than what holds it.
        calls: the calls that donated it later, with their files.
    """

    file: str
    statement: ast.AST
    name: str
    is_array: bool
    calls: tuple[tuple[str, ast.Call], ...]


class _Lines(NamedTuple):
    """The lines of a statement, in the code with a number."""

    code: int
    first: int
    last: int

    def has(self, other: _Lines) -> bool:
        """Return whether these lines contain others."""
        return self.code == other.code and self.first <= other.first and other.last <= self.last


class _Stored(NamedTuple):
    """A value that a statement stores in a target; ``h[*]`` stands for any item of ``h``."""

    at: _Lines
    statement: ast.AST
    target: str
    value: ast.expr


class _Scope(NamedTuple):
    """The assignments and calls of the code that decide which arrays a name holds.

    Attributes:
        stored: the values that are stored.
        loops: the lines of loops.
        blocks: the lines of statements that contain others.
        calls: the calls, with their files.
    """

    stored: list[_Stored]
    loops: list[_Lines]
    blocks: list[_Lines]
    calls: list[tuple[_Lines, str, ast.Call]]

    def loop_of(self, one: _Lines, other: _Lines) -> _Lines | None:
        """Return the innermost loop around two statements."""
        around = [each for each in self.loops if each.has(one) and each.has(other)]
        return max(around, key=lambda each: each.first, default=None)


def keeping_of(
    array: str, codes: Sequence[Code], line: int, donates: Callable[[ast.Call, str], bool]
) -> Keeping | None:
    """Return the last statement that kept an array which a call then donated under its other name.

    Args:
        array: the array, as it is named at the failing line, such as ``"best['w']"``.
        codes: the code in which to look, in the order in which it ran; the last one has the failing line.
        line: the failing line.
        donates: tells whether a call donates an array with a name.
    """
    scope = _Scope([], [], [], [])
    for number, code in enumerate(codes):
        for each in code.nodes:
            if not hasattr(each, "lineno"):
                continue
            at = _lines(number, each)
            scope.stored.extend(_Stored(at, each, target, value) for target, value in _stored(each))
            if isinstance(each, _LOOPS):
                scope.loops.append(at)
            if hasattr(each, "body"):
                scope.blocks.append(at)
            if isinstance(each, ast.Call):
                scope.calls.append((at, code.file, each))
    failed = _Lines(len(codes) - 1, line, line)
    return _keeping(array, scope, codes, failed, failed, donates, _DEPTH)


def other_methods(code: CodeType, tree: ast.Module | None) -> Iterator[ast.FunctionDef]:
    """Yield the other methods of the class of a method, if they call the object alike."""
    home = definition(tree, code.co_name, code.co_firstlineno)
    owner = [*code.co_varnames[: min(code.co_argcount, 1)]]
    for node in ast.walk(tree) if tree is not None and home is not None else ():
        if isinstance(node, ast.ClassDef) and home in node.body:
            methods = (each for each in node.body if isinstance(each, ast.FunctionDef) and each is not home)
            yield from (each for each in methods if [part.arg for part in each.args.args[:1]] == owner)


def _keeping(
    array: str,
    scope: _Scope,
    codes: Sequence[Code],
    used: _Lines,
    failed: _Lines,
    donates: Callable[[ast.Call, str], bool],
    depth: int,
) -> Keeping | None:
    """Return the last statement that kept an array which a line uses, by its own name or by the next one."""
    first_round = False
    for each in sorted(scope.stored, key=lambda one: one.at, reverse=True):
        rest = _rest(array, each.target)
        if rest is None or not (each.at < used or scope.loop_of(each.at, used)):
            continue
        for name, behind in _parts(each.value, rest):
            calls = tuple(
                (file, call)
                for at, file, call in scope.calls
                if donates(call, name + behind)
                and (at < failed or (scope.loop_of(at, failed) and not first_round))
                and _is_held(each, at, name, scope)
            )
            if calls:
                return Keeping(codes[each.at.code].file, each.statement, name, not behind, calls)
            earlier = _keeping(name + behind, scope, codes, each.at, failed, donates, depth - 1) if depth else None
            if earlier is not None:
                return earlier
        certain = all(block.has(used) for block in scope.blocks if block.has(each.at) and block != each.at)
        if certain and each.target == _root(array) and not isinstance(each.statement, _LOOPS):
            if each.at[:2] < used[:2]:
                return None
            first_round = True  # it counts only from the second round on
    return None


def _lines(code: int, node: ast.AST) -> _Lines:
    at = vars(node)
    return _Lines(code, at["lineno"], at.get("end_lineno") or at["lineno"])


def _is_held(kept: _Stored, call: _Lines, name: str, scope: _Scope) -> bool:
    """Return whether a name still holds at a call what a statement kept: nothing else was assigned to it between."""
    bound = [each.at for each in scope.stored if _rest(name, each.target) is not None and each.at != kept.at]
    if (kept.at.code, kept.at.last) < (call.code, call.first):
        return not any(kept.at < each and each[:2] < call[:2] and not each.has(call) for each in bound)
    loop = scope.loop_of(kept.at, call)
    if loop is None:
        return False
    return not any(loop.has(each) and not call.first <= each.last <= kept.at.first for each in bound)


def _root(name: str) -> str:
    return re.split(r"[.\[]", name)[0]


def _rest(name: str, target: str) -> str | None:
    """Return what follows on a target in a name.

    >>> _rest("best['w']", "best"), _rest("h[0]['w']", "h[*]"), _rest("best", "other")
    ("['w']", "['w']", None)
    """
    if target.endswith("[*]"):
        item = re.match(r"\[(?:'[^']*'|[^\]'])*\]", name[len(target) - 3 :])
        return name[len(target) - 3 + item.end() :] if name.startswith(target[:-2]) and item else None
    return name[len(target) :] if is_within(name, target) else None


def _stored(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Iterate over what a statement or an expression stores, and where."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _pairs(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield from _pairs(target, value)
        case ast.AugAssign(target=target, value=ast.List(elts=items)):
            yield from ((f"{ast.unparse(target)}[*]", each) for each in items)
        case ast.For(target=target, iter=ast.expr() as items) | ast.AsyncFor(target=target, iter=items):
            yield from _pairs(target, ast.Subscript(value=items, slice=ast.Constant(0), ctx=ast.Load()))
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[*_, value]) if method in _STORING:
            yield f"{ast.unparse(owner)}[*]", value


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Iterate over the variables of an assignment with their values."""
    if isinstance(target, ast.Tuple | ast.List):
        shown = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        for number, each in enumerate(target.elts):
            item = ast.Subscript(value=value, slice=ast.Constant(number), ctx=ast.Load())
            yield from _pairs(each, shown[number] if len(shown) == len(target.elts) else item)
    elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant):
        yield f"{ast.unparse(target.value)}[*]", value
    else:
        yield ast.unparse(target), value


def _parts(value: ast.expr, rest: str) -> Iterator[tuple[str, str]]:
    """Iterate over the names in a value of which the item that follows is an item, with what follows on each."""
    items: list[tuple[str, ast.expr]] = []
    match value:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield ast.unparse(value), rest
        case ast.NamedExpr(value=inner):
            items = [("", inner)]
        case ast.IfExp(body=body, orelse=other):
            items = [("", body), ("", other)]
        case ast.Tuple(elts=values) | ast.List(elts=values):
            items = [(f"[{number}]", each) for number, each in enumerate(values)]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            items = [("" if key is None else f"[{ast.unparse(key)}]", each) for key, each in pairs]
        case ast.Call(func=function, args=[inner]) if rest and ast.unparse(function) in _SHALLOW:
            items = [("", inner)]
        case ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[]) if rest:
            items = [("", inner)]
    for path, each in items:
        if rest.startswith(path):
            yield from _parts(each, rest[len(path) :])
