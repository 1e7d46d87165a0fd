"""Every exception that jaxmagic raises by itself.

::

    JaxMagicError
    ├── JaxNotAvailable      JAX is missing, or older than what is supported   (also an ImportError)
    ├── RecordError          a file is not a record, or is a broken one        (also a ValueError)
    └── NotMeasured          a record was asked for before there was one       (also a LookupError)

What the *user's* code raises is never wrapped: it comes through as it is. Broken expectations
(``--expect-no-compile``, ``--max-time``) raise the built-in :class:`AssertionError`, as a test would.
"""


class JaxMagicError(Exception):
    """Base of the exceptions below, for ``except jaxmagic.JaxMagicError``."""


class JaxNotAvailable(JaxMagicError, ImportError):
    """JAX cannot be imported, or is older than the oldest supported version."""


class RecordError(JaxMagicError, ValueError):
    """A file or mapping is not a record of jaxmagic; the message names the field that is wrong."""


class NotMeasured(JaxMagicError, LookupError):
    """There is no record yet, or the measurement is still running."""
