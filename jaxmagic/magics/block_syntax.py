"""Builds the statements around a block of measured code, and changes the code in it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .magic_calls import imported


def every_run(name: str, body: list[ast.stmt]) -> ast.stmt:
    """Return ``for block.run in block.runs(): body``, which binds no name in the user's namespace."""
    run = ast.Attribute(ast.Name(name, ast.Load()), "run", ast.Store())
    return ast.copy_location(ast.For(run, call_with(attribute_of(name, "runs")), body, []), body[0])


def raising_here(measured: ast.stmt) -> ast.stmt:
    """Return a block that raises in the user's code what it expected in vain, instead of in a call of ours."""
    unmet = call_with(imported("jaxmagic.magics.block", "unmet"))
    handler = ast.ExceptHandler(
        imported("jaxmagic.magics.block", "Unmet"), None, [ast.Raise(unmet, ast.Constant(None))]
    )
    return ast.Try([measured], [handler], [], [])


def refusal(magic: str, keyword: str) -> ast.stmt:
    """Return a statement that raises an error, because the code cannot run several times."""
    why = (
        f"%{magic} runs its code several times, but {keyword} would leave it in the first run. Nothing was run. "
        f"Write y = %{magic} f(x), and after it {'return y' if keyword == 'return' else keyword}."
    )
    return ast.Raise(call_with(imported("IPython.core.error", "UsageError"), why), None)


def not_first(magic: str) -> ast.stmt:
    """Return a statement that raises an error, because ``%%magic`` is not on the first line of its cell."""
    why = f"%%{magic} has to be the first line of its cell. Move it above all other lines, also comments."
    return ast.Raise(call_with(imported("IPython.core.error", "UsageError"), f"{why} Nothing was run."), None)


def keep_dropped(name: str, statement: ast.stmt) -> ast.stmt:
    """Change ``f(x)`` to ``block.dropped = f(x)``, also in loops and branches; the block keeps the last value.

    So it can wait for an array instead of relying on a fence alone, which over several devices does not detect short
    work. Values that are discarded inside functions stay discarded.
    """
    if isinstance(statement, ast.Expr) and not isinstance(statement.value, (ast.Constant, ast.Yield, ast.YieldFrom)):
        dropped = ast.Attribute(ast.Name(name, ast.Load()), "dropped", ast.Store())
        return ast.copy_location(ast.Assign([dropped], statement.value), statement)
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(statement, field, None)
        if isinstance(inner, list):
            setattr(statement, field, [keep_dropped(name, each) for each in inner])
    for field in ("handlers", "cases"):
        for inner in getattr(statement, field, ()):
            inner.body = [keep_dropped(name, each) for each in inner.body]
    return statement


def block_names(body: Sequence[ast.AST]) -> list[str]:
    """Return the names of blocks in the body of a class, where they would become attributes."""
    names: list[str] = []
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            continue
        if isinstance(node, ast.With) and isinstance(name := node.items[0].optional_vars, ast.Name):
            names += [name.id] if name.id.startswith("__jaxmagic_") else []
        names += block_names(list(ast.iter_child_nodes(node)))
    return names


def deletion(name: str) -> ast.stmt:
    """Return ``del name``, if the name exists; a branch may not have been taken."""
    handler = ast.ExceptHandler(None, None, [ast.Pass()])
    return ast.Try([ast.Delete([ast.Name(name, ast.Del())])], [handler], [], [])


def move_to_string(body: Sequence[ast.stmt], constant: ast.Constant, given: int) -> None:
    """Move code that was a string in the cell to the position of that string, so that tracebacks point into it."""
    shift = constant.col_offset + 1 + given
    for statement in body:
        for place in (vars(node) for node in ast.walk(statement) if hasattr(node, "lineno")):
            place["col_offset"] += shift if place["lineno"] == 1 else 0
            place["end_col_offset"] += shift if place["end_lineno"] == 1 else 0
        ast.increment_lineno(statement, constant.lineno - 1)


def opening(name: str, magic: str, text: str, place: tuple[Any, ...], shown: bool) -> ast.Call:
    """Return ``open_block(…)``."""
    return call_with(imported("jaxmagic.magics.block", "open_block"), name, magic, text, place, shown)


def call_with(function: ast.expr, *values: Any) -> ast.Call:
    """Return a call with constants as arguments."""
    return ast.Call(function, [ast.Constant(value) for value in values], [])


def attribute_of(name: str, attribute: str) -> ast.Attribute:
    """Return ``name.attribute``."""
    return ast.Attribute(ast.Name(name, ast.Load()), attribute, ast.Load())
