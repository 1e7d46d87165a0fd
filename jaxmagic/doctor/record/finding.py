"""Declares findings: a problem, its cost, its remedy, and the result of trying the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...benchmarking.record.versus import LEAST_DIFFERENCE
from ...records.exportable import Exportable
from ...records.note import Note
from .out_of_memory import LEAST_SPARED

#: The way in which a cost is known.
Basis = Literal[
    "measured",  # by a clock, or planned by the compiler
    "estimated",  # computed from something that was measured
    "at least",  # likewise, of a part of the cost: the rest cannot be told apart
]

#: The occasion on which a cost arises.
Per = Literal[
    "run",  # in every run of the code
    "first run",  # when the code runs for the first time, as compiling does
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A remedy that was applied to a copy of the code and measured beside the original.

    Attributes:
        before_ns: median time of a run of the original; ``None`` if time was not compared.
        after_ns: the same with the remedy.
        speedup: how many times as fast the code is with the remedy.
        low: lower end of the 95 % interval of `speedup`.
        high: upper end of this interval.
        before_bytes: bytes that the original needs on a device; ``None`` if memory was not compared.
        after_bytes: the same with the remedy.
        outputs_agree: whether both compute the same; ``None`` if that could not be checked.
        ceiling: whether not the remedy was tried, but what no remedy can exceed: `speedup` is no gain then.
        remedy: the remedy, if it was tried in vain and the finding no longer recommends it; ``None`` otherwise.
        code: its code, likewise.
        notes: how it was tried, and what a reader must know about it.
    """

    before_ns: float | None = None
    after_ns: float | None = None
    speedup: float | None = None
    low: float | None = None
    high: float | None = None
    before_bytes: int | None = None
    after_bytes: int | None = None
    outputs_agree: bool | None = None
    ceiling: bool = False
    remedy: Note | None = None
    code: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the code with the remedy raised an exception."""
        return any(each.kind == "doctor.not_tried_failed" for each in self.notes)

    @property
    def survives(self) -> bool | None:
        """Whether the remedy is an improvement with the same outputs: smaller if memory was compared, else faster.

        Smaller means that it spares at least 2 %. Faster means that the whole interval lies more than 1 % above one.
        ``None`` if nothing was compared, or if a ceiling was measured, which the remedy need not reach.
        """
        if self.ceiling:
            return None
        if self.failed or self.outputs_agree is False:
            return False
        if self.before_bytes is not None and self.after_bytes is not None:
            return self.after_bytes <= (1 - LEAST_SPARED) * self.before_bytes
        return None if self.low is None else self.low > 1 + LEAST_DIFFERENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFinding(Exportable):
    """A problem that a rule found.

    Attributes:
        rule: the name of the rule, such as ``"recompile"``.
        found: what was found, with its numbers.
        line: the user's line that it is about, such as ``"cell 3:2"``; ``None`` if it is about no line.
        source: the text of that line; ``None`` if it could not be read.
        evidence: how it is known: further facts.
        cost_ns: what it costs in time; ``None`` if that is unknown, or if it costs memory.
        cost_bytes: what it costs in memory on a device; ``None`` likewise.
        basis: how the cost is known; ``None`` without a cost.
        per: when the cost arises.
        compiles: the places, in ``Diagnosis.first.compilations``, of the compilations that the remedy would spare or
            shorten; no second of them is in the cost of two findings.
        remedy: what to do; ``None`` if there is nothing to do.
        code: code to paste, with the user's own names; ``None`` if there is none.
        applies_to: the names of what the remedy changes, separated by commas, for ``--verify``: the function to jit,
            the parameters to donate or to sort, the variables to move; ``None`` if that follows from `code` and
            `line`.
        verified: the remedy, tried; ``None`` if it was not. A remedy that did not survive is there, and neither in
            `remedy` nor in `code`.
    """

    rule: str
    found: Note
    line: str | None = None
    source: str | None = None
    evidence: tuple[Note, ...] = ()
    cost_ns: float | None = None
    cost_bytes: int | None = None
    basis: Basis | None = None
    per: Per = "run"
    compiles: tuple[int, ...] = ()
    remedy: Note | None = None
    code: str | None = None
    applies_to: str | None = None
    verified: Verified | None = None

    def __str__(self) -> str:
        """Return what was found and what to do."""
        return " ".join(str(each) for each in (self.found, self.remedy) if each is not None)
