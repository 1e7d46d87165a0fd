"""Find the last error that was shown to the user, also after an error about usage."""

from __future__ import annotations

import sys

from ..runtime.around import attributes

#: The attribute in which an error about usage keeps the one that was shown before it.
_BEFORE = "shown_before"

#: The attributes of a mistake in the use of one magic: its name, and the last error that was no such mistake.
_MAGIC, _ASKED_ABOUT = "mistaken_magic", "asked_about"

#: The attribute of an answer that there is no error to explain: the error that it quotes.
_QUOTED = "quoted_error"


def last_shown() -> BaseException | None:
    """Return the last error that Python or IPython has shown, except for errors about usage.

    IPython sets ``sys.last_value``; Python 3.12 and newer set ``sys.last_exc`` to the same.
    """
    error = last_seen()
    held = attributes(error) or {}
    before: BaseException | None = held.get(_BEFORE, error)
    return before


def last_seen(asking: str | None = None) -> BaseException | None:
    """Return the last error that Python or IPython has shown, errors about usage included.

    Args:
        asking: the magic that explains errors: a mistake in its own use hides no error that it was to explain.
    """
    return _without(getattr(sys, "last_value", None) or getattr(sys, "last_exc", None), asking)


def last_quoted() -> BaseException | None:
    """Return the last error that was shown, of any kind; after an answer that quotes one, the error in it."""
    error = last_seen()
    return (attributes(error) or {}).get(_QUOTED, error)


def quoting(answer: BaseException) -> BaseException:
    """Let an answer that there is no error to explain keep the error that it quotes, for the next answer."""
    answer.__dict__[_QUOTED] = last_quoted()
    return answer


class LastCell:
    """Remembers of the last cell whether it showed an error, also one that ended nothing, as in a display.

    Attributes:
        showed: whether it did.
    """

    showed = False


def ran_nothing(error: BaseException) -> bool:
    """Return whether an error is one about usage, before which nothing of its cell ran."""
    return _BEFORE in (attributes(error) or {})


def keep_last_shown(
    usage: BaseException,
    before: BaseException | None = None,
    *,
    magic: str | None = None,
    seen: BaseException | None = None,
) -> None:
    """Let an error about usage keep the error shown before it, if any, which IPython forgets for it.

    Args:
        usage: the error about usage.
        before: the error before it that is not about usage; the last one that was shown if left out.
        magic: the magic that was used wrongly, if that is known.
        seen: the error before it, even if about usage; the last one that was shown if left out.
    """
    before = before or last_shown()
    usage.__dict__.setdefault(_BEFORE, None if before is usage else before)
    if magic is not None and _MAGIC not in usage.__dict__:
        seen = _without(seen or last_seen(), magic)
        usage.__dict__.update({_MAGIC: magic, _ASKED_ABOUT: None if seen is usage else seen})


def _without(error: BaseException | None, magic: str | None) -> BaseException | None:
    """Return an error, or the one before it if it is a mistake in the use of a magic."""
    held = attributes(error) or {}
    if magic is None or held.get(_MAGIC) != magic:
        return error
    before: BaseException | None = held.get(_ASKED_ABOUT)
    return before
