"""Every exception that jaxmagic defines.

::

    JaxMagicError
    ├── JaxNotAvailable      JAX is missing or too old                                (also an ImportError)
    ├── RecordError          a file is not a record, or is corrupt                    (also a ValueError)
    ├── NotMeasured          a measurement failed or has not finished                 (also a LookupError)
    ├── DonatedTwice         an input was donated or deleted by an earlier call       (also a ValueError)
    ├── OutputsDiffer        candidates return different results                      (also an AssertionError)
    ├── NotComparable        records are from different environments                  (also a ValueError)
    └── LaunchError          a fresh process failed, or a function cannot be sent to it (also a RuntimeError)

Exceptions from the *user's* code are never wrapped. Failed expectations (``--expect-no-compile``, ``--max-time``)
raise the built-in :class:`AssertionError`, as a test would.
"""

import sys

from .terminal import printable_lines, written_to


class JaxMagicError(Exception):
    """Base of the exceptions below, for ``except jaxmagic.JaxMagicError``.

    Control characters in a message, for example from quoted user text, are replaced, and so are characters that
    ``sys.stdout`` cannot write.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(written_to(printable_lines(message), sys.stdout))


class JaxNotAvailable(JaxMagicError, ImportError):
    """JAX cannot be imported, or is older than the oldest supported version."""


class RecordError(JaxMagicError, ValueError):
    """A file or mapping is not a jaxmagic record; the message names the invalid field."""


class DonatedTwice(JaxMagicError, ValueError):
    """A repeated call was given an array that an earlier call had donated or deleted; pass a fresh copy."""


class OutputsDiffer(JaxMagicError, AssertionError):
    """A candidate's result differs from the baseline's; the message names the pytree leaf and the error."""


class NotComparable(JaxMagicError, ValueError):
    """Two records are from different environments; the message names the fields that differ."""


class LaunchError(JaxMagicError, RuntimeError):
    """A fresh process failed, or the function cannot be sent to it; the message includes the process's output."""


class NotMeasured(JaxMagicError, LookupError):
    """No measurement is available.

    There is no record yet, or the measurement is still running. Or the profiler is already in use, dropped runs, or
    wrote an unreadable file. Or two records have too few samples to compare.
    """


#: A longer line of a message is cut between words.
_LONGEST_LINE = 100


def message_of(error: BaseException) -> str:
    """Return the text of an exception, or an empty string if its ``__str__`` fails.

    >>> message_of(ValueError("too large"))
    'too large'
    """
    try:
        return str(error)
    except Exception:
        return ""


def briefly(error: BaseException) -> str:
    r"""Return the first line of an exception with its type, cut between words if it is long.

    >>> briefly(ValueError("too large\nby far"))
    'ValueError: too large'
    """
    from textwrap import shorten

    line = next(iter(message_of(error).splitlines()), "").rstrip(". ")
    name = type(error).__name__
    return f"{name}: {shorten(line, _LONGEST_LINE, placeholder=' …')}" if line else name
