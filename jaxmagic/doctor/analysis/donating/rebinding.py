"""Finds arguments of calls that the code does not use afterwards, because the same statement replaces them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ..parsed_code import parsed
from ..written_paths import beginnings, called_name, is_path, is_within, root_of
from .held_values import ABOUT, KEEPS_NOTHING, PASSES_ON, REDUCES
from .kept_values import is_kept, pairs_of


class ReplacedArguments(NamedTuple):
    """A call whose arguments are replaced by the statement that it is in, or by one right behind it.

    Attributes:
        function: the name that is called.
        text: the source of the statement.
        positions: what is passed and replaced, by position: ``{0: "state"}``.
        keywords: the same by keyword.
        place: the line and the column of the call.
    """

    function: str
    text: str
    positions: dict[int, str]
    keywords: dict[str, str]
    place: tuple[int, int] = (0, 0)

    def passed_for(self, parameters: Sequence[str]) -> dict[str, str]:
        """Return what is passed and replaced, by parameter."""
        named = {parameters[place]: path for place, path in self.positions.items() if place < len(parameters)}
        return named | {each: path for each, path in self.keywords.items() if each in parameters}


def replaced_arguments(
    code: str | None, functions: Collection[str], arrays: Collection[str] = ()
) -> Iterator[ReplacedArguments]:
    """Yield the calls of some functions whose arguments are not used afterwards.

    An argument counts if it is assigned when the call has returned, and if nothing else in the code keeps what it
    held before: reading the result under the same name is no use of the argument. Code in functions and classes is
    not looked at, since their callers may keep the argument.

    Args:
        code: the source of some statements.
        functions: the names of functions that keep nothing of their arguments.
        arrays: the variables that are known to hold an array rather than a container.

    >>> [(each.function, each.positions) for each in replaced_arguments("state, loss = step(state, x)", {"step"})]
    [('step', {0: 'state'})]
    >>> [each.positions for each in replaced_arguments("state = step(state, x); last = state[-1]", {"step"})]
    [{0: 'state'}]
    >>> list(replaced_arguments("new = step(state, x)", {"step"}))
    []
    >>> list(replaced_arguments("old = state; state = step(state, x)", {"step"}))
    []
    >>> list(replaced_arguments("state = start; state = step(state, x)", {"step"}))
    []
    """
    tree = parsed(code)
    found = [each for body in _bodies(tree.body) for each in _replacing(body, functions)]
    uses: dict[str, list[ast.stmt]] = {}
    for statement, _, replaced in found:
        for path in filter(None, replaced):
            uses.setdefault(root_of(path), []).append(statement)
    kept = {root for root, using in uses.items() if is_kept(tree, root, using, functions, is_array=root in arrays)}
    for statement, call, replaced in found:
        free = [None if path is None or root_of(path) in kept else path for path in replaced]
        positions = {place: path for place, path in enumerate(free[: len(call.args)]) if path is not None}
        named = zip(call.keywords, free[len(call.args) :], strict=True)
        keywords = {each.arg: path for each, path in named if each.arg is not None and path is not None}
        if positions or keywords:
            name, place = ast.unparse(call.func), (call.lineno, call.col_offset)
            yield ReplacedArguments(name, ast.unparse(statement), positions, keywords, place)


def _replacing(
    body: list[ast.stmt], functions: Collection[str]
) -> Iterator[tuple[ast.stmt, ast.Call, list[str | None]]]:
    """Yield statements with the call in them, and the arguments that they replace; ``None`` for each other one."""
    for number, statement in enumerate(body):
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        calls = [each for each in ast.walk(statement.value) if called_name(each) in functions]
        if len(calls) != 1 or not isinstance(call := calls[0], ast.Call):
            continue
        if any(isinstance(each, ast.Starred) for each in call.args) or not all(each.arg for each in call.keywords):
            continue
        given, rest = [*call.args, *(each.value for each in call.keywords)], body[number + 1 :]
        replaced = [is_path(each) and _is_replaced(each, statement, rest) for each in given]
        yield (
            statement,
            call,
            [ast.unparse(each) if free else None for each, free in zip(given, replaced, strict=True)],
        )


def _bodies(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield a list of statements and those inside its loops and blocks."""
    yield body
    for statement in body:
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.If):
            yield from _bodies(statement.body)


def only_read(tree: ast.Module, functions: Collection[str]) -> set[int]:
    """Return the names and attributes, by their ids, that are reduced, asked about, or passed to what keeps nothing.

    Args:
        tree: some code.
        functions: the names of functions that keep nothing of their arguments.
    """
    free = {*functions, *KEEPS_NOTHING}
    passed: set[int] = set()
    for node in ast.walk(tree):
        if called_name(node) in free:
            assert isinstance(node, ast.Call)
            arguments = [*node.args, *(each.value for each in node.keywords)]
            passed |= {id(part) for each in arguments if is_path(each) for part in beginnings(each)}
        elif isinstance(node, ast.FormattedValue) and is_path(node.value):
            passed |= set(map(id, beginnings(node.value)))
    return passed | _looked_at(tree)


def _looked_at(tree: ast.Module) -> set[int]:
    """Return names and attributes, by their ids: reduced, asked about, or waited for by a statement of its own.

    What the last statement returns is displayed, and so kept: it may be the array that it waits for.
    """
    found: set[int] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue  # whoever calls it may do so with the argument
        waiting += ast.iter_child_nodes(node)
        match node:
            case ast.Call(func=ast.Attribute(value=array, attr=name)) if name in REDUCES and is_path(array):
                found |= set(map(id, beginnings(array)))
            case ast.Attribute(value=array, attr=name) if name in ABOUT and is_path(array):
                found |= set(map(id, beginnings(array)))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=array, attr="block_until_ready"), args=given)):
                if node is not tree.body[-1]:
                    found |= {id(part) for each in (array, *given) if is_path(each) for part in beginnings(each)}
    return found


def held_elsewhere(tree: ast.Module) -> set[int]:
    """Return attributes, by their ids, to which code assigns what a variable or a container holds as well."""
    held = (target for target, value in _assignments(tree) if is_held(value, ()))
    opened = (each.optional_vars for each in ast.walk(tree) if isinstance(each, ast.withitem) and each.optional_vars)
    return {id(each) for target in (*held, *opened) for each in ast.walk(target) if isinstance(each, ast.Attribute)}


def _assignments(tree: ast.Module) -> list[tuple[ast.expr, ast.expr]]:
    """Return what some code assigns, and the values."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            pairs += [each for target in node.targets for each in pairs_of(target, node.value)]
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            pairs.append((node.target, node.value))
        elif isinstance(node, ast.For | ast.AsyncFor):
            pairs.append((node.target, node.iter))
    return pairs


def is_held(value: ast.expr, new: Collection[str]) -> bool:
    """Return whether an expression may stand for what a variable holds, other than a new one, or has that in it."""
    parts: list[ast.expr] = []
    match value:
        case ast.Name(id=name):
            return name not in new
        case ast.Attribute(value=whole) | ast.Subscript(value=whole) | ast.Starred(value=whole):
            parts = [whole]
        case ast.Call(func=ast.Name(id=name), args=given) if name in PASSES_ON:
            parts = given
        case ast.Call(func=ast.Attribute(value=of, attr=name), args=given) if name in PASSES_ON:
            parts = given or [of]
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.BoolOp(values=elements):
            parts = elements
        case ast.Dict(values=elements):
            parts = elements
        case ast.IfExp(body=one, orelse=other):
            parts = [one, other]
    return any(is_held(each, new) for each in parts)


def _is_replaced(argument: ast.expr, statement: ast.Assign | ast.AnnAssign, rest: list[ast.stmt]) -> bool:
    """Return whether a statement, or one behind it before any use, assigns the argument or what holds it."""
    value = statement.value
    assert value is not None
    path = ast.unparse(argument)
    root = root_of(path)
    if sum(isinstance(each, ast.Name) and each.id == root for each in ast.walk(value)) > 1 and _shares(value, path):
        return False
    if _assigns(statement, path):
        return True
    for each in rest:
        if not isinstance(each, ast.Assign) or any(
            isinstance(name, ast.Name) and name.id == root and isinstance(name.ctx, ast.Load)
            for name in ast.walk(each.value)
        ):
            return False
        if _assigns(each, path):
            return True
    return False


def _shares(value: ast.expr, path: str) -> bool:
    """Return whether another part of an expression reads the path, what holds it, or a part of it."""
    paths = [ast.unparse(each) for each in _largest_paths(value)]
    return sum(is_within(path, each) or is_within(each, path) for each in paths) > 1


def _largest_paths(node: ast.AST) -> Iterator[ast.AST]:
    if is_path(node):
        yield node
    else:
        for child in ast.iter_child_nodes(node):
            yield from _largest_paths(child)


def _assigns(statement: ast.Assign | ast.AnnAssign, path: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(is_within(path, each) for target in targets for each in _assigned(target))


def _assigned(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _assigned(each)
    elif is_path(target):
        yield ast.unparse(target)
