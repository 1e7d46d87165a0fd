"""Find the function that a ``with`` statement names without calling it, for the line under its traceback.

A function cannot enter a block, so Python raises the error, before any code of ours runs.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import FrameType, FunctionType, ModuleType

from ..errors import message_of
from ..tracebacks import calls_in

#: What Python says of a function in a ``with`` statement.
_REFUSED = "'function' object does not support the context manager protocol"

#: The functions that return a context manager, and an argument for those that need one.
_BLOCKS = {"stopwatch": "", "profiler": "", "assert_no_compile": "", "assert_max_compiles": "1"}


def uncalled_block(error: BaseException) -> str | None:
    """Say what to write if an error is that of a ``with`` statement over a function of jaxmagic."""
    if not isinstance(error, TypeError) or not message_of(error).startswith(_REFUSED):
        return None
    calls = calls_in(error.__traceback__)
    if not calls:
        return None
    frame = calls[-1].tb_frame
    for item in _items(frame, calls[-1].tb_lineno):
        function = _value(item.context_expr, frame)
        if isinstance(function, FunctionType) and str(function.__module__).startswith("jaxmagic."):
            given = _BLOCKS.get(function.__name__)
            if given is not None:
                name = ast.unparse(item.context_expr)
                target = f" as {ast.unparse(item.optional_vars)}" if item.optional_vars else ""
                return f"{name}: expected a call, got the function. Write with {name}({given}){target}:"
    return None


def _items(frame: FrameType, line: int) -> Iterator[ast.withitem]:
    """Yield what the ``with`` statements at a line of the code of a frame enter."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.With) and node.lineno <= line <= node.body[0].lineno:
            yield from node.items


def _value(expression: ast.expr, frame: FrameType) -> object:
    """Return the value of a name, or of an attribute of our own modules; ``None`` for any other expression."""
    if isinstance(expression, ast.Name):
        return frame.f_locals.get(expression.id, frame.f_globals.get(expression.id))
    if isinstance(expression, ast.Attribute):
        base = _value(expression.value, frame)
        ours = isinstance(base, ModuleType) and base.__name__.partition(".")[0] == "jaxmagic"
        return getattr(base, expression.attr, None) if ours else None
    return None
