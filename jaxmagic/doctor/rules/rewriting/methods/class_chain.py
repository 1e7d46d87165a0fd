"""Finds a class of the user's with the classes that it is made from, if their code is all that there is of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from .....records.cell_names import cells_with
from ...host.syntax import Function
from ..syntax import stored, tree_of

#: Bases that add nothing to objects.
_EMPTY = frozenset({"object", "ABC", "abc.ABC"})

#: Methods and functions by which attributes change unseen, or an object is not the same in each call.
_UNSEEN = frozenset({"__dict__", "__slots__", "delattr", "getattr", "globals", "locals", "setattr", "super", "vars"})
_SPECIAL = frozenset({
    "__delattr__", "__eq__", "__getattr__", "__getattribute__", "__hash__", "__init_subclass__", "__new__",
    "__setattr__",
})  # fmt: skip

#: What a method begins with that fills an object.
MAKING = "__init__"


class OneClass(NamedTuple):
    """A class and its file or cell."""

    node: ast.ClassDef
    file: str


def class_chain(first: OneClass) -> list[OneClass]:
    """Return a class and its bases, the nearest first; empty if objects may have more than their code tells.

    That is the case if one of them is not known, has two bases, or reads attributes in another way than by name.

    Args:
        first: the class.
    """
    found = [first]
    while _is_simple(found[-1].node):
        bases = [each for each in found[-1].node.bases if ast.unparse(each) not in _EMPTY]
        if not bases:
            return found
        base = class_named(ast.unparse(bases[0]), found[-1].file) if len(bases) == 1 else None
        if base is None or base in found:
            return []
        found.append(base)
    return []


def class_named(name: str, file: str) -> OneClass | None:
    """Return the class with a name in a file or all cells; ``None`` unless nothing else has this name at any time."""
    trees = [(tree, each) for each in dict.fromkeys([file, *cells_with(file)]) if (tree := tree_of(each)) is not None]
    found = [
        OneClass(each, place)
        for tree, place in trees
        for each in tree.body
        if isinstance(each, ast.ClassDef) and each.name == name
    ]
    bound = sum(_binds(each, name) for tree, _ in trees for each in ast.walk(tree))
    return found[0] if len(found) == bound == 1 else None


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=bound, ctx=ast.Store() | ast.Del()):
            return bound == name
        case ast.ClassDef(name=bound) | ast.FunctionDef(name=bound) | ast.AsyncFunctionDef(name=bound):
            return bound == name
        case ast.alias(name=path, asname=asname):
            return (asname or path).partition(".")[0] in (name, "*")
    return False


def methods_of(chain: Sequence[OneClass]) -> dict[str, tuple[Function, str]]:
    """Return the methods that objects of a class have, by name, with their files; not what else has such a name."""
    found = dict[str, tuple[Function, str]]()
    for node, file in reversed(chain):
        found |= {each.name: (each, file) for each in node.body if isinstance(each, Function)}
        others = stored(each for each in node.body if not isinstance(each, Function))
        found = {name: method for name, method in found.items() if name not in others}
    return found


def _is_simple(node: ast.ClassDef) -> bool:
    """Return whether objects of a class are hashed by identity, and have the attributes that its code assigns."""
    methods = [each for each in node.body if isinstance(each, Function)]
    making = {id(name) for each in methods if each.name == MAKING for name in _supers(each)}
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and id(each) not in making}
    used |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    names = {each.name for each in methods}
    return not (node.keywords or node.decorator_list or names & _SPECIAL or used & _UNSEEN)


def _supers(making: ast.AST) -> list[ast.Name]:
    """Return the names in ``super().__init__``, which fills an object as the base does."""
    return [
        name
        for each in ast.walk(making)
        if isinstance(each, ast.Attribute) and each.attr == MAKING and ast.unparse(each.value) == "super()"
        for name in ast.walk(each.value)
        if isinstance(name, ast.Name)
    ]
