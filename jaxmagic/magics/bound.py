"""Bind ``-v NAME`` inside functions for magics that are called, since a call cannot bind a local of its caller.

``%jaxtimeit -v t f(x)`` in a function is ``get_ipython().run_line_magic('jaxtimeit', '-v t f(x)')``, and to Python
``t`` would be a global name. So the statement becomes ``t = get_ipython().run_line_magic('jaxtimeit', '-o -v t
f(x)')``: the magic returns its record, and the cell itself binds it.
"""

from __future__ import annotations

import ast

from IPython.core.error import UsageError

from ..subjects import magics
from . import options
from .magic_calls import LineCall, Parsers, line_call


def bind_in_functions(tree: ast.Module, parsers: Parsers) -> None:
    """Let functions in a cell bind the ``-v`` variables of the magics that they call.

    Args:
        tree: the cell, which is changed in place.
        parsers: the magics that are called, and their parsers.
    """
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            _Binder(parsers).generic_visit(function)


class _Binder(ast.NodeTransformer):
    """Rewrites the statements of a function."""

    def __init__(self, parsers: Parsers) -> None:
        self._parsers = parsers

    def _bound(self, node: ast.stmt) -> ast.stmt | list[ast.stmt]:
        call = line_call(node, self._parsers)
        option = None if call is None else _name_of(call, self._parsers)
        if call is None or option is None:
            return node
        name, returned = option
        target: list[ast.expr] = [ast.Name(name, ast.Store())]
        if returned:
            return ast.copy_location(ast.Assign([*call.targets, *target], call.node), node)
        call.constant.value = f"-o {call.text}"
        statements: list[ast.stmt] = [ast.Assign(target, call.node)]
        if call.targets:  # without -o the magic returns nothing
            statements.append(ast.Assign(call.targets, ast.Constant(None)))
        return [ast.copy_location(each, node) for each in statements]

    visit_Expr = visit_Assign = _bound


def _name_of(call: LineCall, parsers: Parsers) -> tuple[str, bool] | None:
    """Return the name after ``-v``, and whether ``-o`` is given; ``None`` if there is nothing to bind."""
    parser = parsers[call.magic]
    try:
        arguments, _ = options.read(call.text, parser)
    except (UsageError, ValueError):
        return None  # the magic itself reports the error
    if magics()[call.magic].magic.block and not getattr(arguments, "before", False):
        return None  # the block binds it
    return (arguments.v, arguments.o) if getattr(arguments, "v", None) else None  # a magic may have neither
