"""Parse the source that a magic was given, and keep its lines for IPython's tracebacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from IPython.core.error import UsageError
from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell

from ..records.names import truncated
from ..records.recordings import RECORDING
from .cell_lookup import lines_above
from .declare import declared
from .options.misread import meant_by
from .repeatable import Source

#: The most characters of an option's code in a message.
_MOST_QUOTED = 60


class Tree(ast.Module):
    """A syntax tree, the file name under which IPython keeps its source, and how many lines are above it in there."""

    filename: str
    above: int


def at_its_lines(tree: Tree) -> Tree:
    """Move code to the lines that it has in its cell, and return it."""
    ast.increment_lineno(tree, tree.above)
    return tree


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
        UsageError: the code begins with an option that `magic` does not have, and is not valid Python; or it is the
            path of a file.
        SyntaxError: at the user's line.
    """
    if is_line and is_path(code):
        raise _reads_no_file(magic, code)
    transformed = shell.transform_cell(code)
    number = _current_cell(shell)
    above = lines_above(shell, number, transformed.splitlines()) or 0
    filename = shell.compile.cache("\n" * above + transformed, number)
    try:
        tree = ast.parse(transformed if as_python is None else as_python(transformed), filename)
    except SyntaxError:
        option = re.match(r"-\w\s", code)
        if is_line and option and option[0].strip() == "-h":
            raise UsageError(
                f"%{magic} -h: expected nothing after it, got {code[2:].strip()[:60]!r}. It prints the help. Leave "
                "it out to run the code."
            ) from None
        if is_line and option:
            known = declared(magic).parser._option_string_actions
            name = option[0].strip()
            meant = meant_by(name, known) or f"one of {', '.join(sorted(known))}"
            raise UsageError(
                f"%{magic} has no option {name}, and this is not valid Python code. Write {meant}."
            ) from None
        raise
    tree = shell.transform_ast(tree)
    tree.filename, tree.above = filename, above
    return tree


def parse_option(shell: InteractiveShell, magic: str, option: str, code: str | None) -> Source | None:
    """Parse the code that an option was given; ``None`` if there is none.

    Raises:
        UsageError: it is not valid Python.
    """
    if not code or not code.strip():
        return None
    try:
        tree = at_its_lines(parse(shell, magic, code, is_line=True))
    except SyntaxError as error:
        got = truncated(code, _MOST_QUOTED)
        raise UsageError(
            f"{option}: expected Python code, got {got!r}: {error.msg}. Write for example {option} 'y = x + 1'"
        ) from None
    return Source(tree.body, tree.filename) if tree.body else None


def _current_cell(shell: InteractiveShell) -> int:
    """Return the number of the cell that runs; IPython 9 counts it before, and earlier ones after it has run."""
    number = getattr(getattr(shell.displayhook, "exec_result", None), "execution_count", None)
    return shell.execution_count if number is None else int(number)


def is_path(code: str) -> bool:
    """Return whether a statement is the name of a profiler's recording, or the path of a file or folder.

    The first may be valid Python; the second would be a call to IPython, as in ``/f x``. A path such as ``logs/run1``
    is a division: it counts if a recording is there, and if there is no variable ``logs``.

    >>> is_path("host.xplane.pb"), is_path("read('host.xplane.pb')"), is_path("/nothing/here")
    (True, False, False)
    """
    path = _unquoted(code)
    if re.fullmatch(r"""[^'"()]+\.xplane\.pb(\.gz)?""", path):
        return True
    with suppress(OSError, ValueError):
        if path.startswith(("/", "./", "../")):
            return Path(path).exists()
        return _is_plain_path(path) and next(Path(path).rglob(f"*{RECORDING}"), None) is not None
    return False


def _is_plain_path(text: str) -> bool:
    found = re.fullmatch(r"([\w.-]+)(/[\w.-]+)*/?", text)
    shell = get_ipython()
    return found is not None and (shell is None or found[1] not in shell.user_ns) and Path(text).exists()


def _unquoted(code: str) -> str:
    text = code.strip()
    return text[1:-1] if text[:1] in ("'", '"') and text[-1:] == text[:1] else text


def _reads_no_file(magic: str, code: str) -> UsageError:
    path = _unquoted(code)
    return UsageError(
        f"%{magic}: expected a statement, got a path. Use jaxmagic.read_profile({path!r}) for a profiler's "
        f"recording, jaxmagic.load({path!r}) for a record that jaxmagic has saved."
    )


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


_LEAVES = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}

_OTHER_CODE = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda

_LOOPS = ast.For, ast.AsyncFor, ast.While


def leaving(body: Sequence[ast.AST]) -> str | None:
    """Return the keyword with which code may leave its surroundings; ``None`` if it always reaches its end.

    >>> leaving(ast.parse("for x in xs: break").body), leaving(ast.parse("if x: break").body)
    (None, 'break')
    """
    return next(_leaving(body, looping=False), None)


def _leaving(nodes: Sequence[ast.AST], looping: bool) -> Iterator[str]:
    for node in nodes:
        if type(node) is ast.Return or (type(node) in _LEAVES and not looping):
            yield _LEAVES[type(node)]
        elif isinstance(node, _LOOPS):
            yield from _leaving(node.body, looping=True)
            yield from _leaving(node.orelse, looping)
        elif not isinstance(node, _OTHER_CODE):
            yield from _leaving(list(ast.iter_child_nodes(node)), looping)
