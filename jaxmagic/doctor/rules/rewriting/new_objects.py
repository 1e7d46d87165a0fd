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


#: Its functions that make optimizers.
_MAKING = frozenset({
    "adabelief", "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamaxw", "adamw", "adan", "amsgrad", "chain",
    "fromage", "lamb", "lars", "lbfgs", "lion", "masked", "multi_transform", "nadam", "nadamw", "noisy_sgd",
    "novograd", "radam", "rmsprop", "rprop", "sgd", "sm3", "yogi",
})  # fmt: skip

#: What makes an object that holds an optimizer.
_HOLDING = frozenset({"ModelAndOptimizer", "Optimizer", "TrainState", "create"})


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


def optimizers_given(function: Function, site: Frame) -> list[str]:
    """Return the parameters of a function that get an optimizer of Optax which the function around a call makes.

    Each call of that other function makes another one. An object that holds it counts as well.
    """
    scope, tree = function_around(site), syntax.tree_of(site.file)
    if scope is None or tree is None:
        return []
    given = arguments_at(
        site, function.name, [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    )
    return [name for name, value in given.items() if _holds_optimizer(value, scope, tree, _MOST_NAMES)]


def _holds_optimizer(value: ast.expr | None, scope: ast.AST, tree: ast.Module, most: int) -> bool:
    """Return whether a value is an optimizer, or holds one, going through so many variables and functions at most."""
    inner: list[tuple[ast.expr | None, ast.AST]] = []
    match value:
        case ast.Name(id=name):
            inner = [(each, scope) for each in _values_of(name, scope)]
        case ast.Call(func=made) if _root(made) in _names_of_optax(tree):
            return syntax.last_name(made) in _MAKING
        case ast.Call(func=made, args=args, keywords=keywords):
            makers = [
                each for each in ast.walk(tree) if isinstance(each, Function) and each.name == ast.unparse(made)
            ]
            nodes = [(node, each) for each in makers for node in own_nodes(each)]
            inner = [(node.value, each) for node, each in nodes if isinstance(node, ast.Return)]
            if syntax.last_name(made) in _HOLDING:
                inner += [(each, scope) for each in (*args, *(keyword.value for keyword in keywords))]
    return most > 0 and any(_holds_optimizer(each, place, tree, most - 1) for each, place in inner)


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
