"""Finds the user's functions that a function runs, by the objects that it calls, or else by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from .....records.call_stack import Frame
from ....analysis.written_paths import root_of
from ....record.evidence import Evidence, HostWait
from ...rewriting import syntax
from ..syntax import Function, function_around
from .inside_function import is_in

#: Functions called by functions are followed down to this depth.
_DEEPEST = 3

#: Decorators of methods that get no object, or the class.
_STATIC, _OF_CLASS = "staticmethod", "classmethod"

#: The user's functions behind an expression, by their first lines; ``None`` if they are unknown.
_Calls = dict[str, tuple[Frame, ...] | None]


def functions_run(function: Function, file: str, evidence: Evidence) -> list[tuple[Function, str]]:
    """Return a function and those of the user's that it calls, or passes on, as ``jax.grad(loss)`` does.

    Their files are returned as well. They are found by the objects that were called, also in the user's modules and
    classes, or else by their names, as far as they can be read. Methods are without the object that they belong to.

    Functions that are jitted on their own are left out.
    """
    found = [(function, file)]
    level = [(function, file)]
    for _ in range(_DEEPEST):
        called = [each for caller, origin in level for each in _called_in(caller, origin, evidence)]
        level = [each for each in dict.fromkeys(called) if each not in found and not is_jitted(each[0])]
        found += level
    return found


def functions_seen(evidence: Evidence) -> list[tuple[Function, str]]:
    """Return the functions that called programs, or were sampled, and what they call; not those that load data."""
    loading = {each.line for each in evidence.host or () if each.loading}
    loading -= {each.called_at for each in evidence.programs or ()}
    seen = ((function_around(line), line.file) for line in syntax.lines_run(evidence) if line not in loading)
    found = (functions_run(each, file, evidence) for each, file in dict.fromkeys(seen) if each is not None)
    return list(dict.fromkeys(each for functions in found for each in functions))


def _called_in(function: Function, file: str, evidence: Evidence) -> Iterator[tuple[Function, str]]:
    """Yield the functions that a function calls, or passes to what it calls."""
    calls = _known_calls(function, file, evidence)
    for node in ast.walk(function):
        for each in (node.func, *node.args) if isinstance(node, ast.Call) else ():
            text = _text(each)
            if text in calls:
                yield from (found for frame in calls[text] or () for found in functions_at(frame))
            elif isinstance(each, ast.Name):
                yield from defined(each.id, file, evidence)


def _known_calls(function: Function, file: str, evidence: Evidence) -> _Calls:
    """Return what is known of the objects that a function calls; of what it binds itself, nothing."""
    first, found = syntax.first_line(function), _Calls()
    for each in evidence.names:
        if each.function is not None and (each.function.file, each.function.line) == (file, first):
            for text, frames in each.calls:
                before = found.get(text, ())
                found[text] = None if before is None or frames is None else (*before, *frames)
    own = syntax.stored([function]) | syntax.parameters(function) if found else set()
    return {text: frames for text, frames in found.items() if root_of(text) not in own}


def _text(node: ast.expr) -> str:
    """Return an expression without what selects an element: ``hooks[]`` for ``hooks["end"]``."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{_text(value)}.{name}"
        case ast.Subscript(value=value):
            return f"{_text(value)}[]"
        case ast.Call(func=called):
            return f"{_text(called)}()"
    return ""


def calls_unknown(functions: Sequence[tuple[Function, str]], evidence: Evidence) -> bool:
    """Return whether some functions call code of the user's that is not known."""
    return any(
        calls.get(text, ()) is None
        for function, file in functions
        for calls in [_known_calls(function, file, evidence)]
        for node in ast.walk(function)
        if calls and isinstance(node, ast.Call)
        for text in _leading_to(node.func)
    )


def _leading_to(called: ast.expr) -> Iterator[str]:
    """Yield what is called, and what it is got from unless it is a method of an array."""
    yield _text(called)
    inner: ast.expr | None = called
    while inner is not None and not (isinstance(inner, ast.Attribute) and hasattr(np.ndarray, inner.attr)):
        inner = inner.value if isinstance(inner, ast.Attribute | ast.Subscript) else None
        if inner is not None:
            yield _text(inner)


def waits_in(functions: Sequence[tuple[Function, str]], evidence: Evidence) -> list[HostWait]:
    """Return the waits at lines of some functions, or of what they called."""
    own = {(each.name, file) for each, file in functions}
    return [
        each
        for each in evidence.waits or ()
        if (each.line is not None and (each.line.function, each.line.file) in own)
        or any(is_in(line, function, file) for line in each.stack for function, file in functions)
    ]


def defined(name: str, file: str, evidence: Evidence) -> Iterator[tuple[Function, str]]:
    """Yield the functions of a name in the same file, or else among those that were seen to run, or that are read."""
    known = [each.function for each in evidence.functions]
    known += [each.function for each in evidence.names if each.function is not None]
    elsewhere = (each.file for each in known if each.function == name)
    for place in dict.fromkeys((file, *elsewhere)):
        tree = syntax.tree_of(place)
        made = [each for each in ast.walk(tree) if isinstance(each, Function) and each.name == name] if tree else []
        if made:
            yield from ((each, place) for each in made)
            return


def definition(frame: Frame) -> tuple[Function, str] | None:
    """Return the definition of a function from its first line; ``None`` if there is none, as of a lambda."""
    tree = syntax.tree_of(frame.file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, Function) and node.name == frame.function and syntax.first_line(node) == frame.line:
            return node, frame.file
    return None


def functions_at(frame: Frame) -> Iterator[tuple[Function, str]]:
    """Yield the functions that begin on a line: methods without their object, and lambda functions as others."""
    tree = syntax.tree_of(frame.file)
    if tree is None:
        return
    methods = {id(each) for outer in ast.walk(tree) if isinstance(outer, ast.ClassDef) for each in outer.body}
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.name == frame.function and syntax.first_line(node) == frame.line:
            yield _without_object(node) if id(node) in methods else node, frame.file
        elif isinstance(node, ast.Lambda) and frame.function == "<lambda>" and node.lineno == frame.line:
            yield _as_function(node), frame.file


@lru_cache(maxsize=256)  # each node is always the same function
def _without_object(method: Function) -> Function:
    names = {*map(syntax.last_name, method.decorator_list)}
    made = ast.FunctionDef(**{field: getattr(method, field) for field in method._fields})
    made.decorator_list = [
        each for each in method.decorator_list if syntax.last_name(each) not in (_STATIC, _OF_CLASS)
    ]
    if _STATIC not in names:
        given = method.args
        made.args = ast.arguments(**{field: getattr(given, field) for field in given._fields})
        made.args.posonlyargs = given.posonlyargs[1:]
        made.args.args = given.args if given.posonlyargs else given.args[1:]
    return ast.copy_location(made, method)


@lru_cache(maxsize=256)
def _as_function(node: ast.Lambda) -> Function:
    returned = ast.copy_location(ast.Return(node.body), node.body)
    return ast.copy_location(ast.FunctionDef("<lambda>", node.args, [returned], []), node)


def is_jitted(function: Function) -> bool:
    """Return whether a function has jit among its decorators."""
    return any(map(syntax.is_jit, function.decorator_list))
