"""Compare the values that two functions of one source hold: defining the function once helps only if they agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...records.names import listed
from ..record.compilation import Cause
from ..record.events import CUT, Held
from .remedies import cause

_SAME_SOURCE = "the same source was compiled before, as a different function object"

#: A reason names at most this many values.
_MOST_NAMES = 3

#: A path with more steps than this is cut before its first private attribute: it is one of a library.
_MOST_STEPS = 5

#: A step of a path: an attribute, or an index.
_STEP = re.compile(r"\.\w+|\[[^\]]*\]")

#: An object that compares by identity, in a value: a function, or an object of a class without ``__eq__``.
_IDENTITY = re.compile(r"(?P<name>[\w.<>]+) (?:\(object |object )(?P<address>0x\w+)")


class Change(NamedTuple):
    """A value that differs; `before` is ``None`` where there was none."""

    path: str
    now: Held
    before: Held | None

    @property
    def name(self) -> str:
        """The path as people write it, without wrappers."""
        return self.path.replace(".__wrapped__", "")

    @property
    def shown(self) -> str:
        """The name, without what only the author of a library knows: its private attributes, and what they hold.

        >>> Change("run.sampler._post.args[0]['mu']._inv", Held("unknown", "a C", None, None), None).shown
        'run.sampler'
        """
        steps = [*_STEP.finditer(self.name)]
        private = [each.start() for each in steps if each[0].startswith("._")]
        return self.name[: private[0]] if private and len(steps) > _MOST_STEPS else self.name

    @property
    def by_argument(self) -> bool:
        """Whether one program could take either value as an argument."""
        return self.before is not None and self.now.kind in ("number", "array") and self.now.kind == self.before.kind

    @property
    def same_form(self) -> bool:
        """Whether both values have the same dtype and shape."""
        return self.before is not None and self.now.form is not None and self.now.form == self.before.form

    @property
    def in_words(self) -> str:
        """The difference in words."""
        name, inside = self.shown, "" if self.shown == self.name else "deep inside, "
        if self.before is None:
            return f"a different {name}: {inside}{self.now.words} now"
        if self.now.words != self.before.words:
            return f"a different {name}: {inside}{self.now.words} now, {self.before.words} before"
        what = {"array": "array ", "function": "function "}.get("" if inside else self.now.kind, "")
        unknown = ", which cannot be compared" if self.now.kind == "unknown" else ""
        return f"a different {what}{name}: {inside}{self.now.words}{unknown}"


def changes(now: Mapping[str, Held], before: Mapping[str, Held]) -> list[Change]:
    """List the values that differ, outermost first, and without what is inside of a value that differs.

    >>> one, two = Held("number", "1", 1, 0), Held("number", "2", 2, 0)
    >>> [change.in_words for change in changes({"k": two, "n": one}, {"k": one, "n": one})]
    ['a different k: 2 now, 1 before']
    """
    differing: list[Change] = []
    for path, held in now.items():
        if any(path.startswith((f"{each.path}.", f"{each.path}[")) for each in differing):
            continue
        other = before.get(path)
        if other is None or held.token is None or held.token != other.token:
            differing.append(Change(path, held, other))
    return differing


def new_function(now: Mapping[str, Held], before: Mapping[str, Held]) -> Cause:
    """Explain why a function compiled whose source was compiled before, as a different function object.

    Args:
        now: the values that the function holds.
        before: the values that the earlier function object held.
    """
    differing = changes(now, before)
    if not differing:
        return cause("new function", _SAME_SOURCE)
    if [each.path for each in differing] == [CUT]:
        reason = f"{_SAME_SOURCE}; it holds more values than were compared"
        return Cause(
            kind="new function", reason=reason, remedy="define and jit the function once, if they are the same"
        )
    reason = f"the same source was compiled before, with {list_changes(differing)}"
    advice = as_arguments(differing)
    first = differing[0]
    return Cause(
        kind="new function",
        reason=reason,
        remedy=advice and f"define and jit the function once, and {advice}",
        argument=first.name,
        now=first.now.words,
        before=None if first.before is None else first.before.words,
    )


def list_changes(differing: Sequence[Change]) -> str:
    """Describe the first change and name the others; leave out values that cannot be compared if others differ."""
    differing = [each for each in differing if each.now.kind != "unknown"] or differing
    names = dict.fromkeys(each.shown for each in differing)
    rest = listed([*names][1:], _MOST_NAMES)
    return differing[0].in_words + (f"; also different: {rest}" if rest not in ("", CUT) else "")


def as_arguments(differing: Sequence[Change], of: str = "") -> str | None:
    """Advise passing the values that differ as arguments; ``None`` if one program could not take all of them.

    A number that a shape is computed from has to be known when the program is compiled.

    Args:
        differing: the values that differ.
        of: the functions that would take the arguments, in words.
    """
    if not all(each.by_argument and (each.same_form or each.now.kind == "number") for each in differing):
        return None
    if any(each.shown != each.name for each in differing):  # out of the user's reach
        return None
    names = ", ".join(dict.fromkeys(each.name for each in differing))
    several = len(differing) > 1
    advice = f"pass {names} as {'arguments' if several else 'an argument'}"
    if not all(each.same_form for each in differing):
        advice = f"pass {names} as {'arrays' if several else 'an array'} of one dtype"
    advice += of
    if any(each.now.kind == "number" for each in differing):
        advice += ", if no shape, axis or Python if depends on it"
    return advice


def as_pytree(name: str, kind: str, differing: Sequence[Change], *, dataclass: bool) -> str:
    """Advise, besides an argument, to make the attributes of a static argument that differ leaves of a pytree.

    Empty for what lies deeper in the object.

    Args:
        name: the name of the argument.
        kind: the class of its value.
        differing: the values that differ.
        dataclass: whether the class is a dataclass.
    """
    fields = [each.path.removeprefix(f"{name}.") for each in differing]
    if not name.isidentifier() or not all(map(str.isidentifier, fields)):
        return ""
    how = "register_dataclass" if dataclass else "register_pytree_node_class"
    return (
        f" of its own, or register {kind} as a pytree with {', '.join(fields)} as data (jax.tree_util.{how}) and do "
        f"not declare {name} static"
    )


def is_made_anew(now: str, before: str) -> bool:
    """Return whether a value is, or holds, another object than the earlier one where that compares by identity.

    >>> is_made_anew("f (object 0x2)", "f (object 0x1)"), is_made_anew("g (object 0x2)", "f (object 0x1)")
    (True, False)
    >>> is_made_anew("C(n=3, act=f (object 0x1))", "C(n=2, act=f (object 0x1))"), is_made_anew("C object 0x2", "2")
    (False, False)
    """
    ours, theirs = _identities(now), _identities(before)
    return any(name in theirs and not found & theirs[name] for name, found in ours.items())


def _identities(text: str) -> dict[str, set[str]]:
    """Return the addresses of the objects in a value that compare by identity, by their name or class."""
    found: dict[str, set[str]] = {}
    for each in _IDENTITY.finditer(text):
        found.setdefault(each["name"], set()).add(each["address"])
    return found
