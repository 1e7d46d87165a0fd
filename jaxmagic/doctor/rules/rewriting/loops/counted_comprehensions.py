"""Tells how many operations comprehensions call that go over numbers or constants, as far as their syntax tells."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping

from ..numbers.narrow import Number, computed
from ..syntax import last_name

#: What calls an operation if its operands are arrays.
OPERATIONS = ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.UnaryOp


def operations_counted(statement: ast.stmt, numbers: Mapping[str, Number]) -> int | None:
    """Return how many operations the comprehensions of a statement call; ``None`` if one goes over something else.

    >>> statement = ast.parse("s = sum(jnp.sin(x) * i for i in range(3) for k in (1, 2))").body[0]
    >>> operations_counted(statement, {})
    12

    Args:
        statement: the statement.
        numbers: the variables that are numbers, with their values.
    """
    found = [each for each in ast.walk(statement) if isinstance(each, ast.ListComp | ast.GeneratorExp)]
    others = any(isinstance(each, ast.SetComp | ast.DictComp) for each in ast.walk(statement))
    rounds = [_rounds(each.generators, numbers) for each in found]
    if others or None in rounds:
        return None
    return sum(math.prod(filter(None, rounds)) * _operations(each.elt) for each in found)


def _operations(node: ast.expr) -> int:
    return sum(isinstance(each, OPERATIONS) for each in ast.walk(node))


def _rounds(generators: Iterable[ast.comprehension], numbers: Mapping[str, Number]) -> int | None:
    """Return how often a comprehension computes an item; ``None`` if unknown."""
    rounds = 1
    for each in generators:
        length = _length(each.iter, numbers)
        if length is None:
            return None
        rounds *= length
    return rounds


def _length(over: ast.expr, numbers: Mapping[str, Number]) -> int | None:
    match over:
        case ast.Tuple(elts=items) | ast.List(elts=items) if all(_is_constant(each) for each in items):
            return len(items)
        case ast.Call(func=called, args=args, keywords=[]) if last_name(called) == "range":
            bounds = [computed(each, numbers) for each in args]
            known = [each.pairs[0][0] for each in bounds if each is not None and len(each.pairs) == 1]
            if len(known) == len(args) and all(type(each) is int for each in known):
                return len(range(*known))
    return None


def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(each, ast.Name | ast.Call) for each in ast.walk(node))
