"""Steps after a measurement whose failure must not cost the record or the value."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import message_of
from ..terminal import print_line


def attempt(what: str, step: Callable[[], object]) -> bool:
    """Take a step that the record does not depend on; print a sentence if it fails.

    Args:
        what: the step in words, such as ``"--save"``.
        step: the step.

    Returns:
        Whether the step succeeded.

    >>> attempt("the report", lambda: 1 / 0)
    the report failed (ZeroDivisionError: division by zero). The record is in jaxmagic.last().
    False
    """
    try:
        step()
    except Exception as error:
        lines = message_of(error).splitlines()
        reason = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        print_line(f"{what} failed ({reason.rstrip('.')}). The record is in jaxmagic.last().")
        return False
    return True
