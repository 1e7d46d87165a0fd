"""Makes untrusted text safe to print: names, labels and loaded records may contain any character. Knows the width."""

from __future__ import annotations

import shutil
import sys
import textwrap

#: The width of text that is not for a terminal, and the least one for a terminal.
_WIDTH, _NARROWEST = 80, 40

#: The width of a sentence that stays easy to read. Tables and code take all there is.
WIDEST_SENTENCE = 100


def width() -> int:
    """Return the number of columns for text: those of the terminal, at least 40, or 80 if stdout is none."""
    try:
        if not sys.stdout.isatty():
            return _WIDTH
    except Exception:  # stdout is closed, None, or replaced
        return _WIDTH
    return max(shutil.get_terminal_size((_WIDTH, 24)).columns, _NARROWEST)


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


def written_to(text: str, stream: object) -> str:
    r"""Replace the characters of a text that the encoding of a stream lacks, for example ``µs`` by ``us`` in ASCII.

    Args:
        text: the text.
        stream: where it will be written, such as ``sys.stdout``. One without an encoding takes any text.

    >>> import io
    >>> written_to("5 µs → 中", io.TextIOWrapper(io.BytesIO(), "ascii"))
    '5 us -> \\u4e2d'
    """
    encoding = getattr(stream, "encoding", None)
    if text.isascii() or not isinstance(encoding, str):
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_written(char, encoding) for char in text)
    except LookupError:  # no encoding of Python's
        pass
    return text


def print_line(text: str, indent: str | None = None) -> None:
    """Print a line that may hold any character; with `indent`, wrap it, and indent all lines but the first."""
    line = printable(text)
    print(written_to(line if indent is None else wrapped(line, indent), sys.stdout))


def wrapped(text: str, indent: str = "") -> str:
    """Wrap a sentence between words, so that it is easy to read and a terminal does not break it inside of a word."""
    return textwrap.fill(
        text,
        min(width(), WIDEST_SENTENCE),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )


def _written(char: str, encoding: str) -> str:
    for written in (char, _PLAIN.get(char, char)):
        try:
            written.encode(encoding)
            return written
        except UnicodeEncodeError:
            continue
    return char.encode(encoding, "backslashreplace").decode(encoding)


#: What is written for a character of a report or a source line if the encoding lacks it: one character if possible.
_PLAIN = {
    **dict(zip("µμ×·–—−≈²₀", "uux.---~20", strict=True)),
    **dict(zip("▁▂▃▄▅▆▇█", ".:-=+*#@", strict=True)),
    **dict(zip("─│├└┌┐┘┤", "-|++++++", strict=True)),
    **dict(zip("‘’“”\N{NO-BREAK SPACE}\N{REPLACEMENT CHARACTER}", "''\"\" ?", strict=True)),
    "…": "...",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "±": "+/-",
    "⚠": "!",
}
