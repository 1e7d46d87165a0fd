"""Finds the lines of a traced function that may store a value where it outlives the function."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from dataclasses import replace

from .....records.call_stack import is_users_file
from .....records.cell_names import cells_with, known_as
from ....analysis.parsed_code import parsed
from ....analysis.written_paths import is_within, root_of, variable_of
from ....record.failing_code import Escape, Traced
from ..calls import Names
from ..statement import definition
from .filled import fills
from .handed_on import calls_from, methods_around

#: Methods of Python's containers that store a value.
STORING = "append", "add", "extend", "insert", "update", "setdefault", "appendleft", "put"

#: The one of them that returns a value.
_RETURNING = "setdefault"

#: Decorators that store what a function returns.
_CACHES = "cache", "lru_cache", "cached_property"

#: Statements that bind a variable.
_BINDING = ast.Assign, ast.AugAssign, ast.AnnAssign

#: Calls inside of each other are followed down to this depth.
_DEPTH = 3


def escapes_of(traced: Traced | None, computed_at: Sequence[str], names: Names | None = None) -> tuple[Escape, ...]:
    """Return the lines that store something in an object or a variable from outside of their function.

    Args:
        traced: the function that was traced.
        computed_at: the lines that computed the value, as ``"file:line"``: often in functions that the traced one
            calls.
        names: what the names of further functions mean that these call, and that may store what they get.
    """
    places = [] if traced is None else [(traced.file, traced.line, traced.function)]
    for each in computed_at:
        file, _, line = each.rpartition(":")
        if file and line.isdecimal():
            places.append((file, int(line), ""))
    found: list[Escape] = []
    for file, number, name in (each for each in places if is_users_file(each[0])):
        function = _function(file, number, name)
        found += [] if function is None else _escapes(function, file)
        found += [] if function is None or names is None else _in_calls(function, names, _DEPTH)
    return tuple(dict.fromkeys(found))


def escapes_into(name: str, names: Names) -> tuple[Escape, ...]:
    """Return the lines of methods that store something where a value was found, as in an attribute of their object.

    Args:
        name: how the code reaches the value.
        names: what the names in it mean.
    """
    found = [
        replace(each, name=method.outside(each.name), read="")
        for method in methods_around(name, names)
        for each in _escapes(method.home, method.file)
    ]
    return tuple(dict.fromkeys(each for each in found if is_within(name, each.name)))


def escapes_in_code(name: str, file: str) -> tuple[Escape, ...]:
    """Return the lines of functions in a file, or in all cells, that store something in a variable from outside.

    If there are several, none is known to have stored it.

    Args:
        name: how the code reaches what was stored, from a variable of the module.
        file: the file, or that of a cell.
    """
    root, found = root_of(name), dict[Escape, None]()
    for each in cells_with(file):
        tree = parsed("".join(linecache.getlines(each)))
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        inside = (one for node in functions if root not in _parameters(node) for one in _escapes(node, each))
        found |= dict.fromkeys(one for one in inside if is_within(name, one.name))
    return tuple(found) if len(found) == 1 else tuple(replace(each, name="", read="") for each in found)


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}


def _in_calls(function: ast.FunctionDef, names: Names, depth: int) -> list[Escape]:
    """Return the lines of functions that a function calls, with the names that it has for what they store into."""
    found: list[Escape] = []
    for call in calls_from(function, names) if depth else ():
        inside = [*_escapes(call.home, call.file), *_in_calls(call.home, call.names, depth - 1)]
        found += [replace(each, name=call.outside(each.name), read=call.outside(each.read)) for each in inside]
    return found


def _function(file: str, line: int, name: str) -> ast.FunctionDef | None:
    """Return the function with a name that begins on a line, or the innermost one around a line without a name."""
    tree = parsed("".join(linecache.getlines(file)))
    if name:
        return definition(tree, name, line)
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _escapes(function: ast.FunctionDef, file: str) -> list[Escape]:
    outer = {
        name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    own = {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } - outer
    found = [
        Escape(location=f"{known_as(file)}:{each.lineno}", text=f"@{ast.unparse(each)}", name="")
        for each in function.decorator_list
        if ast.unparse(each).partition("(")[0].rpartition(".")[2] in _CACHES
    ]
    unused = {id(each.value) for each in ast.walk(function) if isinstance(each, ast.Expr)}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and id(node) not in unused and not _returns(node):
            continue  # such as optimizer.update(): that of a container returns nothing
        for target in stored_into(node):
            if variable_of(target) not in own and (
                not isinstance(node, _BINDING) or variable_of(target) in outer or _inside(target)
            ):
                place = f"{known_as(file)}:{target.lineno}"
                filled = fills(target, node, function)
                read = ast.unparse(target) if not filled and _is_read(target, node, function) else ""
                name = _container(target)
                found.append(Escape(location=place, text=ast.unparse(node), name=name, read=read, fills=filled))
                break
    return found


def _returns(call: ast.Call) -> bool:
    """Return whether a call that stores a value may have a result."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == _RETURNING


def _is_read(target: ast.expr, storing: ast.AST, function: ast.FunctionDef) -> bool:
    """Return whether a function reads what a statement of its stores into, before it has stored there."""
    text, end = ast.unparse(target), (getattr(storing, "end_lineno", 0), getattr(storing, "end_col_offset", 0))
    tests = {id(part) for each in ast.walk(function) for part in _tested(each)}
    return (isinstance(storing, ast.AugAssign) and storing.target is target) or any(
        isinstance(each, ast.Name | ast.Attribute | ast.Subscript)
        and isinstance(each.ctx, ast.Load)
        and each is not target
        and id(each) not in tests
        and (each.lineno, each.col_offset) < end
        and ast.unparse(each) == text
        for each in ast.walk(function)
    )


def _tested(node: ast.AST) -> list[ast.expr]:
    """Return what code compares with ``None`` or takes the length of, which reads no traced value."""
    match node:
        case ast.Compare(left=left, comparators=[ast.Constant(value=None)]):
            return [left]
        case ast.Call(func=ast.Name(id="len"), args=[counted]):
            return [counted]
    return []


def stored_into(node: ast.AST) -> list[ast.expr]:
    """Return what a statement or a call stores into; nothing for a constant, which is no traced value."""
    if isinstance(getattr(node, "value", None), ast.Constant):
        return []  # ``self.steps += 1`` stores nothing of the traced function's
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in STORING:
        return [node.func.value]
    else:
        return _set_by_name(node)
    return [each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target])]


def _set_by_name(node: ast.AST) -> list[ast.expr]:
    """Return the attribute that ``setattr(owner, "name", value)`` stores into."""
    match node:
        case ast.Call(func=called, args=[owner, ast.Constant(value=str(name)), value]):
            if ast.unparse(called) in ("setattr", "object.__setattr__") and not isinstance(value, ast.Constant):
                return [ast.copy_location(ast.Attribute(owner, name, ast.Store()), node)]
    return []


def _inside(target: ast.expr) -> bool:
    """Return whether an assignment stores into an object rather than into a variable."""
    return isinstance(target, ast.Attribute | ast.Subscript)


def _container(target: ast.expr) -> str:
    """Return the text of what a statement stores into, without an index."""
    return ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
