"""Show IPython the code of a magic as text, not as a string: a cell magic, an ``await``, a syntax error.

There are three text transformers, two before and one after IPython's own.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Container

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import TransformerManager, cell_magic

from . import options
from .declare import declared
from .magic_calls import Parsers, line_call, marker
from .parsed_source import is_path


def cell_in_sight(lines: list[str], parsers: Parsers) -> list[str]:
    """Leave to IPython the cells that it reports best: those with ``-h``, without code, or with a syntax error.

    ``%%jaxcompare -h`` becomes ``%jaxcompare -h``. A magic over an empty cell gets an empty line, because IPython
    calls none without a line, and advises the line magic. A cell with a syntax error, whose magic would be called
    with the text of the cell, becomes that text below a marker, so that the error is reported at its line.
    """
    match = re.match(r"%%(\w+)(?=\s|$)(.*)", lines[0]) if lines else None
    if not match or match[1] not in parsers:
        return lines
    magic, given = match[1], match[2]
    if options.asks_for_help(given, parsers[magic]):
        return [lines[0][1:]]
    as_python, body = getattr(declared(magic), "as_python", None), "".join(lines[1:])
    if as_python is None and body.strip():
        return lines
    _, rest = options.read(given, parsers[magic])  # a mistake in the options is reported first
    if as_python is None or not body.strip():
        return [f"{lines[0].rstrip()}\n", "\n"] if options.only_comment(rest) else lines
    source = as_python(body)
    if not _is_broken(source):
        return lines
    options.refuse_below(body, magic, parsers[magic])
    return [f"{marker(magic, given.strip())}\n", *source.splitlines(keepends=True)]


def cell_to_marker(lines: list[str], parsers: Parsers) -> list[str]:
    """Replace ``%%jaxtime -q`` on the first line by a marker; wrong options are left to the magic to report."""
    match = re.match(r"%%(\w+)(?=\s|$)(.*)", lines[0]) if lines else None
    if not match or match[1] not in parsers or lines[0].rstrip().endswith("?"):
        return lines
    magic, given = match[1], match[2]
    body = lines[1:]
    if not any(line.strip() for line in body):
        return lines
    try:
        _, rest = options.read(given, parsers[magic])
    except UsageError:
        return lines
    if not options.only_comment(rest):
        return lines
    text = given[: len(given) - len(rest)]
    return [f"{marker(magic, text.strip())}\n", *_nested_cell_magic(body, parsers)]


def _nested_cell_magic(body: list[str], parsers: Parsers) -> list[str]:
    """Transform a cell magic on the line after jaxmagic's; IPython looks for one on the first line only."""
    first = next(index for index, line in enumerate(body) if line.strip())
    if not body[first].startswith("%%"):
        return body
    rewritten = cell_to_marker(body[first:], parsers)
    return body[:first] + (cell_magic(body[first:]) if rewritten == body[first:] else rewritten)


def line_in_sight(lines: list[str], parsers: Parsers, blocks: Container[str]) -> list[str]:
    """Write an ``await`` or a syntax error in a line magic, which is a string by now, as text again for IPython.

    In front of ``%jaxtime await f()`` comes a statement without effect that awaits, so that IPython runs the cell
    asynchronously. A magic whose statement has a syntax error is replaced by the statement, so that the error is
    reported like any other: at its line, before anything runs.

    Args:
        lines: the lines of the cell.
        parsers: the magics, and their parsers.
        blocks: the magics that become blocks. Those that stay calls refuse an ``await``.
    """
    text = "".join(lines)
    if not any(_has_to_be_seen(call, parsers) for call in _CALL.finditer(text)):
        return lines
    rewritten = [line.encode() for line in re.split(r"(?<=\n)", text)]  # to the parser, a form feed ends no line
    for node in (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.stmt)):
        call = line_call(node, parsers)
        if call is None or call.node.lineno != call.node.end_lineno:
            continue
        try:
            _, statement = options.read(call.text, parsers[call.magic])
        except UsageError:
            continue  # the magic itself says so: an option without a value may have taken a part of the code
        line = rewritten[call.node.lineno - 1]
        if _is_broken(statement):
            line = line[: call.node.col_offset] + statement.encode() + line[call.node.end_col_offset :]
        elif call.magic in blocks and _awaits(statement):
            line = line[: node.col_offset] + b"assert True, await ...; " + line[node.col_offset :]
        rewritten[call.node.lineno - 1] = line
    return [line.decode() for line in rewritten]


#: A line magic as IPython transforms it. This is searched first, because it is slow to parse a long cell.
_CALL = re.compile(r"""get_ipython\(\)\.run_line_magic\('(\w+)', ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)""")


def _has_to_be_seen(call: re.Match[str], parsers: Parsers) -> bool:
    if call[1] not in parsers or getattr(declared(call[1]), "as_python", str) is not str:  # no code of one line
        return False
    try:
        _, statement = options.read(ast.literal_eval(call[2]), parsers[call[1]])
    except UsageError:
        return False
    return _awaits(statement) or _is_broken(statement)


def _is_broken(statement: str) -> bool:
    """Return whether a statement is neither Python nor a magic or command.

    ``-z x`` is a wrong option instead, and the path of a recording is answered by the magic.
    """
    for transform in (str, lambda text: TransformerManager().transform_cell(text)):
        try:
            ast.parse(transform(statement))
            return False
        except (SyntaxError, ValueError):
            continue
    return not re.match(r"-\w\s", statement) and not is_path(statement)


def _awaits(statement: str) -> bool:
    """Return whether a statement needs an event loop, as IPython decides it for a cell."""
    if "await" not in statement and "async" not in statement:
        return False
    try:
        code = compile(statement, "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return False
    return bool(code.co_flags & inspect.CO_COROUTINE)
