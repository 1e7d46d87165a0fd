"""Compare what two functions of one source hold: to define the function once helps only where that is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..record.compilation import Cause
from ..record.events import CUT, Held
from .remedies import cause

_SAME_SOURCE = "the same source was compiled before, as another function object"

#: So many values are named in a reason.
_MOST_NAMES = 3


class Change(NamedTuple):
    """One value that differs; ``None`` where there was none."""

    path: str
    now: Held
    before: Held | None

    @property
    def name(self) -> str:
        """The path as people write it."""
        return self.path.replace(".__wrapped__", "")

    @property
    def by_argument(self) -> bool:
        """Whether one program could take both values as its argument."""
        return self.before is not None and self.now.kind in ("number", "array") and self.now.kind == self.before.kind

    @property
    def same_form(self) -> bool:
        """Whether both are of one dtype and shape."""
        return self.before is not None and self.now.form is not None and self.now.form == self.before.form

    @property
    def in_words(self) -> str:
        """What differs, in words."""
        if self.before is None:
            return f"another {self.name}: {self.now.words} now"
        if self.now.words != self.before.words:
            return f"another {self.name}: {self.now.words} now, {self.before.words} before"
        what = {"array": "array ", "function": "function ", "unknown": ""}.get(self.now.kind, "")
        unknown = ", which cannot be compared" if self.now.kind == "unknown" else ""
        return f"another {what}{self.name}: {self.now.words}{unknown}"


def changes(now: Mapping[str, Held], before: Mapping[str, Held]) -> list[Change]:
    """List the values that differ, outermost first; what is inside of one that differs is told with it.

    >>> one, two = Held("number", "1", 1, 0), Held("number", "2", 2, 0)
    >>> [change.in_words for change in changes({"k": two, "n": one}, {"k": one, "n": one})]
    ['another k: 2 now, 1 before']
    """
    found: list[Change] = []
    for path, held in now.items():
        if any(path.startswith((f"{each.path}.", f"{each.path}[")) for each in found):
            continue
        other = before.get(path)
        if other is None or held.token is None or held.token != other.token:
            found.append(Change(path, held, other))
    return found


def new_function(now: Mapping[str, Held], before: Mapping[str, Held]) -> Cause:
    """Explain why a function compiled whose source was compiled before, as another function object.

    Args:
        now: what the function holds.
        before: what the earlier one held.
    """
    found = changes(now, before)
    if not found:
        return cause("new function", _SAME_SOURCE)
    if [each.path for each in found] == [CUT]:
        reason = f"{_SAME_SOURCE}; it holds more values than were compared"
        return Cause(
            kind="new function", reason=reason, remedy="define and jit the function once, if they are the same"
        )
    reason = f"the same source was compiled before, with {told(found)}"
    advice = as_arguments(found)
    return Cause(
        kind="new function",
        reason=reason,
        remedy=advice and f"define and jit the function once, and {advice}",
        argument=found[0].name,
        now=found[0].now.words,
        before=None if found[0].before is None else found[0].before.words,
    )


def told(found: Sequence[Change]) -> str:
    """Name what differs, the first value in full; what cannot be compared only where nothing else differs."""
    known = [each for each in found if each.now.kind != "unknown"]
    found = known or found
    names = [each.name for each in found[1:]]
    rest = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    return found[0].in_words + (f"; and another {rest}" if rest else "")


def as_arguments(found: Sequence[Change], of: str = "") -> str | None:
    """Advise to pass as arguments what differs; ``None`` where one program could not take all of it.

    A number with which a shape is computed has to be known when the program is compiled, whatever one does.

    Args:
        found: what differs.
        of: which functions' arguments, in words.
    """
    if not all(each.by_argument and (each.same_form or each.now.kind == "number") for each in found):
        return None
    names = ", ".join(dict.fromkeys(each.name for each in found))
    several = len(found) > 1
    advice = f"pass {names} as {'arguments' if several else 'an argument'}"
    if not all(each.same_form for each in found):
        advice = f"pass {names} as {'arrays' if several else 'an array'} of one dtype"
    advice += of
    if any(each.now.kind == "number" for each in found):
        advice += ", where no shape, no axis and no if depends on it"
    return advice
