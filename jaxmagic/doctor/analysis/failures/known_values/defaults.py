"""Tells ``a or default``, which returns one of two values, from a condition that ``or`` joins."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from .....records.note import Note, note
from ....record.failure import Failure
from ..choices.selection import may_diverge
from ..expression import Expression, spelled, value_named

#: Functions that return conditions.
_CONDITIONS = "isnan", "isinf", "isfinite", "isclose", "any", "all", "allclose", "array_equal", "isin", "bool"

#: Longer code is not written.
_LONGEST = 600

#: Functions whose first argument is a condition.
_CHOOSING = "where", "cond", "select", "bool", "any", "all"


def replaced_default(failure: Failure, failing: Expression, operator: str) -> tuple[Note, str | None] | None:
    """Return the advice for ``a or b`` that is no condition: one of them is assigned or passed on.

    Where `a` is a parameter that is ``None`` if it is left out, the code tests just that.
    """
    whole = next((each for each in (failing.node, failing.parent) if isinstance(each, ast.BoolOp)), None)
    if whole is None or len(whole.values) != 2 or any(each is whole for each in _conditions(failing.statement)):
        return None
    first, other = whole.values
    optional = isinstance(first, ast.Name) and first.id in dict(failure.said).get("optional", "").split(", ")
    if not optional and not _is_value(failure, first, other):
        return None
    none = ast.Compare(left=first, ops=[ast.Is()], comparators=[ast.Constant(None)])
    chosen = ast.IfExp(none, other, first) if operator == "or" else ast.IfExp(none, first, other)
    code = replace(failing, node=whole).with_node(chosen) if optional else None
    texts = ast.unparse(first), ast.unparse(other)
    remedy = note(
        "doctor.write_default",
        operator=operator,
        first=texts[0],
        other=texts[1],
        jnp=spelled(failure, "jax.numpy"),
        gradient=any(map(may_diverge, texts)),
        optional=optional,
    )
    return remedy, code


def tested_default(failure: Failure, failing: Expression) -> tuple[Note, str | None] | None:
    """Return the advice for ``if a`` where `a` is a parameter that is ``None`` if it is left out.

    A choice between two values would compute with ``None`` then.
    """
    statement, node = failing.statement, failing.node
    choices = [each for each in ast.walk(statement) if isinstance(each, ast.If | ast.IfExp)]
    whole = next((each for each in choices if node in (each, each.test, *ast.iter_child_nodes(each.test))), None)
    if whole is None:
        return None
    test, is_none = whole.test, isinstance(whole.test, ast.UnaryOp) and isinstance(whole.test.op, ast.Not)
    name = test.operand if isinstance(test, ast.UnaryOp) and is_none else test
    if not isinstance(name, ast.Name) or name.id not in dict(failure.said).get("optional", "").split(", "):
        return None
    whole.test = ast.Compare(name, [ast.Is() if is_none else ast.IsNot()], [ast.Constant(None)])
    code = ast.unparse(ast.fix_missing_locations(statement))
    advice = note("doctor.write_given", name=name.id, test=ast.unparse(whole.test))
    return advice, code if len(code) <= _LONGEST else None


def _is_value(failure: Failure, first: ast.expr, other: ast.expr) -> bool:
    """Return whether the operands are values rather than conditions, as far as types and syntax tell."""
    types = [_type(failure, first) or failure.type or "", _type(failure, other)]
    if types[0] and not types[0].startswith("bool"):
        return True
    made = isinstance(other, ast.Call) and ast.unparse(other.func).rpartition(".")[2] not in _CONDITIONS
    made = made and "logical_" not in ast.unparse(other)
    number = isinstance(other, ast.Constant) and type(other.value) in (int, float)
    return isinstance(first, ast.Name | ast.Attribute | ast.Subscript) and (
        made or number or bool(types[1] and not types[1].startswith("bool"))
    )


def _type(failure: Failure, node: ast.expr) -> str:
    value = value_named(failure, ast.unparse(node))
    return "" if value is None else value.type


def _conditions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement that decide something, or are compared."""
    for each in ast.walk(statement):
        match each:
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test) | ast.IfExp(test=test):
                yield from ast.walk(test)
            case ast.UnaryOp(op=ast.Not()) | ast.Compare():
                yield from ast.walk(each)
            case ast.comprehension(ifs=tests):
                yield from (node for test in tests for node in ast.walk(test))
            case ast.Call(func=function, args=[test, *_]) if ast.unparse(function).rpartition(".")[2] in _CHOOSING:
                yield from ast.walk(test)
