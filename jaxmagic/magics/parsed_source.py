"""Parse the source that a magic was given, and keep its lines for IPython's tracebacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell


class Tree(ast.Module):
    """A syntax tree with the file name under which IPython keeps its source."""

    filename: str


def parse(
    shell: InteractiveShell, magic: str, code: str, *, is_line: bool, as_python: Callable[[str], str] | None = None
) -> Tree:
    """Parse `code`, transformed as IPython transforms a cell, and keep it for tracebacks.

    Args:
        shell: the shell that transforms it.
        magic: the magic that it was given to.
        code: the code.
        is_line: whether it is the rest of the magic's line.
        as_python: makes Python of the transformed code, without moving anything to another place.

    Raises:
        UsageError: the code begins with an option that `magic` does not have, and is not valid Python.
        SyntaxError: at the user's line.
    """
    transformed = shell.transform_cell(code)
    filename = shell.compile.cache(transformed, shell.execution_count)
    try:
        tree = ast.parse(transformed if as_python is None else as_python(transformed), filename)
    except SyntaxError:
        option = re.match(r"-\w\s", code)
        if is_line and option:
            raise UsageError(
                f"%{magic} has no option {option[0].strip()}, and this is not valid Python code. See %{magic}?"
            ) from None
        raise
    tree = shell.transform_ast(tree)
    tree.filename = filename
    return tree


def ends_in_semicolon(statement: str) -> bool:
    """Return whether the last token of `statement`, except comments, is a semicolon, which hides the value."""
    import io
    import tokenize

    if ";" not in statement:
        return False
    last, layout = "", {"COMMENT", "NL", "NEWLINE", "ENDMARKER", "INDENT", "DEDENT"}
    try:
        for token in tokenize.generate_tokens(io.StringIO(statement).readline):
            if tokenize.tok_name[token.type] not in layout:
                last = token.string
    except (tokenize.TokenError, SyntaxError):
        return False
    return last == ";"
