"""Rewrites an ``if`` whose branches only assign to names, or return, with a ``jnp.where`` for each of the results.

What the branches assign is written as expressions of the values before the ``if``, so that the order of assignments
within a branch does not matter.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence, Set

from ....record.failure import Failure
from ...replaced_node import ReplacedNode
from ..expression import Expression, statements, value_named, with_imports
from ..known_values.size_use import names_in_body
from .selection import as_array, computes_alike, is_pure, is_traced, loaded, where
from .shapes import bool_shape, same_shape

#: What a branch assigns: the new values by name, and the returned one by this key.
_Assigned = dict[str, ast.expr]
_RETURNED = "return"

#: Longer code is not written.
_LONGEST = 600

#: The variable for a condition that several lines use.
_CONDITION = "condition"


def rewritten_if(failure: Failure, failing: Expression) -> str | None:
    """Return the ``if`` whose condition failed as choices between values; ``None`` if that is not mechanical."""
    statement = failing.statement
    if not isinstance(statement, ast.If) or failing.node not in (statement, *ast.walk(statement.test)):
        return None
    if not computes_alike(failure, statement.test) or not is_pure(failure, statement.test):
        return None
    orelse = statement.orelse or [each for each in [failing.other_return] if each is not None]
    first, other = (_assigned(failure, each, {}) for each in (statement.body, orelse))
    pairs = None if first is None or other is None else _pairs(first, other)
    pairs = {name: each for name, each in (pairs or {}).items() if not _is_temporary(failure, statement, name, each)}
    if not pairs or not _may_be_arrays(failure, pairs):
        return None
    code = _written(failure, statement.test, pairs)
    return with_imports(failure, code, "jax.numpy") if code is not None and len(code) <= _LONGEST else None


def _assigned(failure: Failure, body: Sequence[ast.stmt], before: Mapping[str, ast.expr]) -> _Assigned | None:
    """Return what statements assign, as expressions of the values before them; ``None`` if they do more than that."""
    known = {**before}
    for each in body:
        match each:
            case ast.Pass():
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                known[name] = _with_known(value, known)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                known[name] = _with_known(value, known)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                known[name] = _with_known(ast.BinOp(ast.Name(name, ast.Load()), op, value), known)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(
                values
            ) and all(isinstance(one, ast.Name) for one in targets):
                new_values = [_with_known(one, known) for one in values]
                known |= {
                    one.id: new for one, new in zip(targets, new_values, strict=True) if isinstance(one, ast.Name)
                }
            case ast.Return(value=ast.expr() as value) if each is body[-1]:
                return {_RETURNED: _with_known(value, known)}
            case ast.If(test=test):
                chosen = _chosen_between(failure, each, _with_known(test, known), known)
                if chosen is None:
                    return None
                known |= chosen
            case _:
                return None
    return known


def _chosen_between(
    failure: Failure, inner: ast.If, test: ast.expr, known: Mapping[str, ast.expr]
) -> _Assigned | None:
    """Return what an ``if`` inside a branch assigns, such as an ``elif``, with its condition as a choice."""
    first, other = (_assigned(failure, each, known) for each in (inner.body, inner.orelse))
    if first is None or other is None or not is_traced(failure, test):
        return None
    pairs = _pairs(first, other)
    if pairs is None:
        return None
    chosen = {name: _choice(failure, test, *pair) for name, pair in pairs.items()}
    return {name: each for name, each in chosen.items() if each is not None} if all(chosen.values()) else None


def _pairs(first: _Assigned, other: _Assigned) -> dict[str, tuple[ast.expr, ast.expr]] | None:
    """Return both values of each name; ``None`` if one branch alone returns."""
    if (_RETURNED in first) != (_RETURNED in other):
        return None
    names = [_RETURNED] if _RETURNED in first else list(dict.fromkeys((*first, *other)))
    sides = {name: tuple(each.get(name, ast.Name(name, ast.Load())) for each in (first, other)) for name in names}
    return {name: (a, b) for name, (a, b) in sides.items() if ast.unparse(a) != ast.unparse(b)}


def _choice(failure: Failure, test: ast.expr, first: ast.expr, other: ast.expr) -> ast.expr | None:
    """Return the choice between two values of one shape, or between those of two tuples."""
    if ast.unparse(first) == ast.unparse(other):
        return first
    if isinstance(first, ast.Tuple) and isinstance(other, ast.Tuple) and len(first.elts) == len(other.elts):
        parts = [_choice(failure, test, *pair) for pair in zip(first.elts, other.elts, strict=True)]
        return ast.Tuple([each for each in parts if each is not None], ast.Load()) if all(parts) else None
    bools = {bool_shape(failure, each) for each in (first, other)}
    alike = same_shape(failure, first, other) or (len(bools) == 1 and None not in bools)
    return where(failure, test, first, other) if alike else None


def _written(failure: Failure, test: ast.expr, pairs: Mapping[str, tuple[ast.expr, ast.expr]]) -> str | None:
    """Write the choices, a line each: with the condition in a variable if they change it, or in one assignment."""
    order = _ordered(pairs, loaded(test))
    names = order or tuple(pairs)
    held = order is not None and not loaded(test).isdisjoint(order[:-1])
    together = order is None or (held and _is_used(failure, _CONDITION))
    condition = ast.Name(_CONDITION, ast.Load()) if held and not together else test
    choices = [_choice(failure, condition, *pairs[name]) for name in names]
    if not choices or not all(choices):
        return None
    texts = [ast.unparse(ast.fix_missing_locations(each)) for each in choices if each is not None]
    if _RETURNED in names:
        return f"return {texts[0]}"
    if together:
        return f"{', '.join(names)} = {', '.join(texts)}"
    lines = [f"{name} = {text}" for name, text in zip(names, texts, strict=True)]
    first = ast.unparse(ast.fix_missing_locations(as_array(failure, test)))
    return "\n".join([f"{_CONDITION} = {first}", *lines] if held else lines)


def _ordered(pairs: Mapping[str, tuple[ast.expr, ast.expr]], tested: Set[str]) -> tuple[str, ...] | None:
    """Return names in an order in which no value reads one that is assigned before, those of the condition last."""
    left, ordered = dict(pairs), list[str]()
    while left:
        free = [name for name in left if not any(name in _read(left[each]) for each in left if each != name)]
        if not free:
            return None
        ordered.append(min(free, key=lambda name: name in tested))
        del left[ordered[-1]]
    return tuple(ordered)


def _read(values: Iterable[ast.expr]) -> set[str]:
    return {name for each in values for name in loaded(each)}


def _is_used(failure: Failure, name: str) -> bool:
    """Return whether the failing function has a variable with a name, as far as its statements are known."""
    nodes = (node for text in failure.body for each in statements(text) for node in ast.walk(each))
    return name in failure.parameters or any(isinstance(each, ast.Name) and each.id == name for each in nodes)


def _may_be_arrays(failure: Failure, pairs: Mapping[str, tuple[ast.expr, ast.expr]]) -> bool:
    """Return whether nothing in the function needs a number of Python: no size, and no index that a list may have."""
    nodes = [node for text in failure.body for each in statements(text) for node in ast.walk(each)]
    indices = _read(each.slice for each in nodes if isinstance(each, ast.Subscript))
    numbers = {name for name, each in pairs.items() if not any(value_named(failure, read) for read in _read(each))}
    return indices.isdisjoint(numbers) and not any(
        name in pairs for name in names_in_body(failure, "size", "range", "slice")
    )


def _is_temporary(failure: Failure, statement: ast.If, name: str, values: Iterable[ast.expr]) -> bool:
    """Return whether one branch alone assigns to a variable that has no value before, and nothing reads it later."""
    alone = any(isinstance(each, ast.Name) and each.id == name for each in values)
    if not alone or any(each.text == name and each.type is not None for each in failure.operands):
        return False
    everywhere = [node for text in failure.body for each in statements(text) for node in ast.walk(each)]
    counts = [
        sum(isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load) for each in nodes)
        for nodes in (everywhere, ast.walk(statement))
    ]
    return bool(failure.body) and counts[0] == counts[1]


def _with_known(value: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    """Return an expression with the values of variables in place of those that were assigned before it."""
    new = copy.deepcopy(value)
    for each in [node for node in ast.walk(new) if isinstance(node, ast.Name) and node.id in known]:
        new = ReplacedNode(each, copy.deepcopy(known[each.id])).visit(new)
    return new
