"""Tells whether a statement fills a cache on its first use, so that it never replaces a value by the next one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

#: Errors that Python raises for what is not there.
_ABSENCE = "AttributeError", "KeyError", "IndexError", "LookupError", "NameError", "Exception", "BaseException"

#: Methods that Python calls for what is not there.
_OF_ABSENT = "__missing__", "__getattr__"

#: Statements after which the following ones do not run.
_ENDS = ast.Return, ast.Raise, ast.Continue, ast.Break

#: Functions that make an empty container.
_EMPTY = "list", "dict", "set", "deque", "OrderedDict"


def fills(target: ast.expr, storing: ast.AST, function: ast.FunctionDef) -> bool:
    """Return whether a statement stores into a target only where nothing was stored yet, as a cache does.

    Args:
        target: what is stored into: the container for a method such as ``append``.
        storing: the assignment, or the call of a method.
        function: the function around it.
    """
    known = _Stored(target, storing, function)
    match storing:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            if known.is_kept(value):
                return True
        case ast.Call(func=ast.Attribute(attr="setdefault"), args=[_, value]):
            return not _is_empty(value) and not known.is_read(value)
        case ast.Call(args=[*_, value]) if _is_set(target):  # setattr(owner, "name", value)
            pass
        case ast.Call(args=args, keywords=keywords):
            if not known.is_looked_up(function, storing):  # what is only written is a log
                return False
            value = ast.Tuple([*args, *(each.value for each in keywords)], ast.Load())
        case _:
            return False
    if known.is_read(value):
        return False
    return function.name in _OF_ABSENT or any(known.is_absent(*each) for each in _around(storing, function))


def _around(storing: ast.AST, function: ast.FunctionDef) -> Iterator[tuple[ast.AST, list[ast.stmt], ast.AST]]:
    """Iterate over what is around a statement, the outermost first: the owner of a block, the block, and its part."""
    here: ast.AST = function
    while True:
        for block in _blocks(here):
            part = next((each for each in block if any(inner is storing for inner in ast.walk(each))), None)
            if part is not None:
                yield here, block, part
                here = part
                break
        else:
            return


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


class _Stored:
    """The target of a statement, with the variables that hold what was stored before.

    Attributes:
        container: the object that holds it.
        key: its index or its name in there, as it is written; empty for a method such as ``append``.
        texts: what it is called, with variables that get its value somewhere in the function.
        held: the same, without variables that have got another value before the statement.
    """

    def __init__(self, target: ast.expr, storing: ast.AST, function: ast.FunctionDef) -> None:
        self.texts = {ast.unparse(target)}
        match target:
            case _ if isinstance(storing, ast.Call) and not _is_set(target):
                self.container, self.key, self.texts = ast.unparse(target), "", set[str]()
            case ast.Subscript(value=owner, slice=index):
                self.container, self.key = ast.unparse(owner), ast.unparse(index)
            case ast.Attribute(value=owner, attr=name):
                self.container, self.key = ast.unparse(owner), repr(name)
            case _:
                self.container, self.key = "globals()", repr(ast.unparse(target))
        self.held = set(self.texts)
        for each in sorted(filter(_position, ast.walk(function)), key=_position):
            targets = [] if each is storing else _assigned(each)
            for name in targets:
                if len(targets) == 1 and self._is_value(each.value):  # type: ignore[attr-defined]
                    self.texts.add(name)
                    self.held.add(name)
                elif _position(each) < _position(storing):
                    self.held.discard(name)

    def _is_value(self, node: ast.expr) -> bool:
        """Return whether an expression is what was stored, or something in place of what is not there."""
        match node:
            case ast.NamedExpr(value=value):
                return self._is_value(value)
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[key, *default]):
                return self._is_part(owner, key) and _is_default(default)
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, key, *default]):
                return self._is_part(owner, key) and _is_default(default)
        return ast.unparse(node) in self.texts

    def _is_part(self, owner: ast.expr, key: ast.expr) -> bool:
        owned = ast.unparse(owner).removesuffix(".__dict__")
        owned = owned.partition("vars(")[2].removesuffix(")") if owned.startswith("vars(") else owned
        known = not self.key or ast.unparse(key) == self.key
        return bool(self.container) and owned == self.container.removesuffix(".__dict__") and known

    def is_read(self, node: ast.AST) -> bool:
        """Return whether code reads what was stored before."""
        sizes = {id(each.args[0]) for each in ast.walk(node) if isinstance(each, ast.Call) and self._is_size(each)}
        return any(
            isinstance(each, ast.expr) and id(each) not in sizes and self._holds(each) for each in ast.walk(node)
        )

    def is_looked_up(self, function: ast.FunctionDef, storing: ast.AST) -> bool:
        """Return whether a function reads an element of the container."""
        own = {id(each) for each in ast.walk(storing)}
        return any(
            isinstance(each, ast.Subscript) and id(each) not in own and ast.unparse(each.value) == self.container
            for each in ast.walk(function)
        )

    def _holds(self, node: ast.expr) -> bool:
        if not self.texts or (self.key and isinstance(node, ast.Subscript)):  # another element of the container
            whole = node.value if isinstance(node, ast.Subscript) else node
            return ast.unparse(whole) == self.container and isinstance(getattr(node, "ctx", None), ast.Load)
        return ast.unparse(node) in self.held or (isinstance(node, ast.Call) and self._is_value(node))

    def is_kept(self, value: ast.expr) -> bool:
        """Return whether a value is what was stored before, or another one if there is nothing."""
        match value:
            case ast.IfExp(test=test, body=body, orelse=other):
                if self.misses(test):
                    return self._is_value(other) and not self.is_read(body)
                return self.finds(test) and self._is_value(body) and not self.is_read(other)
            case ast.BoolOp(op=ast.Or(), values=[first, *others]):
                return self._is_value(first) and not any(map(self.is_read, others))
        return False

    def is_absent(self, owner: ast.AST, block: Sequence[ast.stmt], part: ast.AST) -> bool:
        """Return whether nothing was stored yet where a part of a block runs."""
        before = list(block[: next(place for place, each in enumerate(block) if each is part)])
        if any(self._leaves(each) for each in before):
            return True
        match owner:
            case ast.If(test=test, body=body):
                return self.misses(test, body) if block is body else self.finds(test)
            case ast.While(test=test, body=body):
                return block is body and self.misses(test)
            case ast.Try(body=tried, handlers=handlers) if isinstance(part, ast.ExceptHandler):
                return part in handlers and _names_absence(part.type) and any(map(self.is_read, tried))
        return False

    def _leaves(self, node: ast.stmt) -> bool:
        """Return whether a statement leaves the block if there is something already."""
        match node:
            case ast.If(test=test, body=[*_, last], orelse=other):
                return self.finds(test) and isinstance(last, _ENDS) and not other
            case ast.Try(body=[*_, last], handlers=handlers) if isinstance(last, ast.Return):
                return self.is_read(last) and all(_names_absence(each.type) for each in handlers)
            case ast.With(items=items, body=[*_, last]) if isinstance(last, ast.Return):
                return self.is_read(last) and any(_suppresses_absence(each.context_expr) for each in items)
        return False

    def misses(self, test: ast.expr, body: Sequence[ast.stmt] = ()) -> bool:
        """Return whether a test is true if nothing was stored yet, or only something for other inputs.

        Args:
            test: the test.
            body: what runs if it is true: what it assigns to is what the next test asks for.
        """
        match test:
            case ast.BoolOp(values=values):
                return any(self.misses(each, body) for each in values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.finds(operand) or _becomes(operand, body)
            case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[right]):
                return self._is_part(right, left)
            case ast.Compare(left=left, ops=[ast.Is() | ast.Eq() as op], comparators=[right]):
                return (_stands_for_nothing(op, right) and self._is_value(left)) or self._is_size(left)
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()]):
                return self._is_size(left)
            case ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot()], comparators=[right]):
                return _becomes(left, body, right) or _becomes(right, body, left)
        return False

    def finds(self, test: ast.expr) -> bool:
        """Return whether a test is true only if something was stored."""
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                return any(map(self.finds, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.misses(operand)
            case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
                return self._is_part(right, left)
            case ast.Compare(left=left, ops=[ast.IsNot() | ast.NotEq() as op], comparators=[right]):
                return _stands_for_nothing(op, right) and self._is_value(left)
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()]):
                return self._is_size(left)
            case ast.Call(func=ast.Name(id="hasattr"), args=[owner, key]):
                return self._is_part(owner, key)
        return self._is_value(test) or self._is_size(test) or ast.unparse(test) == self.container

    def _is_size(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and ast.unparse(node) == f"len({self.container})"


def _is_default(default: Sequence[ast.expr]) -> bool:
    """Return whether a default is none, a constant such as ``None``, or an object with a name."""
    return all(isinstance(each, ast.Name | ast.Constant) for each in default)


def _stands_for_nothing(op: ast.cmpop, other: ast.expr) -> bool:
    """Return whether a comparison tests for ``None``, or for an object that stands for nothing."""
    is_none = isinstance(other, ast.Constant) and other.value is None
    return is_none or (isinstance(op, ast.Is | ast.IsNot) and isinstance(other, ast.Name))


def _position(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0)


def _assigned(node: ast.AST) -> list[str]:
    """Return the variables to which a statement or an expression assigns one value."""
    match node:
        case ast.Assign(targets=targets):
            return [each.id for each in targets if isinstance(each, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()) | ast.NamedExpr(target=ast.Name(id=name)):
            return [name]
    return []


def _is_set(target: ast.expr) -> bool:
    """Return whether a value is assigned to a target, rather than added to it by a method."""
    return isinstance(getattr(target, "ctx", None), ast.Store)


def _is_empty(node: ast.expr) -> bool:
    match node:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=called):
            return ast.unparse(called).rpartition(".")[2] in _EMPTY
    return False


def _becomes(flag: ast.expr, body: Sequence[ast.stmt], value: ast.expr | None = None) -> bool:
    """Return whether statements assign a constant, or a value, to what a test asks for."""
    text = ast.unparse(flag)
    for each in body:
        if isinstance(each, ast.Assign) and any(ast.unparse(target) == text for target in each.targets):
            return isinstance(each.value, ast.Constant) if value is None else ast.dump(each.value) == ast.dump(value)
    return False


def _names_absence(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return all(each is None or ast.unparse(each) in _ABSENCE for each in kinds)


def _suppresses_absence(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == "suppress"
        and all(map(_names_absence, node.args))
    )
