"""Tells whether what a loop carries from round to round begins with the shape that every round gives it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from ...numbers.python_numbers import assignments, is_number, python_numbers
from ...syntax import last_name, loaded
from ..loop_facts import assigns

#: Functions and methods that return a scalar of an array, if they are given no axis.
_REDUCTIONS = frozenset(
    {"all", "any", "count_nonzero", "max", "mean", "min", "norm", "prod", "std", "sum", "var", "vdot"}
)


def widened_by(loop: ast.For, carry: Collection[str], function: ast.AST) -> set[str]:
    """Return the variables that are numbers before a loop, and of which a round may make arrays.

    Args:
        loop: the loop.
        carry: the variables that it carries.
        function: the function around it.
    """
    numbers = python_numbers(function) | assigns([loop.target])
    inside = {id(each) for each in ast.walk(loop)}
    begun: dict[str, ast.expr | None] = {}
    for statement in (each for each in ast.walk(function) if isinstance(each, ast.stmt) and id(each) not in inside):
        if statement.lineno < loop.lineno and isinstance(statement, ast.Assign):
            begun |= dict(assignments(ast.Module([statement], [])))
    found = {name for name in carry if isinstance(begun.get(name), ast.Constant)}
    updates = [(name, value) for name, value in assignments(loop) if name in found]
    scalars = {*found}
    while wide := {each for each, value in updates if value is None or not _is_scalar(value, numbers | scalars)}:
        if not wide & scalars:
            break
        scalars -= wide
    return found - scalars


def stay_after_one(loop: ast.For, names: Collection[str]) -> bool:
    """Return whether a round makes arrays of all variables that begin as numbers, as far as its syntax tells."""
    numbers = {*names} | assigns([loop.target])
    for name, value in _in_order(loop.body):
        if loaded([value]) - numbers:
            numbers -= {name}
    return not numbers & {*names}


def _in_order(statements: Sequence[ast.stmt]) -> list[tuple[str, ast.expr]]:
    return [(name, value) for name, value in assignments(ast.Module([*statements], [])) if value is not None]


def _is_scalar(value: ast.expr, scalars: set[str]) -> bool:
    """Return whether an expression is a scalar, if some variables are."""
    match value:
        case ast.BinOp(left=left, right=right):
            return _is_scalar(left, scalars) and _is_scalar(right, scalars)
        case ast.UnaryOp(operand=operand):
            return _is_scalar(operand, scalars)
        case ast.Call(func=called, args=args, keywords=keywords):
            if last_name(called) in _REDUCTIONS and not keywords and len(args) <= 1:
                return True
            return bool(args) and all(_is_scalar(each, scalars) for each in args)
    return is_number(value, scalars)
