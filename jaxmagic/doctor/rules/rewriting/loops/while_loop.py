"""Writes a loop of Python that values end as one call, inside of which ``jax.lax.while_loop`` loops."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .....records.call_stack import Frame
from ....record.evidence import Evidence
from ...host.syntax import Function, function_around, loop_around, own_nodes, tree_of
from ..jittable import computes_only, has_sizes
from ..meanings import paths_in
from ..rewritten import INSTEAD
from ..syntax import loaded, parameters, stored
from .loop_end import end_of

#: Conversions of a value that decides, which JAX makes by itself.
_CONVERSIONS = frozenset({"bool", "float"})


class _Loop(NamedTuple):
    """A loop that does nothing but compute.

    Attributes:
        test: what decides whether it goes on.
        body: its statements.
        state: the variables that a round passes to the next one.
        given: the variables of the function that it reads besides.
    """

    test: ast.expr
    body: Sequence[ast.stmt]
    state: Sequence[str]
    given: Sequence[str]


def while_loop(line: Frame, evidence: Evidence) -> str | None:
    """Write the loop around a line as one call; ``None`` if it does more than compute, or the names do not allow it.

    Args:
        line: a line of the loop.
        evidence: the objects behind names.
    """
    loop, function, tree = loop_around(line), function_around(line), tree_of(line)
    if not isinstance(loop, ast.While) or loop.orelse or tree is None or end_of(loop) != "value":
        return None
    scope = function or tree
    name = f"loop_of_{function.name}" if function is not None else "loop_until"
    found = _found(loop, scope)
    if found is None or name in loaded([tree]) | stored([tree]):
        return None
    as_function = ast.parse(f"def f({', '.join([*found.state, *found.given])}): pass").body[0]
    assert isinstance(as_function, ast.FunctionDef)
    as_function.body = [*found.body, ast.Return(found.test)]
    paths = {**paths_in(scope, line.file, evidence.names), **dict.fromkeys(stored(found.body), "")}
    if not computes_only(as_function, paths) or has_sizes(as_function, {*found.state, *found.given}):
        return None
    return _written(found, name)


def _found(loop: ast.While, scope: ast.AST) -> _Loop | None:
    """Return what a loop computes with; ``None`` if it does not assign plain variables only."""
    test = _test(loop.test)
    if test is None or not all(map(_is_plain, loop.body)):
        return None
    assigned: set[str] = set()
    state: dict[str, None] = {}
    changed = stored(loop.body)
    for read, written in (({*loaded([test])}, set[str]()), *map(_reads, loop.body)):
        state |= dict.fromkeys(sorted((read - assigned) & changed))
        assigned |= written
    inside = {id(each) for each in ast.walk(loop)}
    beside = {each.id for each in own_nodes(scope) if isinstance(each, ast.Name) and id(each) not in inside}
    if not state or (changed - {*state}) & beside:
        return None
    local = _local(scope)
    called = {
        each.func.id for each in ast.walk(loop) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    }
    if called & (local | changed):
        return None
    given = sorted((loaded([test, *loop.body]) - changed) & local)
    return _Loop(test, loop.body, list(state), given)


def _local(scope: ast.AST) -> set[str]:
    """Return the names that belong to a function, which code beside it does not see."""
    return stored(scope.body) | parameters(scope) if isinstance(scope, Function) else set()


def _test(test: ast.expr) -> ast.expr | None:
    """Return a condition as JAX computes it: with ``&`` and ``~`` in place of ``and`` and ``not``."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            parts = list(map(_test, values))
            whole = parts[0]
            for each in parts[1:]:
                whole = None if whole is None or each is None else ast.BinOp(whole, ast.BitAnd(), each)
            return whole
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _test(operand)
            return None if inner is None else ast.UnaryOp(ast.Invert(), inner)
        case ast.Compare(ops=[_]):
            made = _Unread().visit(copy.deepcopy(test))
            assert isinstance(made, ast.expr)
            return made
    return None


class _Unread(ast.NodeTransformer):
    """Puts ``x`` in place of ``float(x)`` and ``x.item()``."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id=name), args=[value], keywords=[]) if name in _CONVERSIONS:
                return value
            case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[], keywords=[]):
                return value
        return node


def _is_plain(statement: ast.stmt) -> bool:
    """Return whether a statement assigns variables, and nothing inside of them."""
    match statement:
        case ast.Assign(targets=[ast.Name()]) | ast.AugAssign(target=ast.Name()):
            return True
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            return all(isinstance(each, ast.Name) for each in targets)
    return False


def _reads(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the variables that a statement reads, and those that it assigns."""
    written = stored([statement])
    return loaded([statement]) | (written if isinstance(statement, ast.AugAssign) else set()), written


def _written(found: _Loop, name: str) -> str:
    state = ", ".join(found.state)
    carried = state if len(found.state) == 1 else f"({state})"
    given = ", ".join([*found.state, *found.given])

    def lines() -> Iterator[str]:
        yield from ("@jax.jit", f"def {name}({given}):", "    def goes_on(carried):")
        yield from (f"        {state} = carried", f"        return {ast.unparse(found.test)}")
        yield from ("    def body(carried):", f"        {state} = carried")
        yield from (f"        {ast.unparse(each)}" for each in found.body)
        yield f"        return {state}"
        yield f"    return jax.lax.while_loop(goes_on, body, {carried})"
        yield from (INSTEAD, f"{state} = {name}({given})")

    return "\n".join(lines())
