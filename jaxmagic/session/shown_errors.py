"""Find the last error that was shown to the user, also after an error about usage."""

from __future__ import annotations

import sys

from ..runtime.around import attributes

#: The attribute in which an error about usage keeps the one that was shown before it.
_BEFORE = "shown_before"


def last_shown() -> BaseException | None:
    """Return the last error that Python or IPython has shown, except for errors about usage.

    IPython sets ``sys.last_value``; Python 3.12 and newer set ``sys.last_exc`` to the same.
    """
    error = getattr(sys, "last_value", None) or getattr(sys, "last_exc", None)
    held = attributes(error) or {}
    before: BaseException | None = held.get(_BEFORE, error)
    return before


def keep_last_shown(usage: BaseException, before: BaseException | None = None) -> None:
    """Let an error about usage keep the error shown before it, if any, which IPython forgets for it.

    Args:
        usage: the error about usage.
        before: the error before it; the last one that was shown if left out.
    """
    before = before or last_shown()
    usage.__dict__.setdefault(_BEFORE, None if before is usage else before)
