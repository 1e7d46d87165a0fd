"""Source that a magic was given, as a syntax tree with lines that IPython can show."""

from __future__ import annotations

import ast
import re

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell


class Tree(ast.Module):
    """A syntax tree that knows under which name IPython keeps its source."""

    filename: str


def parse(shell: InteractiveShell, magic: str, code: str, *, is_line: bool) -> Tree:
    """`code`, transformed as IPython transforms a cell, and kept for tracebacks.

    Raises:
        UsageError: it begins with an option that `magic` does not have, and is no Python.
        SyntaxError: at the user's line.
    """
    transformed = shell.transform_cell(code)
    filename = shell.compile.cache(transformed, shell.execution_count)
    try:
        tree = ast.parse(transformed, filename)
    except SyntaxError:
        found = re.match(r"-\w\s", code)
        if is_line and found:
            raise UsageError(
                f"%{magic} has no option {found[0].strip()}, and as code this is no Python. See %{magic}?"
            ) from None
        raise
    tree = shell.transform_ast(tree)
    tree.filename = filename
    return tree


def ends_in_semicolon(statement: str) -> bool:
    """Tell whether the last token of `statement` is a semicolon, comments aside: then its value is not displayed."""
    import io
    import tokenize

    if ";" not in statement:
        return False
    last = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(statement).readline):
            if token.type not in (
                tokenize.COMMENT,
                tokenize.NL,
                tokenize.NEWLINE,
                tokenize.ENDMARKER,
                tokenize.INDENT,
                tokenize.DEDENT,
            ):
                last = token.string
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return False
    return last == ";"
