"""Finds arguments of calls that the code does not use afterwards, because the same statement replaces them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from .parsed_code import parsed
from .written_paths import beginnings, is_path, is_within, root_of

#: Functions and methods whose result may be, or may hold, what they are given.
_PASSES_ON = frozenset({"asarray", "device_put", "copy", "dict", "list", "tuple", "replace"})

#: Functions that keep nothing of their arguments.
_KEEPS_NOTHING = frozenset({"print", "float", "int", "bool", "len", "str", "repr", "isinstance", "type"})


#: Methods of arrays that return something new, and attributes that tell about one.
_REDUCES = frozenset(
    {"sum", "mean", "max", "min", "std", "var", "prod", "any", "all", "argmax", "argmin", "item", "tolist"}
)
_ABOUT = frozenset({"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "sharding"})


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


def replaced_arguments(code: str | None, functions: Collection[str]) -> Iterator[ReplacedArguments]:
    """Yield the calls of some functions whose arguments are not used afterwards.

    An argument counts if it is assigned when the call has returned and if nothing else in the code could keep it: it
    is read elsewhere only as an argument of these functions or of functions such as ``print``, and the code does not
    take it from another variable, which still holds it. Code in functions and classes is not looked at, since their
    callers may keep the argument.

    Args:
        code: the source of some statements.
        functions: the names of functions that keep nothing of their arguments.

    >>> [(each.function, each.positions) for each in replaced_arguments("state, loss = step(state, x)", {"step"})]
    [('step', {0: 'state'})]
    >>> [each.positions for each in replaced_arguments("state = step(state, x); print(state.sum())", {"step"})]
    [{0: 'state'}]
    >>> list(replaced_arguments("new = step(state, x)", {"step"}))
    []
    >>> list(replaced_arguments("old = state; state = step(state, x)", {"step"}))
    []
    >>> list(replaced_arguments("state = start; state = step(state, x)", {"step"}))
    []
    """
    tree = parsed(code)
    kept = _kept(tree, functions) | _taken(tree)
    for body in _bodies(tree.body):
        for number, statement in enumerate(body):
            if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
                continue
            found = [each for each in ast.walk(statement.value) if called_name(each) in functions]
            if len(found) != 1:
                continue
            call = found[0]
            assert isinstance(call, ast.Call)
            if any(isinstance(each, ast.Starred) for each in call.args) or any(
                not each.arg for each in call.keywords
            ):
                continue
            name = called_name(call)
            assert name is not None

            def is_free(
                node: ast.expr,
                statement: ast.Assign | ast.AnnAssign = statement,
                rest: list[ast.stmt] = body[number + 1 :],
            ) -> bool:
                return (
                    is_path(node) and root_of(ast.unparse(node)) not in kept and _is_replaced(node, statement, rest)
                )

            positions = {place: ast.unparse(each) for place, each in enumerate(call.args) if is_free(each)}
            keywords = {
                each.arg: ast.unparse(each.value) for each in call.keywords if each.arg and is_free(each.value)
            }
            if positions or keywords:
                place = call.lineno, call.col_offset
                yield ReplacedArguments(name, ast.unparse(statement), positions, keywords, place)


def _bodies(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield a list of statements and those inside its loops and blocks."""
    yield body
    for statement in body:
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.If):
            yield from _bodies(statement.body)


def called_name(node: ast.AST) -> str | None:
    """Return the name of what an expression calls, such as ``"self.step"``; ``None`` if it has none."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) and is_path(node.func) else None


def _kept(tree: ast.Module, functions: Collection[str]) -> set[str]:
    """Return the names whose values something else might keep."""
    loaded = [each for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    stored_parts = {
        id(beginnings(each)[-1])
        for each in ast.walk(tree)
        if isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store) and is_path(each)
    }
    shown = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    harmless = only_read(tree, functions) | stored_parts
    return {each.id for each in loaded if id(each) not in harmless or id(each) in shown}


def only_read(tree: ast.Module, functions: Collection[str]) -> set[int]:
    """Return the names and attributes, by their ids, that are reduced, asked about, or passed to what keeps nothing.

    Args:
        tree: some code.
        functions: the names of functions that keep nothing of their arguments.
    """
    free = {*functions, *_KEEPS_NOTHING}
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
            case ast.Call(func=ast.Attribute(value=array, attr=name)) if name in _REDUCES and is_path(array):
                found |= set(map(id, beginnings(array)))
            case ast.Attribute(value=array, attr=name) if name in _ABOUT and is_path(array):
                found |= set(map(id, beginnings(array)))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=array, attr="block_until_ready"), args=given)):
                if node is not tree.body[-1]:
                    found |= {id(part) for each in (array, *given) if is_path(each) for part in beginnings(each)}
    return found


def _taken(tree: ast.Module) -> set[str]:
    """Return the names to which the code gives a value that another variable, or a container, still holds.

    A variable that the code itself binds to something new, as in ``new = step(state); state = new``, counts as little
    as a result without a name.
    """
    pairs = _assignments(tree)
    new = {name for target, _ in pairs for name in _stored(target)}
    taken: set[str] = set()
    for _ in range(len(pairs)):
        taken = {name for target, value in pairs if is_held(value, new - taken) for name in _stored(target)}
    return taken


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
            pairs += [each for target in node.targets for each in _pairs(target, node.value)]
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            pairs.append((node.target, node.value))
        elif isinstance(node, ast.For | ast.AsyncFor):
            pairs.append((node.target, node.iter))
    return pairs


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        parts = [*target.elts, *value.elts]
        if len(target.elts) == len(value.elts) and not any(isinstance(each, ast.Starred) for each in parts):
            return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def is_held(value: ast.expr, new: Collection[str]) -> bool:
    """Return whether an expression may stand for what a variable holds, other than a new one, or has that in it."""
    parts: list[ast.expr] = []
    match value:
        case ast.Name(id=name):
            return name not in new
        case ast.Attribute(value=whole) | ast.Subscript(value=whole) | ast.Starred(value=whole):
            parts = [whole]
        case ast.Call(func=ast.Name(id=name), args=given) if name in _PASSES_ON:
            parts = given
        case ast.Call(func=ast.Attribute(value=of, attr=name), args=given) if name in _PASSES_ON:
            parts = given or [of]
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.BoolOp(values=elements):
            parts = elements
        case ast.Dict(values=elements):
            parts = elements
        case ast.IfExp(body=one, orelse=other):
            parts = [one, other]
    return any(is_held(each, new) for each in parts)


def _stored(target: ast.expr) -> Iterator[str]:
    """Yield the names that an assignment to a target binds."""
    return (each.id for each in ast.walk(target) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))


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
