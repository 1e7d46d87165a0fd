"""Quotes the user's code in a sentence."""

from __future__ import annotations

from ...terminal import printable

#: The longest text of the user's code that a sentence quotes.
_LONGEST = 80


def quoted(text: str) -> str:
    """Quote code on one line, without control characters."""
    text = printable(" ".join(text.split()))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
