"""Writes what a loop of JAX is over: the arrays or lists that a loop of Python takes its items from."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..loop_facts import makes_array


def items_of(source: ast.expr, *, arrays: bool) -> str:
    """Return what a scan is over: an array as it is, and anything else stacked."""
    text = ast.unparse(source)
    if makes_array(source):
        return text
    return text if arrays and isinstance(source, ast.Name) else stacked(text)


def stacked(text: str) -> str:
    """Return the items of a list as arrays with an axis of rounds."""
    return f"jax.tree.map(lambda *each: jnp.stack(each), *{text})"


def taken(loop: ast.For, array: str, counter: str, *, arrays: bool) -> str:
    """Return the rows of an array, or the items of a list, that ``range`` indexes, in their order.

    An index below zero counts from the end, which a slice does not do alike: ``x[9:-1:-1]`` is empty.
    """
    assert isinstance(loop.iter, ast.Call)
    bounds = [ast.unparse(each) for each in loop.iter.args]
    if bounds in ([f"len({array})"], [f"{array}.shape[0]"]):
        return array
    first, step = _number(loop.iter.args[0]), 1 if len(bounds) < 3 else _number(loop.iter.args[2])
    if bounds[1:] == ["-1", "-1"] and bounds[0] in (f"len({array}) - 1", f"{array}.shape[0] - 1"):
        return f"{array}[::-1]"
    if len(bounds) == 1:
        return f"{array}[:{bounds[0]}]"
    if first is not None and first >= 0 and step is not None:
        if step > 0:
            return f"{array}[{':'.join(bounds)}]"
        if bounds[1] == "-1":
            return f"{array}[{bounds[0]}::{bounds[2]}]"
    if arrays:
        return f"{array}[jnp.arange({', '.join(bounds)})]"
    return f"[{array}[{counter}] for {counter} in {ast.unparse(loop.iter)}]"


def _number(node: ast.expr) -> int | None:
    """Return the whole number that an expression is, if it is one."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


class NamedItems(ast.NodeTransformer):
    """Replaces ``xs[i]`` by the name of an item."""

    def __init__(self, counter: str, names: Mapping[str, str]) -> None:
        self._counter = counter
        self._names = names

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Replace an index that is the counter alone."""
        if isinstance(node.slice, ast.Name) and node.slice.id == self._counter:
            return ast.Name(self._names[ast.unparse(node.value)], ast.Load())
        return self.generic_visit(node)
