"""Tells from the syntax on what the end of a loop depends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal, NamedTuple

from .....records.call_stack import Frame
from ....record.evidence import Evidence
from ...host.dependencies import names_read, targets_of
from ...host.syntax import Comprehension, Function, Loop, around, assigned, calls_of, loop_around, own_nodes
from ..syntax import last_name

#: The end of a loop: after a number of rounds or items; by values that it computes or goes over; or by something that
#: JAX cannot ask, such as a clock or a queue.
End = Literal["count", "value", "host"]

#: Functions that do not go over all items if the first ones decide.
_STOPPING = frozenset({"all", "any", "next", "takewhile"})

#: Functions of modules with these names compute from their arguments alone.
_COMPUTING = frozenset({"jax", "jnp", "lax", "math", "np", "numpy"})


def end_of(loop: Loop) -> End:
    """Return on what the end of a loop depends.

    >>> end_of(ast.parse("while err > 1e-6: x, err = step(x)").body[0])
    'value'
    >>> end_of(ast.parse("while i < 100: x, i = step(x), i + 1").body[0])
    'count'
    >>> end_of(ast.parse("while time.time() < deadline: x = step(x)").body[0])
    'host'
    """
    counted = _counted(loop)
    changed = _changed(loop) - counted
    tests = [each for test in _tests(loop) for each in _conditions(test)]
    open_ = [each for each in tests if names_read(each) & changed or not names_read(each) & counted]
    if any(_asks_host(each, changed) for each in open_):
        return "host"
    return "value" if any(names_read(each) & changed for each in open_) else "count"


class CallingLoop(NamedTuple):
    """A loop that calls a function.

    Attributes:
        end: its end.
        line: the line in it that calls the function, or calls one that does.
        called: the function that this line calls.
        loop: the loop; ``None`` for a comprehension and the like.
    """

    end: End
    line: Frame
    called: str
    loop: Loop | None


def calling_loop(line: Frame, function: str, evidence: Evidence) -> CallingLoop | None:
    """Return the loop that calls a jitted function; ``None`` if no loop is known to do so.

    Args:
        line: the line that calls it.
        function: its name.
        evidence: a line outside of loops is followed to the lines that call the function around it.
    """
    name = function
    for site in (line, *_callers(line, evidence)):
        statement = around(site)[-1:]
        if site is not line and not any(_calls(node, name) for node in statement):
            return None
        loop = loop_around(site)
        ends = [end for node in statement for end in _ends_of_comprehensions(node, name, site)]
        if ends:
            return CallingLoop(ends[0], site, name, None)
        if loop is not None:
            return CallingLoop(end_of(loop), site, name, loop)
        name = site.function.rpartition(".")[2]
    return None


def _callers(line: Frame, evidence: Evidence) -> tuple[Frame, ...]:
    """Return the user's lines outwards from that of a function in the first sample that shows it."""
    for share in evidence.host or ():
        places = [(each.function, each.file) for each in share.stack]
        if (line.function, line.file) in places:
            return share.stack[places.index((line.function, line.file)) + 1 :]
    return ()


def _calls(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Call) and last_name(each.func) == name for each in ast.walk(node))


def _ends_of_comprehensions(statement: ast.AST, name: str, line: Frame) -> Iterator[End]:
    """Yield the ends of comprehensions and the like in a statement that call a function, the outermost first."""
    for node in ast.walk(statement):
        if isinstance(node, Comprehension) and calls_of(name, node, line):
            yield "count"
        elif isinstance(node, ast.Call) and any(calls_of(name, each, line) for each in node.args):
            called = last_name(node.func)
            if called in _STOPPING and not any(isinstance(each, ast.ListComp) for each in node.args):
                yield "value"
            elif called in ("map", "vectorize"):
                yield "count"


def _tests(loop: Loop) -> Iterator[ast.expr]:
    """Yield the expressions whose values decide whether a loop goes on."""
    if isinstance(loop, ast.While):
        yield loop.test
    for statement in loop.body:
        yield from _tests_in(statement, breaks=True)


def _tests_in(statement: ast.stmt, *, breaks: bool) -> Iterator[ast.expr]:
    inner = list(_statements(statement))
    if isinstance(statement, ast.Assert):
        yield statement.test
    elif isinstance(statement, ast.If | ast.Match) and any(_leaves(each, breaks=breaks) for each in inner):
        yield statement.test if isinstance(statement, ast.If) else statement.subject
    for each in inner:
        yield from _tests_in(each, breaks=breaks and not isinstance(statement, Loop))


def _leaves(statement: ast.stmt, *, breaks: bool) -> bool:
    """Return whether a statement leaves a loop.

    Args:
        statement: the statement.
        breaks: whether its ``break`` is that of the loop, and not of one inside it.
    """
    if isinstance(statement, ast.Return | ast.Raise):
        return True
    if isinstance(statement, ast.Break):
        return breaks
    return any(_leaves(each, breaks=breaks and not isinstance(statement, Loop)) for each in _statements(statement))


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements right inside one, but none of a function or class that it defines."""
    for each in () if isinstance(node, Function | ast.ClassDef) else ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            yield each
        elif isinstance(each, ast.ExceptHandler | ast.match_case):
            yield from _statements(each)


def _conditions(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of a condition, but not those that ask whether there is a value, as ``batch is None`` does."""
    match test:
        case ast.BoolOp(values=values):
            for each in values:
                yield from _conditions(each)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _conditions(operand)
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            pass
        case _:
            yield test


def _asks_host(test: ast.expr, changed: set[str]) -> bool:
    """Return whether a condition calls what does not compute from its arguments alone, as far as the syntax tells."""
    return any(isinstance(each, ast.Call) and _is_of_host(each, changed) for each in ast.walk(test))


def _is_of_host(call: ast.Call, changed: set[str]) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if owner is None:
        return not call.args and not call.keywords
    if isinstance(owner, ast.Call | ast.Subscript | ast.BinOp) or names_read(owner) & changed:
        return False  # a method of a value
    root = ast.unparse(owner).split(".")[0]
    return root not in _COMPUTING and not (root == "self" and bool(call.args))


def _changed(loop: Loop) -> set[str]:
    """Return what a loop assigns, in its body or while it tests, and the items that it goes over."""
    found = {name for node in own_nodes(loop) if isinstance(node, ast.stmt) for name in targets_of(node, None)}
    found |= {each.target.id for each in own_nodes(loop) if isinstance(each, ast.NamedExpr)}
    return found | (_items(loop) if isinstance(loop, ast.For) else set())


def _items(loop: ast.For) -> set[str]:
    """Return the variables of the items of a loop, but not those that count."""
    target, called = loop.target, last_name(loop.iter.func) if isinstance(loop.iter, ast.Call) else None
    if called == "range":
        return set()
    if called == "enumerate" and isinstance(target, ast.Tuple):
        return {name for each in target.elts[1:] for name in assigned(each)}
    return assigned(target)


def _counted(loop: Loop) -> set[str]:
    """Return the variables that a loop changes by nothing but numbers that are written out, as counters are."""
    counted: set[str] = set()
    others: set[str] = set()
    for node in own_nodes(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
                counted.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(
                values
            ):
                for target, value in zip(targets, values, strict=True):
                    (counted if _is_count(target, value) else others).update(assigned(target))
            case ast.Assign(targets=[target], value=value):
                (counted if _is_count(target, value) else others).update(assigned(target))
            case ast.stmt():
                others |= targets_of(node, None)
    return counted - others


def _is_count(target: ast.expr, value: ast.expr) -> bool:
    match value:
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=ast.Name(id=name), right=ast.Constant()):
            return isinstance(target, ast.Name) and target.id == name
    return False
