"""Recognize JAX's errors by their text: memory ran out, or an array had been deleted."""

from __future__ import annotations

import re

from ..errors import message_of


def ran_out_of_memory(error: BaseException) -> bool:
    """Return whether a device or the host ran out of memory; XLA has no exception type for that.

    The CPU client of JAX 0.7 reports it as ``INTERNAL: … Out of memory allocating 36035156250000 bytes``.
    """
    text = message_of(error)
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in text or "Out of memory allocating" in text


def met_a_deleted_array(error: BaseException) -> bool:
    """Return whether an array had been donated or deleted; JAX has no exception type for that."""
    words = r"(array|buffer) has been deleted|deleted or donated buffer"
    return re.search(words, message_of(error), re.I) is not None
