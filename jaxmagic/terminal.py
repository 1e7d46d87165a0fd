"""The door through which text from outside goes to a terminal: names, labels and loaded records may hold anything."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""`text` without characters that would move a terminal's cursor or are not seen.

    >>> printable("a\x1b[2Jb")
    'a�[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def printable_lines(text: str) -> str:
    r"""The same for text of several lines.

    >>> printable_lines("one\n\x1btwo")
    'one\n�two'
    """
    return "\n".join(printable(line) for line in text.split("\n"))
