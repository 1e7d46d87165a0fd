"""Foresees from the source what some code, and what it calls, will assign, change, and write to files.

Code that does something else when it runs again runs only once, with all observers at the same time. This has to be
known before it runs. What happens under a condition is left to the comparison of before and after.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ....memory_use.capture.imported import dict_of, is_module
from ....records.note import Note, note
from ....runtime.around import attributes, enclosed, is_a, is_exactly, member, of_type
from ...rules.rewriting.syntax import tree_of
from ..remedies.user_functions import is_users_function
from ..scope import Scope, rebound
from .foreseen_calls import changing_calls
from .foreseen_files import written

#: What runs only under a condition, or later.
_PERHAPS = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.Match, ast.ExceptHandler),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
)

#: Methods that change their object each time, if their value is discarded. Sets and dictionaries have an ``update``
#: that changes nothing the second time.
_CHANGING = frozenset({"append", "appendleft", "extend", "insert", "pop", "popleft", "remove", "reverse", "update"})
_IDEMPOTENT = dict, set

#: At most this many files or calls are given as the reason.
_MOST_FILES = 3

#: Returns the Python expression that leads to what a name stands for, and its value: ``None`` if it is unknown.
_LookUp = Callable[[str], tuple[str, Any]]


class Foreseen(NamedTuple):
    """The Python expressions of what will be different next time.

    Attributes:
        assigned: variables and attributes that are read, and then assigned.
        changed: objects of which parts are assigned, or whose methods change them.
        written: the paths of files that are written.
        called: functions and methods that change what no variable shows, such as ``os.chdir``.
    """

    assigned: list[str]
    changed: list[str]
    written: list[str]
    called: list[str]


class _Called(NamedTuple):
    """A function of the user's that is called, and what it gets for its parameters, as :data:`_LookUp` returns it."""

    function: Any  # as a types.FunctionType, mypy would bind it
    given: dict[str, tuple[str, Any]]


def reason_to_run_once(scope: Scope, read: Mapping[str, Any]) -> Note | None:
    """Return why some code would do something else the next time; ``None`` if its source does not show that."""
    tree = scope.tree
    assigned, changed, files, called = foreseen(tree, read)
    names = [*([] if tree is None else rebound(tree, scope.variables)), *assigned]
    if kept := [each for each in names if each not in _deleted(tree)]:
        return note("doctor.once_rebound", names=", ".join(kept))
    if names:
        return note("doctor.once_donated", names=", ".join(names))
    if changed:
        return note("doctor.once_changed", names=", ".join(changed))
    if files:
        return note("doctor.once_written", names=", ".join(files[:_MOST_FILES]))
    return note("doctor.once_called", names=", ".join(called[:_MOST_FILES])) if called else None


def _deleted(tree: ast.Module | None) -> set[str]:
    nodes = [] if tree is None else [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    return {each.id for each in nodes if isinstance(each.ctx, ast.Del)}


def foreseen(tree: ast.Module | None, read: Mapping[str, Any]) -> Foreseen:
    """Foresee what some code will assign and change of what it reads.

    Args:
        tree: the code; ``None`` if it is a call of a function among the variables.
        read: the variables that it reads before it assigns them.
    """
    functions = (called for each in read.values() for called in _function(each, "self"))
    queue = [] if tree is not None else [_with_arguments(called, read) for called in functions]
    assigned: dict[str, None] = {}
    changed: dict[str, None] = {}
    files: dict[str, None] = {}
    calls: dict[str, None] = {}

    def look(body: ast.Module, look_up: _LookUp) -> None:
        changed.update(dict.fromkeys(_changes(body, look_up)))
        files.update(dict.fromkeys(written(_always(body), body, lambda node: _value(node, look_up))))
        calls.update(dict.fromkeys(changing_calls(_always(body), body, lambda node: _value(node, look_up))))
        queue.extend(_calls(body, look_up))

    if tree is not None:
        look(tree, lambda name: (name, read.get(name)))
    met = set()
    for called in queue:  # grows meanwhile
        definition = _definition(called.function)
        key = called.function, *(path for path, _ in called.given.values())
        if definition is None or key in met:
            continue
        met.add(key)
        body = ast.Module(definition.body, [])
        assigned |= dict.fromkeys([*_globals(definition), *_attributes(definition, called.given)])
        look(body, _inside(called))
    return Foreseen(list(assigned), list(changed), list(files), list(calls))


def _with_arguments(called: _Called, read: Mapping[str, Any]) -> _Called:
    """Give a function what a call of it passes, if all other variables have the names of its parameters."""
    parameters = inspect.getargs(called.function.__code__)
    names = {*parameters.args, parameters.varargs, parameters.varkw}
    given = {name: (name, value) for name, value in read.items() if name in names}
    return called._replace(given={**given, **called.given}) if len(given) == len(read) - 1 else called


def _inside(called: _Called) -> _LookUp:
    code, held, outer = called.function.__code__, called.function.__globals__, enclosed(called.function)
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars} - outer.keys()

    def look_up(name: str) -> tuple[str, Any]:
        known = outer if name in outer else held
        return called.given.get(name) or (name, None if name in own else known.get(name))

    return look_up


def _calls(tree: ast.AST, look_up: _LookUp) -> Iterator[_Called]:
    """Yield the functions of the user's that are called, with what they get."""
    for node in _always(tree):
        if isinstance(node, ast.Call):
            path, function = _value(node.func, look_up)
            for called in _function(function, path.rpartition(".")[0]):
                code = called.function.__code__
                names = code.co_varnames[len(called.given) : code.co_argcount]
                positional = zip(names, (_value(each, look_up) for each in node.args), strict=False)
                named = {each.arg: _value(each.value, look_up) for each in node.keywords if each.arg}
                yield _Called(called.function, {**called.given, **dict(positional), **named})


def _function(value: Any, path: str) -> Iterator[_Called]:
    """Yield the user's function in a value, if that is a function or a method, or calls one as ``nnx.jit`` does.

    What ``jax.jit`` has compiled assigns and changes nothing.
    """
    if is_exactly(value, types.MethodType) and is_users_function(value.__func__):
        names = value.__func__.__code__.co_varnames
        yield _Called(value.__func__, {names[0]: (path, value.__self__)} if names else {})
    elif is_users_function(value):
        yield _Called(value, {})
    elif not str(of_type("__module__", type(value))).startswith("jax"):
        inner = (attributes(value) or {}).get("__wrapped__")
        yield from [_Called(inner, {})] if is_users_function(inner) else []


def _value(node: ast.expr, look_up: _LookUp) -> tuple[str, Any]:
    """Return the path and the value of a name, or of attributes of one, without running code of the user's."""
    if isinstance(node, ast.Name):
        return look_up(node.id)
    if isinstance(node, ast.Subscript):
        return _item(node, *_value(node.value, look_up))
    if not isinstance(node, ast.Attribute):
        return "", None
    path, value = _value(node.value, look_up)
    held = dict_of(value) if is_module(value) else attributes(value) or {}
    part = held.get(node.attr)
    if part is None and value is not None and not is_module(value):
        part = member(type(value), node.attr)
        if is_exactly(part, types.FunctionType):
            part = types.MethodType(part, value)
    return f"{path}.{node.attr}", part


def _item(node: ast.Subscript, path: str, held: Any) -> tuple[str, Any]:
    """Return the path and the value of an item of a dictionary: the first if the key is unknown and all are lists."""
    items = dict(held) if is_exactly(held, dict) else {}
    if isinstance(node.slice, ast.Constant):
        item = items.get(node.slice.value)
    else:
        item = next(iter(items.values()), None) if all(is_exactly(each, list) for each in items.values()) else None
    return f"{path}[{ast.unparse(node.slice)}]", item


def _definition(function: types.FunctionType) -> ast.FunctionDef | None:
    code = function.__code__
    tree = tree_of(code.co_filename)
    found = (each for each in ast.walk(tree or ast.Module([], [])) if isinstance(each, ast.FunctionDef))
    same = (each for each in found if each.name == code.co_name and _first_line(each) == code.co_firstlineno)
    return next(same, None)


def _first_line(definition: ast.FunctionDef) -> int:
    return min([definition.lineno, *(each.lineno for each in definition.decorator_list)])


def _changes(tree: ast.AST, look_up: _LookUp) -> Iterator[str]:
    """Yield the paths of known objects whose items are assigned, or whose methods are called for their effect."""
    for node in _always(tree):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=changed, attr=method))) if method in _CHANGING:
                path, value = _value(changed, look_up)
                value = None if is_a(value, _IDEMPOTENT) else value
            case ast.Subscript(value=changed) if not isinstance(node.ctx, ast.Load):
                path, value = _value(changed, look_up)
            case _:
                continue
        if value is not None and not is_module(value):
            yield path


def _globals(definition: ast.FunctionDef) -> list[str]:
    """Return the globals that a function reads before it assigns them."""
    nodes = list(ast.walk(definition))
    declared = {name: None for each in nodes if isinstance(each, ast.Global) for name in each.names}
    always = {each.id for each in _always(definition) if isinstance(each, ast.Name) and _is_stored(each)}
    return [name for name in rebound(ast.Module(definition.body, []), declared) if name in always]


def _attributes(definition: ast.FunctionDef, given: Mapping[str, tuple[str, Any]]) -> list[str]:
    """Return the attributes of what a function gets, such as ``self``, that it reads and assigns."""
    parts = [each for each in ast.walk(definition) if isinstance(each, ast.Attribute)]
    parts.sort(key=lambda each: (each.lineno, each.col_offset))
    known = {name: path for name, (path, value) in given.items() if value is not None}
    own = [
        (known[each.value.id], each) for each in parts if isinstance(each.value, ast.Name) if each.value.id in known
    ]
    always = {id(each) for each in _always(definition)}
    counted = {id(each.target) for each in _always(definition) if isinstance(each, ast.AugAssign)}
    assigned = [f"{path}.{each.attr}" for path, each in own if _is_stored(each) and id(each) in always]
    read = {f"{path}.{each.attr}" for path, each in own if not _is_stored(each) or id(each) in counted}
    return [path for path in dict.fromkeys(assigned) if path in read]


def _is_stored(node: ast.Name | ast.Attribute) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _always(node: ast.AST, zero: frozenset[str] = frozenset()) -> Iterator[ast.AST]:
    """Yield the nodes inside another one that are evaluated whenever it is, or in a round of a loop.

    Args:
        node: the outer one.
        zero: the variables that count the rounds of loops around it, and begin with zero.
    """
    if isinstance(node, ast.For | ast.AsyncFor):
        zero = (zero - {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}) | _counting(node)
    parts = list(ast.iter_child_nodes(node))
    for each in parts:  # grows meanwhile
        if isinstance(each, ast.If) and _holds_at_first(each.test, zero):
            parts += [each.test, *each.body]
        elif not isinstance(each, _PERHAPS):
            yield each
            yield from _always(each, zero)


def _counting(loop: ast.For | ast.AsyncFor) -> set[str]:
    """Return the variable of a loop that is zero in its first round."""
    match loop:
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Call(func=ast.Name(id="range"), args=[_] | [ast.Constant(value=0), *_], keywords=[]),
        ):
            return {name}
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=name), *_]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=[_], keywords=[]),
        ):
            return {name}
    return set()


def _holds_at_first(test: ast.expr, zero: frozenset[str]) -> bool:
    """Return whether a condition such as ``step % 100 == 0`` holds in the first round of a loop."""
    match test:
        case ast.Compare(left=counted, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            pass
        case ast.UnaryOp(op=ast.Not(), operand=counted):
            pass
        case _:
            return False
    if isinstance(counted, ast.BinOp) and isinstance(counted.op, ast.Mod):
        counted = counted.left
    return isinstance(counted, ast.Name) and counted.id in zero
