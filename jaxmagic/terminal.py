"""Makes untrusted text safe to print: names, labels and loaded records may contain any character. Knows the width."""

from __future__ import annotations

import shutil
import sys

#: The width of text that is not for a terminal, and the widths of a terminal that are used.
_WIDTH, _NARROWEST, _WIDEST = 80, 40, 160


def width() -> int:
    """Return the number of columns for text: those of the terminal, from 40 to 160, or 80 if stdout is none."""
    try:
        if not sys.stdout.isatty():
            return _WIDTH
    except Exception:  # stdout is closed, None, or replaced
        return _WIDTH
    return min(max(shutil.get_terminal_size((_WIDTH, 24)).columns, _NARROWEST), _WIDEST)


def printable(text: str) -> str:
    r"""Replace characters that would move a terminal's cursor or are invisible.

    >>> printable("a\x1b[2Jb")
    'a�[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def printable_lines(text: str) -> str:
    r"""Apply :func:`printable` to each line of a text.

    >>> printable_lines("one\n\x1btwo")
    'one\n�two'
    """
    return "\n".join(printable(line) for line in text.split("\n"))
