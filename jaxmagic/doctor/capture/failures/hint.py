"""Prints the line under a traceback that points to the explanation."""

from __future__ import annotations

from .recognize import recognize

#: The line.
HINT = "%jaxdoctor explains this error."


def print_hint(error: object) -> None:
    """Print the hint if an exception is one that JAX raised and that has an explanation. Never raises."""
    try:
        known = isinstance(error, BaseException) and recognize(error) is not None
    except Exception:
        return
    if known:
        print(HINT)
