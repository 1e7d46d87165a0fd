"""Declares what a reader must know to understand a record: a kind and facts, which reports put into words."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..subjects import words_of_note
from .exportable import Exportable

#: A number, in the unit that its name says, whether something holds, or a name.
Fact = bool | int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Exportable):
    """A fact that qualifies the numbers of a record. ``str(note)`` is a sentence.

    Attributes:
        kind: the subject that words the note, and a name, such as ``"timing.standstill"``. ``"text"`` is a sentence
            that an earlier version of jaxmagic saved.
        facts: what the sentence says, by name; the names end in their units, as fields of records do.

    >>> note("timing.collected", gc_ns=1)
    Note(kind='timing.collected', facts={'gc_ns': 1})
    """

    kind: str
    facts: dict[str, Fact] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """Return the sentence; a note of a newer jaxmagic, which has no words here, is shown as it is."""
        if self.kind == "text":
            return str(self.facts.get("text", ""))
        words = words_of_note(self.kind)
        try:
            if words is not None:
                return words(**self.facts)
        except Exception:  # facts of another version, or of a file that somebody edited
            pass
        return ", ".join([self.kind, *(f"{name}: {fact}" for name, fact in self.facts.items())])

    @classmethod
    def of_text(cls, text: str) -> Note:
        """Keep a sentence of a file that was saved before notes had kinds."""
        return cls(kind="text", facts={"text": text})


def note(kind: str, **facts: Fact) -> Note:
    """Make a note of its facts.

    >>> note("profiling.reader", text="no planes").facts["text"]
    'no planes'
    """
    return Note(kind=kind, facts=facts)
