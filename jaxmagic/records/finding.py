"""Something that a reader must know about a measurement, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A cause and its remedy.

    Attributes:
        kind: for programs. In a benchmark ``"folded"`` (XLA computed the result while compiling), ``"recompiled"``
            (something compiled while samples were taken), ``"drift"``, ``"modes"``, ``"correlated"`` (samples depend
            on each other), ``"too short"`` and ``"garbage collection"``; in a comparison ``"unstable
            baseline"`` (it differs from itself), ``"unequal samples"`` and ``"long loop"`` (how candidates were
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
