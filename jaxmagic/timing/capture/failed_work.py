"""Finds computations that failed and whose results nothing has asked for yet: JAX raises their errors only then."""

from __future__ import annotations

import sysconfig
import weakref
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from .wait import wait_for_all

#: Arrays to tell newer ones by: the newest may be gone when they are asked for.
_KEPT = 8

#: The most characters of an error.
_LONGEST = 200

#: Without the GIL, JAX lists arrays in no order.
_IN_ORDER = not sysconfig.get_config_var("Py_GIL_DISABLED")

#: The newest arrays at some time, without keeping them.
Newest = tuple["weakref.ref[Any]", ...]


def newest(arrays: Sequence[Any]) -> Newest:
    """Return the newest of the live arrays, which are given newest first."""
    return tuple(map(weakref.ref, arrays[:_KEPT]))


def failed_since(before: Newest, arrays: Sequence[Any]) -> str | None:
    """Return the error of a computation whose result is newer than some arrays; ``None`` if none is known.

    Args:
        before: the newest arrays of then.
        arrays: live arrays, newest first, which have been waited for.
    """
    known = {id(each()) for each in before}
    if not _IN_ORDER or (before and not any(each() is not None for each in before)):
        return None
    new = [each for each in takewhile(lambda array: id(array) not in known, arrays) if not each.is_deleted()]
    try:
        wait_for_all(new)
    except Exception as error:
        text = str(error).strip().partition("\n")[0]
        return f"{type(error).__name__}: {text}"[:_LONGEST]
    return None
