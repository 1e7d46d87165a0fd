"""Writes a statement with other expressions in place of some of its calls."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping


def with_replaced_calls(statement: ast.AST, replaced: Mapping[ast.Call, ast.expr]) -> str:
    """Write a statement with an expression in place of each call that reads like one of some calls.

    >>> call = ast.parse("jnp.asarray(x)", mode="eval").body
    >>> with_replaced_calls(ast.parse("y = f(jnp.asarray(x), 2)").body[0], {call: ast.Name("x")})
    'y = f(x, 2)'
    """
    return ast.unparse(_Replaced(replaced).visit(copy.deepcopy(statement)))


class _Replaced(ast.NodeTransformer):
    def __init__(self, replaced: Mapping[ast.Call, ast.expr]) -> None:
        self.by_source = {ast.dump(call): expression for call, expression in replaced.items()}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self.by_source.get(ast.dump(node)) or self.generic_visit(node)
