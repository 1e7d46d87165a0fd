"""Explains a conversion to a number, or an array of NumPy, that the line stores outside of the traced function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression, value_named
from .passed_functions import maps_in, passed_on


def stored_number(failure: Failure, failing: Expression | None, name: str) -> Note | None:
    """Return the advice to store a value after the call; ``None`` if the line stores it nowhere else.

    Args:
        failure: what is known about the failure.
        failing: the failing expression.
        name: what converts the value or its elements, such as ``"float"``, ``"item"`` or ``"np.asarray"``.
    """
    failing = None if failing is None else _converting(failing, name)
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call) or not dict(failure.said).get("outlives"):
        return None
    mapped = next(iter(maps_in(node)), None)  # as in history.extend(map(float, x))
    if mapped is None and passed_on(failure, failing):
        return None
    is_method = isinstance(node.func, ast.Attribute) and not node.args
    value = node.func.value if isinstance(node.func, ast.Attribute) and is_method else next(iter(node.args), None)
    value = value if mapped is None else mapped.args[1]
    if value is None:
        return None
    kept = _outside_of_loops(failure, failing, value)
    text = "" if kept is None else ast.unparse(kept)
    new = text if text.isidentifier() else "value"
    code = None if kept is None else replace(failing, node=kept).with_node(ast.Name(new, ast.Load()))
    known = {each.name for each in failure.values} - {new, *_bound(failing)}
    alone = not any(ast.unparse(each) in known for each in ast.walk(failing.statement) if isinstance(each, ast.expr))
    traced = failure.traced
    outermost = traced is not None and traced.transform == "jit" and not failure.nested
    return note(
        "doctor.write_number_after",
        value=text if failure.own or kept is not value or mapped is not None else "",
        name=new,
        need=name,
        function="" if traced is None else traced.function,
        outermost=outermost,
        differentiated=traced is None and not failure.vmapped,
        code=(code or "") if alone else "",
    )


#: Functions whose result no traced function returns, but what they go through.
_GOING_THROUGH = "enumerate", "zip", "reversed", "list", "tuple", "range"

_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

#: Methods of a dictionary that go through it.
_OF_DICT = "items", "values"


def _converting(failing: Expression, name: str) -> Expression:
    """Return the call that converts, where Python names only the comprehension around it, as since 3.12."""
    if not isinstance(failing.node, _COMPREHENSIONS):
        return failing
    calls = [each for each in ast.walk(failing.node) if isinstance(each, ast.Call)]
    converting = [each for each in calls if ast.unparse(each.func).rpartition(".")[2] == name]
    return replace(failing, node=converting[0]) if len(converting) == 1 else failing


def _loops(failing: Expression) -> Iterator[tuple[set[str], ast.expr]]:
    """Iterate over the loops within a statement around the failing expression, innermost first.

    Yields:
        The variables of a loop, and what it goes through: ``e`` and ``x`` in ``[float(e) for e in x]``.
    """
    around = [each for each in ast.walk(failing.statement) if any(part is failing.node for part in ast.walk(each))]
    for node in reversed(around):
        match node:
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for each in reversed(node.generators):
                    yield _names(each.target), each.iter
            case ast.Call(func=ast.Name(id="map"), args=[ast.Lambda(args=given), iterated]):
                yield {each.arg for each in given.args}, iterated


def _bound(failing: Expression) -> set[str]:
    return {name for names, _ in _loops(failing) for name in names}


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _outside_of_loops(failure: Failure, failing: Expression, value: ast.expr) -> ast.expr | None:
    """Return what a traced function can return in place of a value that has variables of loops within the statement.

    It is ``x`` for ``float(e) for e in x``; ``None`` if it is not one array or container.
    """
    bound, kept = _bound(failing), value
    for names, iterated in _loops(failing):
        if names.isdisjoint(_names(kept)):
            continue
        known = [each for each in ast.walk(kept) if isinstance(each, ast.expr) and _is_known(failure, each, bound)]
        if len({ast.unparse(each) for each in known}) > 1:
            return None
        outer = known[0] if known else _gone_through(iterated)
        if outer is None:
            return None
        kept = outer
    return kept


def _is_known(failure: Failure, node: ast.expr, bound: set[str]) -> bool:
    return value_named(failure, ast.unparse(node)) is not None and bound.isdisjoint(_names(node))


def _gone_through(iterated: ast.expr) -> ast.expr | None:
    """Return what a loop goes through, as ``x`` in ``enumerate(x)``; ``None`` if that is not one."""
    match iterated:
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[]) if method in _OF_DICT:
            return owner
        case ast.Call(func=ast.Name(id=name), args=args) if name in _GOING_THROUGH:
            texts = {ast.unparse(each) for each in args}
            return args[0] if len(texts) == 1 and name != "range" else None
    return iterated
