"""The code of a diagnosis and the variables that it sees, and whether running it again would do something else."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .stored_names import StoredName, attributes_of

#: What the names begin with that a magic in the code has while it runs.
_OURS = "__jaxmagic_"


@dataclass(frozen=True, slots=True)
class Scope:
    """Some code, and the variables that it sees.

    Attributes:
        code: its source; ``None`` if it could not be read.
        variables: the variables by name.
    """

    code: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree of the code; ``None`` if it is unknown, or has a magic in it."""
        try:
            return None if self.code is None else ast.parse(self.code)
        except (SyntaxError, ValueError):
            return None

    def read(self) -> dict[str, Any]:
        """Return the variables that the code reads before it assigns them; all of them if its source is unknown."""
        tree = self.tree
        if tree is None:
            return {name: value for name, value in self.variables.items() if not name.startswith(_OURS)}
        assigned: set[str] = set()
        found: dict[str, Any] = {}
        for name, stored in _names(tree.body):
            if stored:
                assigned.add(name)
            elif name not in assigned and name in self.variables:
                found[name] = self.variables[name]
        return {name: value for name, value in found.items() if getattr(builtins, name, None) is not value}

    def module_attributes(self) -> list[StoredName]:
        """Return the attributes of the user's modules that the code reads or assigns."""
        nodes = [] if self.tree is None else [node for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)]
        names = list(dict.fromkeys(node.attr for node in nodes))
        return [stored for name, value in self.read().items() for stored in attributes_of(name, value, names)]

    def reached(self) -> dict[str, Any]:
        """Return the variables that the code reads, and the attributes of the user's modules that it names."""
        return {**self.read(), **{stored.path: stored.value() for stored in self.module_attributes()}}


def rebound(tree: ast.Module, known: Mapping[str, Any]) -> list[str]:
    """Return the known variables that the code reads and then assigns or deletes: it does something else next time.

    >>> rebound(ast.parse("y = f(x)"), {"f": 1, "x": 1, "y": 1})
    []
    >>> rebound(ast.parse("state, loss = step(state)"), {"state": 1})
    ['state']
    >>> rebound(ast.parse("del x"), {"x": 1})
    ['x']
    """
    assigned: set[str] = set()
    read: dict[str, None] = {}
    changed: dict[str, None] = {}
    for name, stored in _names(tree.body):
        if stored:
            assigned.add(name)
            if name in read:
                changed.setdefault(name)
        elif name not in assigned and name in known:
            read.setdefault(name)
    return list(changed)


def _names(body: list[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """Yield the names of some statements in the order of evaluation, and whether each is assigned, or is not there.

    What is deleted is read before.
    """
    for statement in body:
        yield from _names_in(statement)


def _names_in(node: ast.AST) -> Iterator[tuple[str, bool]]:
    match node:
        case ast.Name(ctx=ast.Del()):
            yield node.id, False
            yield node.id, True
        case ast.Name():
            yield node.id, not isinstance(node.ctx, ast.Load)
        case ast.AugAssign(target=ast.Name() as target):
            yield from _names_in(node.value)
            yield target.id, False
            yield target.id, True
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
            if node.value is not None:
                yield from _names_in(node.value)
            for goal in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from _names_in(goal)
        case ast.For() | ast.AsyncFor():
            for each in (node.iter, node.target, *node.body, *node.body, *node.orelse):  # a later round reads again
                yield from _names_in(each)
        case ast.While():
            for again in (node.test, *node.body, node.test, *node.body, *node.orelse):
                yield from _names_in(again)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            yield from _free_names(node)
            if not isinstance(node, ast.Lambda):
                yield node.name, True
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            own = {
                each.id for part in node.generators for each in ast.walk(part.target) if isinstance(each, ast.Name)
            }
            inner = (found for child in ast.iter_child_nodes(node) for found in _names_in(child))
            yield from (found for found in inner if found[0] not in own)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _names_in(child)


def _free_names(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the names that a function or class reads from outside, as far as its syntax shows."""
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    arguments = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    own = arguments | {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    yield from ((each.id, False) for each in names if each.id not in own)
