"""Tells what functions return that are passed to a loop, by how they are written."""

from __future__ import annotations

import ast
import linecache
from types import CodeType
from typing import Any

from ....analysis.failures.wrong_arguments.transforms.loop_order import Returned, returned_by
from ....analysis.parsed_code import parsed
from ...remedies.user_functions import is_users_function
from ..calls import wrapped_function
from ..statement import definition


def returned(node: ast.expr, value: Any) -> Returned:
    """Return whether a function returns a bool, or certainly none; empty if its code does not tell.

    Args:
        node: the function as it is written in a call.
        value: the function.
    """
    if isinstance(node, ast.Lambda):
        return returned_by(node)
    function = wrapped_function(value) or value
    found = _defined(function.__code__) if is_users_function(function) else None
    return "" if found is None else returned_by(found)


def _defined(code: CodeType) -> ast.Lambda | ast.FunctionDef | None:
    tree = parsed("".join(linecache.getlines(code.co_filename)))
    if code.co_name != "<lambda>":
        return definition(tree, code.co_name, code.co_firstlineno)
    found = [each for each in ast.walk(tree) if isinstance(each, ast.Lambda) and each.lineno == code.co_firstlineno]
    return found[0] if len(found) == 1 else None
