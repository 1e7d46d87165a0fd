"""Writes a loop of Python that values end as one call, inside of which ``jax.lax.while_loop`` loops."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .....records.call_stack import Frame
from ....record.evidence import Evidence
from ...host.functions.functions_run import defined, functions_run
from ...host.syntax import Function, function_around, loop_around, own_nodes, tree_of
from ..changing_values import bound_by_loops
from ..jit.jittable import computes_only, has_sizes
from ..jit.obstacles import obstacles
from ..meanings import paths_in
from ..numbers.carried_numbers import keep_values
from ..rewritten import INSTEAD
from ..syntax import last_name, loaded, parameters, stored
from .loop_end import end_of
from .scanned_loop import numbered

#: Conversions of a value that decides, which JAX makes by itself.
_CONVERSIONS = frozenset({"bool", "float"})

#: Names in the code that is written.
_OWN = "body", "carried", "goes_on"

#: Expressions that have variables of their own.
_BINDING = ast.comprehension | ast.Lambda | ast.NamedExpr

#: The largest integer of 32 bits.
_LARGEST = 2**31 - 1


class _Loop(NamedTuple):
    """A loop that does nothing but compute.

    Attributes:
        test: what decides whether it goes on.
        body: its statements.
        state: the variables that a round passes to the next one.
        given: the variables that it reads besides, also global ones, whose values jit would keep.
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
    paths = paths_in(scope, line.file, evidence.names)
    found = _found(loop, scope, functions_of(tree, line.file, paths, evidence))
    name = numbered(f"loop_of_{function.name}" if function is not None else "loop_until", loop, scope)
    if found is None or {name, *_OWN} & (loaded([tree]) | stored([tree])):
        return None
    kept = loaded([found.test, *found.body]) - {*found.state, *found.given} - stored(found.body)
    if kept & bound_by_loops(line.file, line.line):
        return None
    static = {each.function for each in evidence.static if each.names}
    if static & {last_name(each.func) for each in ast.walk(loop) if isinstance(each, ast.Call)}:
        return None
    as_function = ast.parse(f"def f({', '.join([*found.state, *found.given])}): pass").body[0]
    assert isinstance(as_function, ast.FunctionDef)
    as_function.body = [*found.body, ast.Return(found.test)]
    names = {*found.state, *found.given}
    if not computes_only(as_function, {**paths, **dict.fromkeys(stored(found.body), "")}) or has_sizes(
        as_function, names
    ):
        return None
    if not _are_arrays(as_function, names) or _counts(found):
        return None
    if obstacles([(loop, line.file)], evidence.names) or not compute_only(as_function, line.file, evidence):
        return None
    return _written(found, name) if keep_values(loop, found.state, scope, line.file, evidence) else None


def functions_of(tree: ast.Module, file: str, paths: Mapping[str, str], evidence: Evidence) -> set[str]:
    """Return the names of modules and functions: they stay what they are while the code runs."""
    own = {each.name for each in ast.walk(tree) if isinstance(each, Function | ast.ClassDef)}
    elsewhere = {name for name in loaded([tree]) - own if any(defined(name, file, evidence))}
    return own | elsewhere | {name for name, path in paths.items() if path}


def compute_only(function: ast.FunctionDef, file: str, evidence: Evidence) -> bool:
    """Return whether the functions that a function runs do nothing but compute, without those that are jitted."""
    for inner, place in functions_run(function, file, evidence)[1:]:
        if obstacles([(inner, place)], evidence.names):
            return False
        if not computes_only(inner, paths_in(inner, place, evidence.names)):
            return False
    return True


def _are_arrays(function: ast.FunctionDef, names: set[str]) -> bool:
    """Return whether some variables may be arrays, as far as their attributes and indices tell."""
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in names:
                if attr != "at" and not hasattr(np.ndarray, attr):
                    return False
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in names:
                if loaded([index]) & names:
                    return False  # a list cannot be indexed by a traced value
    return True


def _counts(found: _Loop) -> bool:
    """Return whether the loop counts with numbers of Python that JAX would round, or whose integers do not fit.

    A float of Python has 64 bits, so that ``t += 0.1`` ends after another number of rounds with 32 bits.
    """
    compared = {
        each.id
        for node in ast.walk(found.test)
        if isinstance(node, ast.Compare)
        for each in (node.left, *node.comparators)
        if isinstance(each, ast.Name)
    }
    numbers = [each.value for node in found.body for each in ast.walk(node) if isinstance(each, ast.Constant)]
    if any(type(each) is int and abs(each) > _LARGEST for each in numbers):
        return True
    for statement in found.body:
        targets, value = stored([statement]) & compared, getattr(statement, "value", None)
        if targets and value is not None and not any(isinstance(each, ast.Call) for each in ast.walk(value)):
            step = value if isinstance(statement, ast.AugAssign) else getattr(value, "right", None)
            if not isinstance(step, ast.Constant) or type(step.value) is not int:
                return True
    return False


def _found(loop: ast.While, scope: ast.AST, functions: set[str]) -> _Loop | None:
    """Return what a loop computes with; ``None`` if it does not assign plain variables only."""
    test = _test(loop.test)
    if (
        test is None
        or not all(map(is_plain, loop.body))
        or any(isinstance(each, _BINDING) for each in ast.walk(loop))
    ):
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
    called = {each.func for each in ast.walk(loop) if isinstance(each, ast.Call)}
    names = {each.id for each in called if isinstance(each, ast.Name)}
    if names & (local | changed):
        return None
    read = {each for each in loaded([test, *loop.body]) if not hasattr(builtins, each)}
    owners = {each.id for call in called for each in [_root(call)] if isinstance(each, ast.Name)} - local
    given = sorted(read - changed - names - owners - (functions - local))
    return _Loop(test, loop.body, list(state), given)


def _root(node: ast.expr) -> ast.expr:
    """Return ``a`` for ``a.b.c``."""
    return _root(node.value) if isinstance(node, ast.Attribute) else node


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
            return unread(test)
    return None


def unread(value: ast.expr) -> ast.expr:
    """Return an expression without ``float`` and ``item()`` in it, with which Python reads a value."""
    made = _Unread().visit(copy.deepcopy(value))
    assert isinstance(made, ast.expr)
    return made


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


def is_plain(statement: ast.stmt) -> bool:
    """Return whether a statement assigns variables, and nothing inside of them."""
    match statement:
        case ast.Assign(targets=[ast.Name()]) | ast.AugAssign(target=ast.Name()):
            return True
        case ast.Assign(targets=[ast.Tuple() as targets]):
            return all(isinstance(each, ast.Name | ast.Tuple | ast.expr_context) for each in ast.walk(targets))
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
