"""Follows a number through the variables of the failing function: what it was computed of, and what reads it."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator
from types import CodeType

from ..statement import Place, definition

#: Not more variables, nor more statements, are followed.
_MOST = 8

#: At most this many statements of a function are kept.
_MOST_OF_BODY = 200


def computed_of(place: Place, code: CodeType) -> tuple[tuple[str, str], ...]:
    """Return the variables that the failing statement reads, and those in them, with what they were computed of.

    Those that the function assigns more than once, or that are its parameters, are left out.
    """
    if place.statement is None:
        return ()
    of = {name: value for at, name, value in _once_computed(place, code) if at < place.statement.lineno}
    found, names = dict[str, str](), list(_read(place.statement))
    while names and len(found) < _MOST:
        name = names.pop(0)
        if name in of and name not in found:
            found[name] = ast.unparse(of[name])
            names += _read(of[name])
    return tuple(found.items())


def read_by(place: Place, code: CodeType) -> tuple[str, ...]:
    """Return the statements that read the variable to which the failing one assigns, and those that read theirs.

    For an ``if`` or a ``while``, these are the statements that read what its condition reads. Compound statements
    have no body. There are none if the function assigns to the variable again.
    """
    stored, assignments = _assignments(place, code)
    bound = {id(each): {name for target in each.targets for name in _stored(target)} for each in assignments}
    once = {key: names for key, names in bound.items() if all(stored[name] == 1 for name in names)}
    if isinstance(place.statement, ast.If | ast.While):
        names = set(_read(place.statement.test))
    elif place.statement is not None and id(place.statement) in once:
        names = {*once[id(place.statement)]}
    else:
        return ()
    found = list[str]()
    for each in _statements(place, code):
        if each.lineno > place.statement.lineno and not names.isdisjoint(_read(each)) and len(found) < _MOST:
            found.append(ast.unparse(each))
            names |= once.get(id(each), set())
    return tuple(found)


def body_of(place: Place, code: CodeType) -> tuple[str, ...]:
    """Return the statements of the failing function in their order; compound ones have no body."""
    return tuple(ast.unparse(each) for each in itertools.islice(_statements(place, code), _MOST_OF_BODY))


def _once_assigned(place: Place, code: CodeType) -> Iterator[tuple[ast.Assign, str]]:
    stored, assignments = _assignments(place, code)
    for each in assignments:
        match each.targets:
            case [ast.Name(id=name)] if stored[name] == 1:
                yield each, name


def _once_computed(place: Place, code: CodeType) -> Iterator[tuple[int, str, ast.expr]]:
    """Iterate over what is assigned to variables, those into which a container is unpacked as well: with its line."""
    yield from ((each.lineno, name, each.value) for each, name in _once_assigned(place, code))
    stored, assignments = _assignments(place, code)
    for each in assignments:
        match each:
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Name() | ast.Attribute() | ast.Subscript()):
                for index, part in enumerate(itertools.takewhile(lambda one: isinstance(one, ast.Name), parts)):
                    if isinstance(part, ast.Name) and stored[part.id] == 1:
                        yield each.lineno, part.id, ast.Subscript(each.value, ast.Constant(index), ast.Load())


def _assignments(place: Place, code: CodeType) -> tuple[Counter[str], list[ast.Assign]]:
    """Return how often the failing function assigns to each name, and its assignments."""
    home = definition(place.tree, code.co_name, code.co_firstlineno)
    nodes = list(ast.walk(home)) if home is not None else []
    stored = Counter(each.id for each in nodes if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load))
    stored.update(each.arg for each in nodes if isinstance(each, ast.arg))
    return stored, [each for each in nodes if isinstance(each, ast.Assign)]


def _statements(place: Place, code: CodeType) -> Iterator[ast.stmt]:
    """Iterate over the statements of the failing function in their order, compound ones without what is in them."""
    home = definition(place.tree, code.co_name, code.co_firstlineno)
    inside = [each for each in ast.walk(home) if isinstance(each, ast.stmt)] if home is not None else []
    for each in sorted(inside, key=lambda statement: (statement.lineno, statement.col_offset)):
        match each:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Expr():
                yield each
            case ast.For(target=target, iter=iterated):
                header = ast.For(target=target, iter=iterated, body=[ast.Pass()], orelse=[])
                yield ast.copy_location(header, each)


def _read(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))


def _stored(target: ast.expr) -> Iterator[str]:
    return (each.id for each in ast.walk(target) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
