"""Tells loops that may have many rounds, which jit would unroll, from those over the layers of a model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ....record.evidence import Input
from ....record.library_use import ModuleLibrary
from ...host.syntax import Function
from ..syntax import Loop, last_name, parameters

#: An index in the path of an input, after the name, key or attribute of a list or tuple.
_LIST = re.compile(r"(\w+)(?:'\])?\[\d+\]")


def lists_in(inputs: Iterable[Input]) -> set[str]:
    """Return the names, keys and attributes of the lists and tuples among the inputs."""
    return {name for each in inputs for name in _LIST.findall(each.path)}


def has_long_loop(function: Function, library: ModuleLibrary | None, lists: set[str]) -> bool:
    """Return whether a function has a loop that may have many rounds."""
    return any(True for _ in long_loops(function, library, lists))


def long_loops(function: Function, library: ModuleLibrary | None, lists: set[str]) -> Iterator[Loop]:
    """Yield the loops of a function that may have many rounds.

    With a library, the layers are parts of a module, so that any other loop may go over data.

    Args:
        function: the function.
        library: the library whose modules it gets.
        lists: the names, keys and attributes of the lists among the inputs.
    """
    modules = parameters(function)
    for loop in (each for each in ast.walk(function) if isinstance(each, Loop)):
        parts = [loop] if isinstance(loop, ast.For | ast.While) else loop.generators
        for each in parts:
            is_long = not _goes_over_parts(each, modules) if library and isinstance(each, ast.For) else _is_long(each)
            if is_long and not _goes_over(each, lists):
                yield loop
                break


def _goes_over(node: ast.AST, lists: set[str]) -> bool:
    """Return whether a loop goes over lists that are inputs, as ``for block in params["blocks"]`` does."""
    return isinstance(node, ast.For | ast.comprehension) and all(_key(each) in lists for each in _iterated(node.iter))


def _key(node: ast.expr) -> str | None:
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
    return last_name(node)


def _iterated(over: ast.expr) -> list[ast.expr]:
    """Return what a loop goes over, without ``enumerate``, ``reversed`` and ``zip``."""
    if isinstance(over, ast.Call) and last_name(over.func) in ("enumerate", "reversed", "zip") and over.args:
        return [each for argument in over.args for each in _iterated(argument)]
    return [over]


def _goes_over_parts(node: ast.For, modules: set[str]) -> bool:
    """Return whether a loop goes over an attribute of a module, as ``for layer in self.layers`` does."""
    over = _iterated(node.iter)[0]
    while isinstance(over, ast.Subscript):
        over = over.value
    return isinstance(over, ast.Attribute) and isinstance(over.value, ast.Name) and over.value.id in modules


def _is_long(node: ast.AST) -> bool:
    """Return whether a node is a loop that may have many rounds.

    One over pairs, as in ``for w, b in params``, goes over a list of layers. A comprehension over the result of a
    call, as in ``for w, g in zip(params, grads)``, goes over parameters, but for ``range``.
    """
    if not isinstance(node, ast.For | ast.comprehension):
        return isinstance(node, ast.While)
    is_variable = isinstance(node.iter, ast.Name | ast.Attribute | ast.Subscript)
    if is_variable or isinstance(node, ast.For):
        return not (is_variable and isinstance(node.target, ast.Tuple))
    return any(isinstance(each, ast.Name) and each.id == "range" for each in ast.walk(node.iter))
