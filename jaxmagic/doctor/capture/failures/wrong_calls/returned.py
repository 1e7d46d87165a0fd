"""Finds the code of functions that are passed to a loop or mapped, and tells what they return."""

from __future__ import annotations

import ast
import linecache
from types import CodeType, FrameType
from typing import Any

from ....analysis.failures.wrong_arguments.transforms.loop_order import Returned, returned_by
from ....analysis.parsed_code import parsed
from ...remedies.user_functions import is_users_function
from ..calls import value_of, wrapped_function
from ..statement import definition


def returned(node: ast.expr, value: Any) -> Returned:
    """Return whether a function returns a bool, or certainly none; empty if its code does not tell.

    Args:
        node: the function as it is written in a call.
        value: the function.
    """
    found = definition_passed(node, value)
    return "" if found is None else returned_by(found)


def definition_passed(node: ast.expr, value: Any) -> ast.Lambda | ast.FunctionDef | None:
    """Return the definition of a function of the user's, also of a jitted one; ``None`` if it is not found.

    Args:
        node: the function as it is written in a call.
        value: the function.
    """
    if isinstance(node, ast.Lambda):
        return node
    function = wrapped_function(value) or value
    return _defined(function.__code__) if is_users_function(function) else None


def mapped_source(node: ast.AST | None, frame: FrameType) -> str:
    """Return the source of the function that a call such as ``jax.vmap(f)(x)`` maps; empty if it is not found."""
    match node:
        case ast.Call(func=ast.Call(args=[function, *_])):
            found = definition_passed(function, value_of(function, frame))
            return "" if found is None else ast.unparse(found)
        case _:
            return ""


def _defined(code: CodeType) -> ast.Lambda | ast.FunctionDef | None:
    tree = parsed("".join(linecache.getlines(code.co_filename)))
    if code.co_name != "<lambda>":
        return definition(tree, code.co_name, code.co_firstlineno)
    found = [each for each in ast.walk(tree) if isinstance(each, ast.Lambda) and each.lineno == code.co_firstlineno]
    return found[0] if len(found) == 1 else None
