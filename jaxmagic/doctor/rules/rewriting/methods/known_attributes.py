"""Puts parameters in place of attributes, so that a method reads as a function of what jit knows."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection


class _Parameters(ast.NodeTransformer):
    """Puts names in place of some attributes of an object."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = known

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace an attribute that is known."""
        text = ast.unparse(node)
        return ast.copy_location(ast.Name(text, node.ctx), node) if text in self._known else self.generic_visit(node)


def with_known(method: ast.FunctionDef, known: Collection[str]) -> ast.FunctionDef:
    r"""Return a method that gets attributes as arguments, whose names are those of the attributes.

    >>> made = with_known(ast.parse("def f(self, x): return x if 0 < self.n else -x").body[0], ["self.n"])
    >>> ast.unparse(made)
    'def f(self, x, *, self.n):\n    return x if 0 < self.n else -x'

    Args:
        method: the method.
        known: the attributes, such as ``"self.n"``.
    """
    made: ast.FunctionDef = _Parameters(known).visit(copy.deepcopy(method))
    made.args.kwonlyargs += [ast.arg(each) for each in known]
    made.args.kw_defaults += [None for _ in known]
    return made
