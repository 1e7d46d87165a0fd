"""Tells from the words of JAX's errors what happened: memory ran out, or an array had been deleted."""

from __future__ import annotations

import re

from ..errors import message_of


def ran_out_of_memory(error: BaseException) -> bool:
    """Tell whether an exception says that a device or the host has no memory left: XLA has only words for that."""
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in message_of(error)


def met_a_deleted_array(error: BaseException) -> bool:
    """Tell whether an exception says that an array was donated or deleted: JAX has no type for that, only words."""
    words = r"(array|buffer) has been deleted|deleted or donated buffer"
    return re.search(words, message_of(error), re.I) is not None
