"""Tells from the syntax whether a value that the code waits for decides what runs next."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ....records.call_stack import Frame
from ..rewriting.syntax import last_name
from .dependencies import derived_from, names_read, targets_of
from .syntax import around, calls_of, function_around, loop_around

#: The functions that people call to read an array, by JAX's function that waits.
_READS = {
    "__float__": ("float",),
    "__int__": ("int", "round"),
    "__bool__": ("bool",),
    "__index__": ("int", "range"),
    "__complex__": ("complex",),
    "__array__": ("asarray", "array"),
    "__format__": ("format",),
    "__str__": ("print", "str"),
    "__repr__": ("print", "repr"),
}

#: Calls that read an array, whatever JAX's function is: each has one of these names.
_READ_ALWAYS = ("float", "int", "item", "tolist", "device_get", "asarray", "print", "str")

#: Methods of arrays that wait.
_METHODS = "item", "tolist", "block_until"

#: Functions of Python that ask what kind of object something is, and not for its value.
_ASK_KIND = frozenset({"callable", "hasattr", "isinstance", "issubclass"})

#: Functions of Python that choose by what a function of theirs returns.
_CHOOSING = frozenset({"max", "min", "sorted"})

#: Functions that return containers of Python.
_CONTAINERS = frozenset({"defaultdict", "deque", "dict", "list"})

#: Degrees of certainty that an expression is the one that waits.
_UNSURE, _LIKELY, _SURE = 1, 2, 3


class _Parts(NamedTuple):
    """The expressions of a line: those that conditions consist of, and all others."""

    conditions: list[ast.expr]
    others: list[ast.AST]


def decides(line: Frame, function: str) -> bool:
    """Return whether the value for which the code waits at a line takes part in a condition.

    It does if the expression that waits is part of a condition on this line, or if a condition in the loop reads
    what it is assigned to, directly or through other variables.

    Args:
        line: the line that waits.
        function: the function of JAX that waits, such as ``"__float__"``.
    """
    nodes = around(line)
    if not nodes:
        return False
    parts = _parts(nodes, line.line)
    counters = _counters(nodes)
    inside = max((_certainty(each, function, counters) for each in parts.conditions), default=0)
    outside = max((_certainty(each, function, set()) for each in parts.others), default=0)
    if function == "__bool__" and outside < _SURE:
        return True  # Python asks for the truth of an array only in a condition, or in bool()
    if inside and inside >= outside:
        return True
    return bool(_read_by_conditions(line, nodes, function))


def chosen_by_values(line: Frame, function: str) -> str:
    """Return how Python chooses, by values that it reads, what a function gets in the next round of a loop.

    That is a list or dictionary with such an index, or ``max(values, key=...)``. Empty if the syntax shows none.

    Args:
        line: the line that calls the function.
        function: its name.
    """
    nodes, loop = around(line), loop_around(line)
    calls = [each for node in nodes[-1:] for each in calls_of(function, node, line)]
    if loop is None or len(calls) != 1:
        return ""
    statements = [each for each in ast.walk(loop) if isinstance(each, ast.stmt) and not hasattr(each, "body")]
    found = [(each, [node for node in _calls(each) if _is_read(node)]) for each in statements]
    read = derived_from(loop, {name for each, reads in found if reads for name in targets_of(each, reads)})
    containers = _containers(function_around(line) or nodes[0])
    for each in statements:
        for node in ast.walk(each):
            chosen = _is_choice(node, read, containers)
            inside = any(
                one is node for argument in (*calls[0].args, *calls[0].keywords) for one in ast.walk(argument)
            )
            if chosen and (inside or names_read(calls[0]) & derived_from(loop, targets_of(each, None))):
                return ast.unparse(node)
    return ""


def _calls(node: ast.AST) -> list[ast.Call]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)]


def _is_read(node: ast.AST) -> bool:
    """Return whether an expression is known to read the value of an array, if it gets one."""
    return isinstance(node, ast.Call) and last_name(node.func) in _READ_ALWAYS and last_name(node.func) != "print"


def _is_choice(node: ast.AST, read: set[str], containers: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[_, *_], keywords=[ast.keyword(arg="key")]) if name in _CHOOSING:
            return any(names_read(each) & read for each in (*node.args, *node.keywords))
        case ast.Subscript(value=container, slice=index) if ast.unparse(container) in containers:
            return bool(names_read(index) & read) or any(map(_is_read, ast.walk(index)))
    return False


def _containers(scope: ast.AST) -> set[str]:
    """Return the variables and attributes to which nothing but lists and dictionaries is assigned."""
    kinds: dict[str, set[bool]] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                kinds.setdefault(ast.unparse(target), set()).add(_is_container(node.value))
    return {name for name, found in kinds.items() if found == {True}}


def _is_container(value: ast.expr) -> bool:
    called = last_name(value.func) if isinstance(value, ast.Call) else None
    return isinstance(value, ast.Dict | ast.DictComp | ast.List | ast.ListComp) or called in _CONTAINERS


def _parts(nodes: list[ast.AST], line: int) -> _Parts:
    """Divide the expressions of a line into conditions and others."""
    outer = [node for node in nodes[:-1] if isinstance(node, ast.If | ast.While)]
    conditions = [node.test for node in outer if _has(node.test, line)]
    others: list[ast.AST] = []
    pending: list[ast.AST] = [nodes[-1]]
    while pending:
        node = pending.pop()
        tests = _tests(node)
        conditions += [each for each in tests if _has(each, line)]
        body = getattr(node, "body", None)
        for each in ast.iter_child_nodes(node):
            is_later = isinstance(body, list) and isinstance(each, ast.stmt)
            if not is_later and not any(each is test for test in tests):
                others += [each] if isinstance(each, ast.Call | ast.FormattedValue | ast.Subscript) else []
                pending.append(each)
    return _Parts(conditions, [each for each in others if _has(each, line)])


def _has(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", None) or 0)


def _tests(node: ast.AST) -> list[ast.expr]:
    """Return the expressions whose value decides what else of a node runs."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return [test]
        case ast.BoolOp(values=values):
            return values[:-1]
        case ast.comprehension(ifs=ifs):
            return ifs
        case ast.Match(subject=subject):
            return [subject]
    return []


def _counters(nodes: list[ast.AST]) -> set[str]:
    """Return the names that the loops around a line count with, which are no arrays of a device."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            called, target = last_name(node.iter.func), node.target
            if called == "range" and isinstance(target, ast.Name):
                found.add(target.id)
            elif called == "enumerate" and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
                found.add(target.elts[0].id)
    return found


def _certainty(node: ast.AST, function: str, counters: set[str]) -> int:
    """Return the certainty that an expression contains the one that waits; 0 if it does not."""
    found = 0
    for each in ast.walk(node):
        if isinstance(each, ast.FormattedValue):
            found = max(found, _LIKELY if names_read(each.value) - counters else 0)
        elif isinstance(each, ast.Call):
            name, method = last_name(each.func) or "", isinstance(each.func, ast.Attribute)
            values = {name for argument in (*each.args, *each.keywords) for name in names_read(argument)}
            if method and name.startswith(_METHODS):
                found = max(found, _SURE if function == name else _LIKELY)
            elif not values - counters:
                continue
            elif name in _READS.get(function, (function,)):
                found = _SURE
            else:
                found = max(found, _LIKELY if name in _READ_ALWAYS else _UNSURE)
        elif isinstance(each, ast.Subscript) and function == "__index__":
            found = max(found, _UNSURE)
    return found


def _read_by_conditions(line: Frame, nodes: list[ast.AST], function: str) -> set[str]:
    """Return the variables with the value, or computed from it, that conditions of the loop or function read."""
    statement = nodes[-1]
    scope = loop_around(line) or function_around(line) or nodes[0]
    reads = [each for each in ast.walk(statement) if isinstance(each, ast.Call) and _certainty(each, function, set())]
    derived = derived_from(scope, targets_of(statement, reads))
    tests = (test for each in ast.walk(scope) for test in _tests(each))
    return derived & {name for test in tests for name in _values_in(test)}


def _values_in(test: ast.AST) -> set[str]:
    """Return the names whose values a condition asks for, and not only what kind of object they are.

    >>> sorted(_values_in(ast.parse("x is None or isinstance(y, int) or not z > 1", mode="eval").body))
    ['z']
    """
    match test:
        case ast.BoolOp(values=parts):
            return {name for each in parts for name in _values_in(each)}
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _values_in(operand)
        case ast.Call(func=ast.Name(id=name)) if name in _ASK_KIND:
            return set()
        case ast.Compare(ops=ops) if all(isinstance(each, ast.Is | ast.IsNot) for each in ops):
            return set()
    return names_read(test)
