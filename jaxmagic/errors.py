"""Every exception that jaxmagic raises by itself.

::

    JaxMagicError
    ├── JaxNotAvailable      JAX is missing, or older than what is supported   (also an ImportError)
    ├── RecordError          a file is not a record, or is a broken one        (also a ValueError)
    ├── NotMeasured          something could not be measured, or not yet       (also a LookupError)
    ├── DonatedTwice         a repeated call met an array that was used up     (also a ValueError)
    ├── OutputsDiffer        candidates do not compute the same                (also an AssertionError)
    ├── NotComparable        records are from different environments           (also a ValueError)
    └── LaunchError          a fresh process failed, or cannot be given a function (also a RuntimeError)

What the *user's* code raises is never wrapped: it comes through as it is. Broken expectations
(``--expect-no-compile``, ``--max-time``) raise the built-in :class:`AssertionError`, as a test would.
"""

from .terminal import printable_lines


class JaxMagicError(Exception):
    """Base of the exceptions below, for ``except jaxmagic.JaxMagicError``.

    Their messages hold no control characters, whatever they quote.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(printable_lines(message))


class JaxNotAvailable(JaxMagicError, ImportError):
    """JAX cannot be imported, or is older than the oldest supported version."""


class RecordError(JaxMagicError, ValueError):
    """A file or mapping is not a record of jaxmagic; the message names the field that is wrong."""


class DonatedTwice(JaxMagicError, ValueError):
    """A call after the first met an array that an earlier one had donated or deleted; fresh copies are needed."""


class OutputsDiffer(JaxMagicError, AssertionError):
    """A candidate does not compute what the baseline computes; the message names the leaf and the error."""


class NotComparable(JaxMagicError, ValueError):
    """Two records are from different environments; the message names the fields."""


class LaunchError(JaxMagicError, RuntimeError):
    """A fresh process failed, or cannot be given the function; the message has what it wrote."""


class NotMeasured(JaxMagicError, LookupError):
    """There is nothing to tell.

    There is no record yet or the measurement still runs; the profiler is in use, has lost runs or written a file that
    cannot be read; or two records have too few samples to compare.
    """


def message_of(error: BaseException) -> str:
    """Return the text of an exception; of one that has none to give, because its ``__str__`` fails, the empty string.

    >>> message_of(ValueError("too large"))
    'too large'
    """
    try:
        return str(error)
    except Exception:
        return ""
