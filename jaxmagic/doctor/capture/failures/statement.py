"""Finds the statement and the expression at which a frame stopped, from the positions that Python keeps with code."""

from __future__ import annotations

import ast
import dis
import functools
import importlib.machinery
import itertools
import linecache
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

from ....runtime.around import attribute, attributes, is_exactly

#: Instructions that go on by the truth of a value. TO_BOOL of Python 3.13 has the position of what it tests.
_TEST = re.compile(r"(POP_)?JUMP_(FORWARD_|BACKWARD_)?IF_(TRUE|FALSE)(_OR_POP)?")

#: A longer file is not parsed.
_LONGEST = 20_000


class Place(NamedTuple):
    """The place where code stopped.

    Attributes:
        operation: the name of the instruction.
        node: the smallest expression or statement around it; ``None`` if it was not found.
        statement: the statement around that.
        tree: the whole file.
        lines: its lines.
        outdated: whether the file has been changed since its code was made: it has no nodes then.
    """

    operation: str
    node: ast.AST | None = None
    statement: ast.stmt | None = None
    tree: ast.Module | None = None
    lines: tuple[str, ...] = ()
    outdated: bool = False

    @property
    def text(self) -> str | None:
        """The statement as it is written, dedented. An ``elif`` is part of its ``if``, and so is the other return."""
        if self.statement is None:
            return None
        end_of = self.other_return or self.statement
        first, last = self.statement.lineno - 1, end_of.end_lineno or end_of.lineno
        head = self.lines[first].encode()[: self.statement.col_offset].decode()
        begin = self.lines[first][len(head) :]
        end = self.lines[last - 1].encode()[: end_of.end_col_offset].decode()
        if last - 1 == first:
            return end[len(head) :]
        return textwrap.dedent("".join([" " * len(head) + begin, *self.lines[first + 1 : last - 1], end]))

    @property
    def other_return(self) -> ast.Return | None:
        """The ``return`` that follows on an ``if`` without ``else`` that returns as well."""
        found = self.statement
        if not isinstance(found, ast.If) or found.orelse or not isinstance(found.body[-1], ast.Return):
            return None
        blocks = [getattr(each, "body", None) for each in ast.walk(self.tree)] if self.tree is not None else []
        block: list[ast.stmt] = next((each for each in blocks if isinstance(each, list) and found in each), [])
        following = block[block.index(found) + 1 :][:1] if block else []
        return following[0] if following and isinstance(following[0], ast.Return) else None

    @property
    def whole(self) -> ast.AST | None:
        """The statement, with the other return."""
        parts = [each for each in (self.statement, self.other_return) if each is not None]
        return ast.Module(body=parts, type_ignores=[]) if parts else None

    @property
    def position(self) -> int | None:
        """The position of the node in ``ast.walk`` of the statement."""
        if self.statement is None:
            return None
        return next((place for place, each in enumerate(ast.walk(self.statement)) if each is self.node), None)


def operation(code: CodeType, offset: int) -> str:
    """Return the name of the instruction at an offset, such as ``"CALL"``."""
    return dis.opname[code.co_code[offset]] if 0 <= offset < len(code.co_code) else ""


def place_of(code: CodeType, offset: int) -> Place:
    """Return the place of an instruction; it has no nodes if the source cannot be read, or is other code."""
    name = operation(code, offset)
    lines = tuple(linecache.getlines(code.co_filename))
    positions = next(itertools.islice(code.co_positions(), offset // 2, None), ())
    span = [each for each in positions if each is not None]
    if len(span) != 4 or not 0 < len(lines) <= _LONGEST:
        return Place(name)
    if is_outdated(code, lines):
        return Place(name, outdated=True)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Place(name)
    node, statement = _innermost(tree, span)
    if _TEST.fullmatch(name):
        tested = _tested(code, offset)
        operand, around = _innermost(tree, tested) if len(tested) == 4 else (None, None)
        known = around is statement and isinstance(operand, ast.expr) and not _is_target(operand)
        if known:
            node = operand
        elif sys.version_info < (3, 12) and isinstance(node, ast.Compare):
            return Place(name, None, statement, tree, lines)
    if node is None:
        return _in_magic(lines, span, name) or Place(name, None, statement, tree, lines)
    return Place(name, node, statement, tree, lines)


def _is_target(node: ast.expr) -> bool:
    """Return whether an expression is what a value is assigned to, as in ``if (n := f(x))``."""
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _tested(code: CodeType, offset: int) -> list[int]:
    """Return the position of what an instruction tests for its truth; empty if that is unknown.

    Before Python 3.13, the test has the position of the whole condition, or of a comparison in front of it. The
    instruction before it computed what is tested, unless another one jumps to the test.
    """
    before: list[int] = []
    for each in dis.get_instructions(code):
        if each.is_jump_target:
            before = []
        if each.offset == offset:
            return before
        if each.opname not in ("COPY", "EXTENDED_ARG", "TO_BOOL"):
            at = each.positions
            before = [] if at is None else [each for each in at if each is not None]
    return []


def is_outdated(code: CodeType, lines: Sequence[str]) -> bool:
    """Return whether the lines of a module are surely not those that its code was made of; cells keep their text."""
    file = code.co_filename
    if not os.path.isfile(file):
        return False
    named = [each for each in _codes("".join(lines), file) if each.co_qualname == code.co_qualname]
    if any(_essence(each) == _essence(code) for each in named):
        return False
    module = next(
        (each for each in list(sys.modules.values()) if (attributes(each) or {}).get("__file__") == file), None
    )
    loader = attribute(attribute(module, "__spec__"), "loader")  # others may import other code than that of the file
    return is_exactly(loader, importlib.machinery.SourceFileLoader)


@functools.lru_cache(maxsize=8)
def _codes(text: str, file: str) -> tuple[CodeType, ...]:
    """Return the code of a file and of all functions in it; nothing if it cannot be compiled."""
    try:
        found = [compile(text, file, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    for each in found:  # grows meanwhile
        found += [inner for inner in each.co_consts if isinstance(inner, CodeType)]
    return tuple(found)


def _essence(code: CodeType) -> tuple[object, ...]:
    """Return what two codes of the same text have in common."""
    constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
    written = [sorted(map(repr, each)) if isinstance(each, frozenset) else repr(each) for each in constants]
    return code.co_qualname, code.co_code, code.co_names, code.co_varnames, written, [*code.co_positions()]


def _in_magic(lines: tuple[str, ...], span: Sequence[int], name: str) -> Place | None:
    """Return the place of an expression that a magic measures: its columns are inside of a string."""
    line, end_line, start, end = span
    if line != end_line or line > len(lines):
        return None
    text = lines[line - 1].encode()[start:end].decode(errors="replace")
    try:
        statement = ast.parse(text).body[0]
    except (SyntaxError, ValueError, RecursionError, IndexError):
        return None
    return Place(name, statement.value, statement, None, (text,)) if isinstance(statement, ast.Expr) else None


def _innermost(tree: ast.Module, span: Sequence[int]) -> tuple[ast.AST | None, ast.stmt | None]:
    """Return the expression or statement with a span, and the smallest statement around it.

    An ``elif`` belongs to the statement with the ``if``, because it is none without it.
    """
    line, end_line, column, end_column = span
    wanted = (line, column), (end_line, end_column)
    node: ast.AST = tree
    statement: ast.stmt | None = None
    while True:
        inner = next((each for each in ast.iter_child_nodes(node) if _covers(each, *wanted)), None)
        if inner is None:
            exact = not isinstance(node, ast.Module) and _extent(node) == wanted
            return (node if exact else None), statement
        if isinstance(inner, ast.stmt) and not _is_elif(node, inner):
            statement = inner
        node = inner


def _is_elif(parent: ast.AST, node: ast.AST) -> bool:
    return (
        isinstance(parent, ast.If)
        and isinstance(node, ast.If)
        and node in parent.orelse
        and node.col_offset == parent.col_offset
    )


def _extent(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]] | None:
    at = vars(node)
    if at.get("end_lineno") is None:
        return None
    return (at["lineno"], at["col_offset"]), (at["end_lineno"], at["end_col_offset"])


def _covers(node: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Return whether a node contains a span; nodes without a position, such as ``arguments``, by their children."""
    extent = _extent(node)
    if extent is None:
        return any(_covers(each, start, end) for each in ast.iter_child_nodes(node))
    return extent[0] <= start and end <= extent[1]


def definition(tree: ast.AST | None, name: str, line: int) -> ast.FunctionDef | None:
    """Return the definition of a function that begins on a line, with its decorators."""
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == line:
                return node
    return None


def optional_in(home: ast.FunctionDef | None) -> list[str]:
    """Return the parameters of a function that are ``None`` by default."""
    if home is None:
        return []
    positional = [*home.args.posonlyargs, *home.args.args]
    given = [*zip(reversed(positional), reversed(home.args.defaults), strict=False)]
    given += [(name, each) for name, each in zip(home.args.kwonlyargs, home.args.kw_defaults, strict=True) if each]
    return [name.arg for name, each in given if isinstance(each, ast.Constant) and each.value is None]


def was_evaluated(call: ast.Call, place: Place) -> bool:
    """Return whether a call on the line of a failure was evaluated before it; also if that cannot be told.

    It was if it stands in an earlier statement, or comes first in the failing one; its own arguments come before it.
    """
    failed, statement = place.node, place.statement
    if not isinstance(failed, ast.expr) or statement is None or place.tree is None:
        return failed is None or ast.unparse(failed) != ast.unparse(call)
    if (call.end_lineno, call.end_col_offset) <= (statement.lineno, statement.col_offset):
        return True
    order = [span(each) for each in _evaluated(statement)]
    if span(call) not in order or span(failed) not in order:
        return False
    return order.index(span(call)) < order.index(span(failed)) and not _exclude(call, failed, statement)


def span(node: ast.AST) -> tuple[Any, ...]:
    """Return the type and the position of a node, which are the same in another tree of its file."""
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
            body, other = ({span(inner) for inner in ast.walk(part)} for part in (each.body, each.orelse))
            if (span(call) in body and span(failed) in other) or (span(call) in other and span(failed) in body):
                return True
    return False
