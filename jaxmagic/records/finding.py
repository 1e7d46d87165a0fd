"""Something that a reader must know about a measurement, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

#: A number that is a word of its own, and no part of a name, a type or a version.
_NUMBER = r"(?<![\w.,:\[^])(\d+(?:\.\d+)?)(?!\w|[.,]\d|\])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A cause and its remedy.

    Attributes:
        kind: for programs. In a benchmark ``"folded"`` (XLA computed the result while compiling), ``"recompiled"``
            (something compiled while samples were taken), ``"drift"``, ``"modes"``, ``"correlated"`` (samples depend
            on each other), ``"too short"`` and ``"garbage collection"``; in a comparison ``"unstable
            baseline"`` (its two measurements differ), ``"unequal samples"`` and ``"long loop"`` (how candidates were
            measured may explain their difference); in both ``"not run"`` (a function was not called, or the result
            is a generator or the like) and ``"load"`` (other processes kept the machine busy).
        text: what is wrong and what was found, a sentence.
        remedy: what to do, a sentence.
    """

    kind: str
    text: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.text} {self.remedy}"


def as_ranges(texts: Sequence[str], names: Iterable[str] = ()) -> dict[str, list[int]]:
    """Say sentences that differ only in their numbers as one, with the range of each number.

    Args:
        texts: the sentences.
        names: names that may be in them, and whose numbers are none.

    Returns:
        The indices of the texts that each sentence stands for.

    >>> as_ranges(["5 calls took 2.5 ms.", "5 calls took 1.5 ms.", "5 calls took 9 µs."])
    {'5 calls took 1.5 to 2.5 ms.': [0, 1], '5 calls took 9 µs.': [2]}
    """
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile("|".join([*(rf"(?<!\w){re.escape(each)}(?!\w)" for each in longest_first), _NUMBER]))
    alike: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        alike.setdefault(pattern.sub(lambda found: "\0" if found[1] else found[0], text), []).append(at)
    said = {}
    for sentence, places in alike.items():
        numbers = [[found[1] for found in pattern.finditer(texts[at]) if found[1]] for at in places]
        first, *parts = sentence.split("\0")
        spans = map(_span, zip(*numbers, strict=True))
        said["".join([first, *chain(*zip(spans, parts, strict=True))])] = places
    return said


def _span(numbers: Sequence[str]) -> str:
    """Return the least and the greatest of some numbers as they are written, or the one number that they are."""
    low, high = min(numbers, key=float), max(numbers, key=float)
    return low if float(low) == float(high) else f"{low} to {high}"
