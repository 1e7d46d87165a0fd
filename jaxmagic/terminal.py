"""Makes untrusted text safe to print: names, labels and loaded records may contain any character."""

from __future__ import annotations


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
