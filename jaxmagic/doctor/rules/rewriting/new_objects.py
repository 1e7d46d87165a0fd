"""Finds the user's line that makes anew an object which is a static part of an argument of a jitted function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....records.call_stack import Frame
from ..host.functions.functions_run import functions_at
from ..host.syntax import Function, arguments_at, function_around, own_nodes
from . import syntax

#: Variables lead to other variables at most so often.
_MOST_NAMES = 5

#: The library whose optimizers are static, and hold a learning rate.
_OPTIMIZERS = "optax"


class NewObject(NamedTuple):
    """Where an object is made.

    Attributes:
        file: the file.
        line: the line.
        optimizer: the function of optax with a varying argument, as it is written, such as ``"optax.adam"``; ``""``
            if no argument of it varies, ``None`` if this is no optimizer.
    """

    file: str
    line: int
    optimizer: str | None


def find_new_object(path: str, function: Frame, called: str, sites: Sequence[Frame]) -> NewObject | None:
    """Find where an object is made; ``None`` if there is not exactly one place.

    Args:
        path: the object within the arguments of a jitted function, such as ``"state.tx"``.
        function: the name of the function, with its first line.
        called: the name by which it is called.
        sites: the lines that call it.
    """
    argument, *fields = re.findall(r"\w+", path)
    found: dict[int, tuple[Frame, ast.expr]] = {}
    for site in dict.fromkeys(sites):
        tree = syntax.tree_of(site.file)
        scope = function_around(site) or tree
        given = [_given(argument, each, called, site) for each, _ in functions_at(function)]
        made = None if scope is None or len(given) != 1 else _made(given[0], fields, scope)
        if made is None:
            return None
        found[id(made)] = site, made
    if len(found) != 1:
        return None
    ((site, made),) = found.values()
    return NewObject(site.file, made.lineno, _optimizer(made, syntax.tree_of(site.file)))


def optimizers_among(names: Sequence[str], file: str, line: int) -> dict[str, str]:
    """Return the variables around a line that hold optimizers of Optax, each with how that is made."""
    tree = syntax.tree_of(file)
    inside = [] if tree is None else [each for each in ast.walk(tree) if isinstance(each, Function)]
    scopes = [each for each in inside if each.lineno <= line <= (each.end_lineno or line)]
    made = ((name, value) for name in names for scope in scopes for value in _values_of(name, scope))
    found = ((name, _optimizer(value, tree)) for name, value in made)
    return {name: optimizer for name, optimizer in found if optimizer is not None}


def _given(argument: str, definition: ast.FunctionDef | ast.AsyncFunctionDef, name: str, site: Frame) -> ast.expr:
    parameters = [each.arg for each in (*definition.args.posonlyargs, *definition.args.args)]
    return arguments_at(site, name, parameters).get(argument, ast.Constant(None))


def _made(value: ast.expr, fields: Sequence[str], scope: ast.AST) -> ast.expr | None:
    """Return the call or function behind a value, and within it what is given for the fields, one after the other."""
    inner = list(fields)
    for _ in range(_MOST_NAMES):
        if isinstance(value, ast.Name):
            made = next(_values_of(value.id, scope), None)
            if made is None:
                return None
            value = made
        given = [each.value for each in ast.walk(value) if isinstance(each, ast.keyword) and each.arg in inner[:1]]
        if len(given) == 1:
            value, inner = given[0], inner[1:]
        elif not isinstance(value, ast.Name):
            break
    return value if isinstance(value, ast.Call | ast.Lambda) else None


def _values_of(name: str, scope: ast.AST) -> Iterator[ast.expr]:
    """Yield what is assigned to a variable, in the order of the lines."""
    statements = [each for each in own_nodes(scope) if isinstance(each, ast.Assign | ast.AnnAssign)]
    for each in sorted(statements, key=lambda each: each.lineno):
        targets = each.targets if isinstance(each, ast.Assign) else [each.target]
        if each.value is not None and [name] == [one.id for one in targets if isinstance(one, ast.Name)]:
            yield each.value


def _optimizer(made: ast.expr, tree: ast.Module | None) -> str | None:
    names = _names_of_optax(tree)
    calls = [each for each in ast.walk(made) if isinstance(each, ast.Call) and _root(each.func) in names]
    if not calls:
        return None
    varying = [each for each in calls if any(isinstance(one, ast.Name) for one in _numbers(each))]
    return ast.unparse(varying[0].func) if len(varying) == 1 else ""


def _numbers(call: ast.Call) -> Iterator[ast.expr]:
    """Yield what a call passes as the learning rate."""
    yield from call.args[:1]
    yield from (each.value for each in call.keywords if each.arg == "learning_rate")


def _names_of_optax(tree: ast.Module | None) -> set[str]:
    """Return the names of the module, and of what is imported from it."""
    names = {_OPTIMIZERS}  # also if another cell imports it
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            names |= {each.asname for each in node.names if each.name == _OPTIMIZERS and each.asname}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == _OPTIMIZERS:
            names |= {each.asname or each.name for each in node.names}
    return names


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
