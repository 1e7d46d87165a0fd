"""Recognize the calls that stand for a magic in a cell.

A line magic is ``get_ipython().run_line_magic('jaxtime', …)`` once IPython has transformed the text. A *marker* is a
call of ``run_cell_magic`` with ``...`` for the cell; it applies to the code after it.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

#: The magics that are rewritten, and their parsers.
Parsers = Mapping[str, argparse.ArgumentParser]


def marker(magic: str, text: str) -> str:
    """Return the text of a marker for `magic` with the options in `text`."""
    return f"get_ipython().run_cell_magic({magic!r}, {text!r}, ...)"


class MagicCall(NamedTuple):
    """IPython's call of one of jaxmagic's magics.

    Attributes:
        magic: the name of the magic.
        text: the text after the name, which may be any expression if the user wrote the call.
        node: the call.
    """

    magic: str
    text: ast.expr
    node: ast.Call


class Marker(NamedTuple):
    """A marker's magic, its options as text, and the call."""

    magic: str
    text: str
    node: ast.Call


def read_marker(node: ast.stmt, parsers: Parsers) -> Marker | None:
    """Read a marker; ``None`` for any other statement."""
    call = magic_call(node.value, "run_cell_magic", parsers) if isinstance(node, ast.Expr) else None
    if call is None or len(call.node.args) != 3:
        return None
    cell = call.node.args[2]
    if not (isinstance(cell, ast.Constant) and cell.value is ... and isinstance(call.text, ast.Constant)):
        return None
    return Marker(call.magic, str(call.text.value), call.node)


@dataclass(frozen=True, slots=True)
class LineCall:
    """A statement that is IPython's call of one of jaxmagic's line magics."""

    magic: str
    text: str
    targets: list[ast.expr]
    node: ast.Call
    constant: ast.Constant


def line_call(node: ast.AST, parsers: Parsers) -> LineCall | None:
    """Read a statement that calls one of jaxmagic's line magics, or assigns its value; ``None`` for any other."""
    if not isinstance(node, (ast.Expr, ast.Assign)):
        return None
    call = magic_call(node.value, "run_line_magic", parsers)
    if call is None or not isinstance(call.text, ast.Constant) or type(call.text.value) is not str:
        return None
    targets = node.targets if isinstance(node, ast.Assign) else []
    return LineCall(call.magic, call.text.value, targets, call.node, call.text)


def magic_call(value: ast.expr, method: str, parsers: Parsers) -> MagicCall | None:
    """Read ``get_ipython().method('jaxtime', …)`` with one of jaxmagic's magics; ``None`` otherwise."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == method
        and isinstance(value.func.value, ast.Call)
        and isinstance(value.func.value.func, ast.Name)
        and value.func.value.func.id == "get_ipython"
        and len(value.args) >= 2
        and isinstance(value.args[0], ast.Constant)
        and value.args[0].value in parsers
    ):
        return MagicCall(str(value.args[0].value), value.args[1], value)
    return None


def imported(module: str, name: str) -> ast.expr:
    """Return ``__import__('module', fromlist=['name']).name``, which binds no name in the user's namespace."""
    names = ast.List([ast.Constant(name)], ast.Load())
    call = ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant(module)], [ast.keyword("fromlist", names)])
    return ast.Attribute(call, name, ast.Load())
