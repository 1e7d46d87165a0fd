"""Magics that IPython has to see as text, not as a string: a cell below its magic, an ``await``, a syntax error.

Two transformers of text, one before IPython's own and one behind it.
"""

from __future__ import annotations

import ast
import inspect
import re

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import TransformerManager, cell_magic

from . import options
from .magic_calls import Parsers, line_call, marker


def cell_to_marker(lines: list[str], parsers: Parsers) -> list[str]:
    """``%%jaxtime -q`` as the first line becomes a marker; wrong options are left for the magic to complain of."""
    found = re.match(r"%%(\w+)(?=\s|$)(.*)", lines[0]) if lines else None
    if not found or found[1] not in parsers or lines[0].rstrip().endswith("?"):
        return lines
    body = lines[1:]
    if not any(line.strip() for line in body):
        return lines
    try:
        words, rest = options.split(found[2], parsers[found[1]])
        options.parse(words, parsers[found[1]])
    except UsageError:
        return lines
    if not options.only_comment(rest):
        return lines
    text = found[2][: len(found[2]) - len(rest)] if rest else found[2]
    return [f"{marker(found[1], text.strip())}\n", *_nested_cell_magic(body, parsers)]


def _nested_cell_magic(body: list[str], parsers: Parsers) -> list[str]:
    """A cell magic below ours is one too: IPython looks for it in the first line only."""
    first = next(index for index, line in enumerate(body) if line.strip())
    if not body[first].startswith("%%"):
        return body
    rewritten = cell_to_marker(body[first:], parsers)
    return body[:first] + (cell_magic(body[first:]) if rewritten == body[first:] else rewritten)


def line_in_sight(lines: list[str], parsers: Parsers) -> list[str]:
    """A line magic is a string by now; what IPython has to see of it as text comes into sight again.

    ``%jaxtime await f()`` is told to IPython as a cell that awaits, by a statement in front that does nothing; and a
    statement with a syntax error becomes the statement alone, so that the error is reported as any other: at its
    line, before anything runs.
    """
    text = "".join(lines)
    if not any(_has_to_be_seen(call, parsers) for call in _CALL.finditer(text)):
        return lines
    rewritten = [line.encode() for line in re.split(r"(?<=\n)", text)]  # as the parser counts: a form feed is no end
    for node in ast.walk(ast.parse(text)):
        call = line_call(node, parsers)
        if call is None or call.node.lineno != call.node.end_lineno:
            continue
        _, statement = options.split(call.text, parsers[call.magic])
        line = rewritten[call.node.lineno - 1]
        start = node.col_offset  # type: ignore[attr-defined]
        if _is_broken(statement):
            line = line[: call.node.col_offset] + statement.encode() + line[call.node.end_col_offset :]
        elif _awaits(statement):
            line = line[:start] + b"assert True, await ...; " + line[start:]
        rewritten[call.node.lineno - 1] = line
    return [line.decode() for line in rewritten]


#: What IPython makes of a line magic. Searched for first: to parse a long cell takes longer than to run many.
_CALL = re.compile(r"""get_ipython\(\)\.run_line_magic\('(\w+)', ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)""")


def _has_to_be_seen(call: re.Match[str], parsers: Parsers) -> bool:
    if call[1] not in parsers:
        return False
    _, statement = options.split(ast.literal_eval(call[2]), parsers[call[1]])
    return _awaits(statement) or _is_broken(statement)


def _is_broken(statement: str) -> bool:
    """Tell whether this is no Python, and no magic or command either; ``-z x`` is left to be called an option."""
    for transform in (str, lambda text: TransformerManager().transform_cell(text)):
        try:
            ast.parse(transform(statement))
            return False
        except (SyntaxError, ValueError):
            continue
    return not re.match(r"-\w\s", statement)


def _awaits(statement: str) -> bool:
    """Tell whether this needs an event loop, as IPython asks it of a cell."""
    if "await" not in statement and "async" not in statement:
        return False
    try:
        code = compile(statement, "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return False
    return bool(code.co_flags & inspect.CO_COROUTINE)
