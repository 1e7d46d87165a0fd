"""Finds the labels of a cell that are no Python names, and puts names of the same length in their place.

To Python, ``jit: f(x)`` is an annotation, but ``jit of vmap: f(x)`` and ``"jit": f(x)`` are mistakes. With a name as
long as the label, in bytes, the line is valid, and everything behind the label keeps its column.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from typing import NamedTuple

#: A label in quotes, which may hold any character.
IN_QUOTES = re.compile(r"""("(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+')\s*:(?!=)""")

#: A label without quotes: words, with apostrophes only between letters.
_WORDS = re.compile(r"""(?:[^\s:="'#()\[\]{}\\]|(?<=\w)'(?=\w))(?:[^:="'#()\[\]{}\\\n]|(?<=\w)'(?=\w))*$""")


#: Keywords that no colon follows in Python, except in a lambda, which is Python as a whole.
_LABELS = {*keyword.kwlist} - {"else", "except", "finally", "try"}


def put_in_quotes(label: str) -> str:
    """Write a label in quotes, double ones if it has none itself, so that :func:`relabel` reads it.

    >>> print(put_in_quotes("while loop"), put_in_quotes('say "x"'))
    "while loop" 'say "x"'
    """
    return repr(label) if '"' in label or "\\" in label else f'"{label}"'


class Relabelled(NamedTuple):
    """A cell whose labels are Python names.

    Attributes:
        source: the cell.
        labels: the labels that were replaced, by the number of their line.
    """

    source: str
    labels: dict[int, str]


def relabel(source: str) -> Relabelled:
    """Replace each label that is not a Python name, such as ``"jit of vmap": f(x)`` or ``jit of vmap: f(x)``.

    Only lines that begin a statement, and are no Python, are changed.

    >>> relabel("jit of vmap: f(x)").source
    'jit_of_vmap: f(x)'
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+$", source)
    labels: dict[int, str] = {}
    at = 0
    while at < len(lines):
        end, renamed = at + 1, None
        if not lines[at][:1].isspace() and not lines[at].startswith("#"):
            renamed = _renamed(lines, at)
        if renamed is not None:
            labels[at + 1], lines[at], end = renamed
        elif (whole := _end(lines, at)) is not None:
            end = whole
        at = end
    return Relabelled("".join(lines), labels)


def _renamed(lines: list[str], at: int) -> tuple[str, str, int] | None:
    """Return a line's label, the line with a name in its place, and the end of its statement, if that is due."""
    line = lines[at]
    for text, label in _candidates(line):
        name = re.sub(r"\W", lambda char: "_" * len(char[0].encode()), text)
        name = name if name.isidentifier() and not keyword.iskeyword(name) else "_" * len(text.encode())
        renamed = [name + line[len(text) :], *lines[at + 1 :]]
        end = _end(renamed, 0)
        if end is None:
            continue
        statement = "".join(renamed[:end])
        if _is_labelled(statement) and not _is_python("".join(lines[at : at + end])):
            return label, renamed[0], at + end
    return None


def _candidates(line: str) -> list[tuple[str, str]]:
    """Return the beginnings of a line that may be its label, as they are written, and without quotes."""
    quoted = IN_QUOTES.match(line)
    if quoted is not None:
        label = ast.literal_eval(quoted[1])
        return [(quoted[1], label)] if label.strip() and label.isprintable() else []
    texts = [line[: colon.start()].rstrip() for colon in re.finditer(":", line)]
    return [(text, text) for text in texts if _may_be_label(text)]


def _may_be_label(text: str) -> bool:
    """Return whether a text may be a label without quotes: words, or an expression such as ``vmap(jit)``."""
    if text in _LABELS:
        return True
    if not text or text.isidentifier() or text.split()[0] in keyword.kwlist:
        return False
    if _WORDS.match(text):
        return True
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return not isinstance(node, ast.Constant | ast.JoinedStr | ast.Dict | ast.Lambda)


def _is_labelled(statement: str) -> bool:
    try:
        (node,) = ast.parse(statement).body
    except (SyntaxError, ValueError):
        return False
    return isinstance(node, ast.AnnAssign) and node.value is None


def _is_python(statement: str) -> bool:
    try:
        ast.parse(statement)
    except (SyntaxError, ValueError):
        return False
    return True


def _end(lines: list[str], at: int) -> int | None:
    """Return the end of the statement that begins on a line: where no bracket, string or backslash goes on.

    ``None`` if it does not end.
    """
    for end in range(at + 1, len(lines) + 1):
        try:
            for _ in tokenize.generate_tokens(io.StringIO("".join(lines[at:end])).readline):
                pass
        except tokenize.TokenError as error:
            if "EOF in multi-line" in str(error) or "triple-quoted" in str(error):
                continue
        except (SyntaxError, ValueError):
            pass
        return end
    return None
