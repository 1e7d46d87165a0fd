"""From a magic's text to a marker, where IPython has to see as text what the magic is about.

Two transformers of text, one before IPython's own and one behind it.
"""

from __future__ import annotations

import ast
import re

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import TransformerManager, cell_magic

from . import options
from .calls import Parsers, line_call, marker

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Pass, ast.Assert, ast.Delete)


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


def line_to_marker(lines: list[str], parsers: Parsers) -> list[str]:
    """A line magic, which is a string by now, becomes text again where IPython has to see it as text.

    ``%jaxtime await f()`` becomes a marker and ``await f()``; and a statement with a syntax error becomes the
    statement alone, so that the error is reported as any other: at its line, before anything runs.
    """
    text = "".join(lines)
    if not any(_has_to_be_text(call, parsers) for call in _CALL.finditer(text)):
        return lines
    rewritten = [line.encode() for line in re.split(r"(?<=\n)", text)]  # as the parser counts: a form feed is no end
    for node in ast.walk(ast.parse(text)):
        call = line_call(node, parsers)
        if call is None or call.node.lineno != call.node.end_lineno:
            continue
        _, statement = options.split(call.text, parsers[call.magic])
        given = call.text[: len(call.text) - len(statement)].strip()
        start, line = call.node.col_offset, rewritten[call.node.lineno - 1]
        if _is_broken(statement):
            new = line[:start] + statement.encode()
        elif _is_simple_await(statement, bool(call.targets)):
            first = len(line) - len(line.lstrip())
            mark = marker(call.magic, f"= {given}" if call.targets else given)
            new = line[:first] + f"{mark}; ".encode() + line[first:start] + statement.encode()
        else:
            continue
        rewritten[call.node.lineno - 1] = new + line[call.node.end_col_offset :]
    return [line.decode() for line in rewritten]


#: What IPython makes of a line magic. Searched for first: to parse a long cell takes longer than to run many.
_CALL = re.compile(r"""get_ipython\(\)\.run_line_magic\('(\w+)', ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)""")


def _has_to_be_text(call: re.Match[str], parsers: Parsers) -> bool:
    if call[1] not in parsers:
        return False
    _, statement = options.split(ast.literal_eval(call[2]), parsers[call[1]])
    return "await" in statement or _is_broken(statement)


def _is_broken(statement: str) -> bool:
    """Whether this is no Python, and no magic or command either; ``-z x`` is left to be called an option."""
    for transform in (str, lambda text: TransformerManager().transform_cell(text)):
        try:
            ast.parse(transform(statement))
            return False
        except (SyntaxError, ValueError):
            continue
    return not re.match(r"-\w\s", statement)


def _is_simple_await(statement: str, assigned: bool) -> bool:
    if "await" not in statement:
        return False
    try:
        tree = ast.parse(statement)
    except (SyntaxError, ValueError):
        return False
    if not all(isinstance(each, _SIMPLE) for each in tree.body) or (assigned and len(tree.body) != 1):
        return False
    return any(isinstance(each, ast.Await) for each in ast.walk(tree))
