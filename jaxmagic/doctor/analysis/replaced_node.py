"""Puts other code in place of one node of a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any


class ReplacedNode(ast.NodeTransformer):
    """Puts an expression, or statements, in place of a node of the tree that it visits."""

    def __init__(self, old: ast.AST, new: ast.expr | Sequence[ast.stmt]) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        """Return the node, or what is put in its place."""
        return self._new if node is self._old else super().visit(node)
