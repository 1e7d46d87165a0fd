"""Recognizes arithmetic with dictionaries of arrays, such as ``params - 0.1 * grads``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from .....runtime.around import is_exactly
from ....analysis.failures.wrong_arguments.values.trees import leaves, whole_expression
from ..called import users_last
from ..calls import MISSING, value_of
from ..operands import array_type
from ..statement import place_of

#: Not more values of a dictionary are looked at.
_MOST = 100


def arithmetic_of_trees(traceback: TracebackType | None) -> dict[str, str] | None:
    """Return which operands of the failing expression are dictionaries of arrays; ``None`` without any."""
    last = users_last(traceback)
    if last is None or last.tb_next is not None:
        return None
    place = place_of(last.tb_frame.f_code, last.tb_lasti)
    if not isinstance(place.node, ast.BinOp | ast.AugAssign) or place.statement is None:
        return None
    nodes = list(leaves(whole_expression(place.statement, place.node)))
    values = [value_of(each, last.tb_frame) for each in nodes]
    trees = [ast.unparse(node) for node, value in zip(nodes, values, strict=True) if _holds_arrays(value)]
    if not trees:
        return None
    known = all(_holds_arrays(value) or _is_number(value) for value in values)
    return {"trees": "\n".join(dict.fromkeys(trees)), "known": "1" if known else ""}


def _holds_arrays(value: Any) -> bool:
    return is_exactly(value, dict) and any(array_type(each) is not None for each in _inside(value, [_MOST]))


def _inside(value: Any, left: list[int]) -> Iterator[Any]:
    """Iterate over the leaves of dictionaries in each other, as long as some are left."""
    for each in dict.values(value):
        left[0] -= 1
        if left[0] < 0:
            return
        if is_exactly(each, dict):
            yield from _inside(each, left)
        else:
            yield each


def _is_number(value: Any) -> bool:
    return value is not MISSING and (is_exactly(value, int, float) or array_type(value) is not None)
