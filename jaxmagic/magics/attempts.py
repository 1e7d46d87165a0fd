"""What is done with a record after the measurement: where it fails, record and value are worth more than that."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import message_of
from ..terminal import printable


def attempt(what: str, step: Callable[[], object]) -> bool:
    """Do a step that a record does not depend on; where it fails, that is told in a sentence.

    Args:
        what: what failed, such as ``"--save"``.
        step: it.

    Returns:
        Whether it was done.

    >>> attempt("the report", lambda: 1 / 0)
    the report failed (ZeroDivisionError: division by zero). The record is in jaxmagic.last().
    False
    """
    try:
        step()
    except Exception as error:
        lines = message_of(error).splitlines()
        reason = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        print(printable(f"{what} failed ({reason.rstrip('.')}). The record is in jaxmagic.last()."))
        return False
    return True
