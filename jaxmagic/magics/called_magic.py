"""Run a magic that was *called*, as in ``ip.run_line_magic('jaxtime', 'f(x)')`` or where cells are not rewritten.

In a cell, the magic becomes a block, and IPython runs it with the cell. Here the same block is compiled as IPython
compiles a cell, and executed, so source lines, assignments and errors are the same as in a cell.
"""

from __future__ import annotations

import argparse
import ast
import inspect
from types import EllipsisType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from . import options
from .block import Block, open_block
from .options.nothing_to_run import nothing_to_run
from .parsed_source import at_its_lines, ends_in_semicolon, parse
from .rewrite import BlockRewriter

_ANYWHERE = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def run_called(
    shell: InteractiveShell,
    magic: str,
    parser: argparse.ArgumentParser,
    line: str,
    cell: str | EllipsisType | None,
    local_ns: dict[str, Any] | None,
) -> Any:
    """Run `line`, or `cell` with the options in `line`, and return what the magic evaluates to.

    Raises:
        UsageError: a wrong option, nothing to run, or an ``await`` inside a running event loop.
        SyntaxError: at the user's line.
    """
    if isinstance(cell, EllipsisType):  # a marker that was not rewritten to a block
        raise UsageError(
            f"%%{magic} must be the outermost magic of its cell: here another magic runs the cell, "
            f"and the code would not be measured. Put %%{magic} first."
        )
    _, statement = options.read(line, parser)
    code = _code(magic, line, statement, cell, parser)
    tree = at_its_lines(parse(shell, magic, code, is_line=cell is None))
    if not tree.body:
        raise UsageError(f"%{magic} has nothing to run: there is only a comment. Write a statement before it.")
    rewriter = BlockRewriter({magic: parser}, shell.transform_cell, lambda: "last_expr")
    given = line[: len(line) - len(statement)] if statement else line
    statements = rewriter.block(tree.body[0], magic, given, tree.body, [], displayable=False)
    block, name = _outside(statements[0], magic, given)
    tree.body = statements[:-1]  # the last statement takes the value, as is done below
    ast.fix_missing_locations(tree)
    namespace = shell.user_ns if cell is not None or local_ns is None else local_ns
    try:
        shell.user_ns[name] = block
        _execute(shell, compile(tree, tree.filename, "exec", _ANYWHERE), namespace)
        return block.take(ends_in_semicolon(code))
    finally:
        shell.user_ns.pop(name, None)


def _outside(statement: ast.stmt, magic: str, given: str) -> tuple[Block, str]:
    """Make the block here, and let the code find it among the globals, so that the caller's locals stay unchanged."""
    measured = statement.body[0] if isinstance(statement, ast.Try) else statement
    assert isinstance(measured, ast.With)
    (item,) = measured.items
    assert isinstance(item.context_expr, ast.Call)
    assert isinstance(item.optional_vars, ast.Name)
    name = item.optional_vars.id
    place = ast.literal_eval(item.context_expr.args[3])
    measured.items = [ast.withitem(ast.copy_location(ast.Name(name, ast.Load()), item.context_expr))]
    return open_block(name, magic, given, place, shown=False), name


def _code(magic: str, line: str, statement: str, cell: str | None, parser: argparse.ArgumentParser) -> str:
    if cell is None:
        if not statement.strip():
            raise nothing_to_run(magic, line, parser)
        return statement
    if not options.only_comment(statement):
        raise UsageError(
            f"%%{magic}: expected options only, got {statement.strip()[:60]!r}. "
            f"Put the code below it, or write %{magic} with one percent sign."
        )
    if not cell.strip():
        raise UsageError(f"%%{magic} has nothing to run: the cell is empty. Put the code below it.")
    return cell


def _execute(shell: InteractiveShell, code: Any, namespace: dict[str, Any]) -> None:
    if not code.co_flags & inspect.CO_COROUTINE:
        exec(code, shell.user_ns, namespace)
        return
    import asyncio  # takes 15 ms in a shell that has not imported it yet

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(eval(code, shell.user_ns, namespace))
    else:
        raise UsageError(
            "await works only if the magic is written in a cell; here it was called while an event loop is running. "
            "Write the magic in a cell of its own."
        )
