"""Tells from the syntax which lists and arrays a loop takes the arguments of a call from."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping

from ....records.call_stack import Frame
from ..host.syntax import assigned
from . import syntax
from .syntax import last_name

#: Methods that change their array in place, and functions that change their argument.
_IN_PLACE = "fill", "partition", "put", "resize", "sort"
_CHANGING = "copyto", "put", "shuffle"


def items_given(line: Frame, given: Iterable[ast.expr]) -> list[str]:
    """Return the lists whose items a line in a loop passes on unchanged, as ``xs`` in ``for x in xs: f(x)``.

    Args:
        line: the line.
        given: the expressions that are passed.
    """
    tree = syntax.tree_of(line.file)
    loops = [] if tree is None else syntax.loops_around(tree, line.line)
    scope = syntax.function_around(tree, line.line) or tree if tree is not None else None
    if scope is None:
        return []
    found = {name: source for loop in loops for name, source in _items(loop)}
    changed = changed_in_place(scope) | {name for loop in loops for name in _assigned_in_body(loop)}
    lists: list[str] = []
    for each in given:
        match each:
            case ast.Name(id=name) if name in found and name not in changed:
                lists.append(found[name])
            case ast.Subscript(value=ast.Name() | ast.Attribute() as value, slice=index) if not _is_slice(index):
                lists.append(ast.unparse(value))
    return [each for each in dict.fromkeys(lists) if each.partition(".")[0] not in changed]


def parts_given(line: Frame, given: Iterable[ast.expr]) -> list[str | None]:
    """Return the array of which each passed expression is a part, as ``x[rows]`` and ``for x in xs``.

    An expression may be assigned to a variable in the loop before. ``None`` stands for one that is no part, or of
    an array that changes meanwhile.
    """
    tree = syntax.tree_of(line.file)
    loops = [] if tree is None else syntax.loops_around(tree, line.line)
    scope = syntax.function_around(tree, line.line) or tree if tree is not None else None
    if scope is None:
        return [None for _ in given]
    items = {name: source for loop in loops for name, source in _items(loop)}
    assigns = [pair for loop in loops[:1] for pair in _assigned_values(loop)]
    values = {name: value for name, value in assigns if [each for each, _ in assigns].count(name) == 1}
    changed = changed_in_place(scope)
    kept = {name: source for name, source in items.items() if name not in {name for name, _ in assigns}}
    parts = [None if _is_named(each, changed) else _part_of(each, kept, values, items) for each in given]
    return [None if part is None or part.partition(".")[0] in changed else part for part in parts]


def _is_in(node: ast.expr, value: ast.expr | None) -> bool:
    """Return whether an expression is a part of a value, as the second ``x`` in ``x = jnp.asarray(x)``."""
    place = node.lineno, node.col_offset
    return value is not None and any(
        isinstance(each, ast.Name) and (each.lineno, each.col_offset) == place for each in ast.walk(value)
    )


def _is_named(node: ast.expr, names: Container[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _part_of(
    node: ast.expr, kept: Mapping[str, str], values: Mapping[str, ast.expr], items: Mapping[str, str]
) -> str | None:
    """Return the array of which an expression is a part.

    Args:
        node: the expression.
        kept: the variables of loops that nothing else is assigned to, and the arrays whose items they are.
        values: what is assigned once to other variables.
        items: all variables of loops.
    """
    match node:
        case ast.Name(id=name) if name in items and _is_in(node, values.get(name)):
            return items[name]
        case ast.Name(id=name) if name in kept:
            return kept[name]
        case ast.Name(id=name) if name in values:
            return _part_of(values[name], kept, {}, {})
        case ast.Subscript(value=ast.Name() | ast.Attribute() as value):
            return ast.unparse(value)
    return None


def _assigned_values(loop: syntax.Loop) -> Iterator[tuple[str, ast.expr]]:
    """Yield the variables that the body of a loop assigns, and the values; those of pairs one by one."""
    body = loop.body if isinstance(loop, ast.For | ast.While) else []
    for node in (each for statement in body for each in ast.walk(statement)):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=False)
            case ast.Assign(targets=targets, value=value):
                pairs = zip(targets, [value] * len(targets), strict=True)
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                pairs = zip([target, target], [value, value], strict=True)  # counts twice: it is no plain value
            case _:
                continue
        yield from ((name, value) for target, value in pairs for name in assigned(target))


def _reordered(scope: ast.AST) -> set[str]:
    """Return the variables that functions and methods of NumPy change in place."""
    calls = [each for each in ast.walk(scope) if isinstance(each, ast.Call)]
    methods = [each.func for each in calls if isinstance(each.func, ast.Attribute) and each.func.attr in _IN_PLACE]
    changed = [argument for each in calls if last_name(each.func) in _CHANGING for argument in each.args]
    return syntax.loaded([*(each.value for each in methods), *changed])


def _items(loop: syntax.Loop) -> Iterator[tuple[str, str]]:
    """Yield the variables that a loop assigns items to, and the list that these are from."""
    if isinstance(loop, ast.While):
        return
    generators = [loop] if isinstance(loop, ast.For) else loop.generators
    for each in generators:
        yield from _pairs(each.target, each.iter)


def _pairs(target: ast.expr, source: ast.expr) -> Iterator[tuple[str, str]]:
    match source:
        case ast.Name() | ast.Attribute():
            yield from ((name, ast.unparse(source)) for name in assigned(target))
        case ast.Call(func=called, args=[only, *_]) if last_name(called) == "enumerate":
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                yield from _pairs(target.elts[1], only)
        case ast.Call(func=called, args=sources) if last_name(called) == "zip" and isinstance(target, ast.Tuple):
            for one, its in zip(target.elts, sources, strict=False):
                yield from _pairs(one, its)
        case ast.Call(func=called, args=[only]) if _keeps(called):
            yield from _pairs(target, only)
        case ast.Call(func=called, args=[ast.Name() | ast.Attribute() as whole, *_]) if _splits(called):
            yield from _pairs(target, whole)


def _keeps(called: ast.expr) -> bool:
    """Return whether a function passes the items of a list on as they are: Python's own, or a progress bar."""
    name = last_name(called) or ""
    return name in ("reversed", "iter") or name.endswith("qdm")


def _splits(called: ast.expr) -> bool:
    return ast.unparse(called) in ("np.split", "np.array_split", "numpy.split", "numpy.array_split")


def _assigned_in_body(loop: syntax.Loop) -> set[str]:
    """Return what a loop assigns besides its items: the targets of ``for`` inside it are items as well."""
    body = loop.body if isinstance(loop, ast.For | ast.While) else []
    targets = {id(name) for each in body for node in ast.walk(each) for name in _names_of_target(node)}
    names = (node for each in body for node in ast.walk(each) if isinstance(node, ast.Name))
    return {each.id for each in names if not isinstance(each.ctx, ast.Load) and id(each) not in targets}


def _names_of_target(node: ast.AST) -> list[ast.Name]:
    return [each for each in ast.walk(node.target) if isinstance(each, ast.Name)] if isinstance(node, ast.For) else []


def changed_in_place(scope: ast.AST) -> set[str]:
    """Return the variables whose elements are assigned, or which NumPy changes in place.

    >>> sorted(changed_in_place(ast.parse("x[0] = y[0]; rng.shuffle(z); np.add(a, b, out=c); d.sort()")))
    ['c', 'd', 'x', 'z']
    """
    return _stored_into(scope) | _reordered(scope)


def _stored_into(scope: ast.AST) -> set[str]:
    """Return the variables of which elements are assigned, or to which NumPy writes."""
    found: set[str] = set()
    for node in ast.walk(scope):
        stores = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Subscript | ast.keyword) and (stores or getattr(node, "arg", "") == "out"):
            found |= syntax.loaded([node.value])
    return found


def _is_slice(index: ast.expr) -> bool:
    return any(isinstance(each, ast.Slice) for each in ast.walk(index))
