"""Makes untrusted text safe to print: names, labels and loaded records may contain any character. Knows the width."""

from __future__ import annotations

import re
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


def line_written_to(line: str, stream: object, width: int) -> str:
    """Do the same with a line that is laid out: a cell or line that was cut keeps its width.

    >>> import io
    >>> line_written_to("… and 3 more: step_of_the_…  1 ms", io.TextIOWrapper(io.BytesIO(), "ascii"), 80)
    '... and 3 more: step_of_the_~  1 ms'
    """
    ellipsis = written_to("…", stream)
    if ellipsis != "…":
        in_prose = _ELLIPSIS_IN_PROSE.sub(rf"\g<1>{ellipsis}", line)
        line = (in_prose if len(in_prose) <= width else line).replace("…", _CUT)
    written = written_to(line, stream)
    return written if len(written) <= max(width, len(line)) else written_to(line.replace("→", ">"), stream)


def print_line(text: str, indent: str | None = None) -> None:
    """Print a line that may hold any character; with `indent`, wrap it, and indent all lines but the first."""
    line = written_to(printable(text), sys.stdout)
    print(line if indent is None else wrapped(line, indent))


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


#: An ellipsis that stands for words or lines, and what is written where text is cut.
_ELLIPSIS_IN_PROSE, _CUT = re.compile(r"(^ *|, )…(?= |$)"), "~"

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
