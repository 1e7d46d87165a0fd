"""Declares the ratio of two times, its interval, and the verdict on it."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any, Literal

from ...report.displayable import Shown
from ...statistics.estimate import Estimate
from .inputs import InputChange
from .process_noise import Basis

#: The outcome of a comparison. ``no difference`` means at most 3 %.
Verdict = Literal["faster", "slower", "no difference", "too noisy to tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versus(Shown):
    """A candidate compared with the baseline, from the samples of both.

    Attributes:
        label: the candidate's label.
        baseline: the baseline's label.
        ratio: the candidate's time over the baseline's, with its interval; 0.5 is twice as fast. With several other
            candidates each interval is wider, so that all of them hold with 95 % confidence. ``None`` for fewer than
            four rounds, or five if there are three or more other candidates.
        verdict: the verdict on the ratio: *faster* or *slower* if the whole interval is more than 1 % away from one.
        break_even_calls: the number of calls after which the candidate's longer compilation has paid for itself. It
            is 0 if it compiled no longer than the baseline, and ``None`` if it never pays or that is unknown.
        break_even_interval: the fewest and the most such calls, given the interval of the time saved per call. Both
            compilations were timed only once.
        differing: the differences between the environments, in words, if two records were compared anyway.
        basis: the noise that a verdict on two records rests on; ``None`` for candidates measured side by side.
        code: the first line in which the code of two records differs, in the earlier and the later one; empty where
            one has fewer lines. ``None`` if the code is the same or unknown, or there are no two records.
        inputs: the inputs that differ between two records; ``None`` if only one of them lists its inputs. If they
            differ, the ratio need not be due to the code.
    """

    label: str
    baseline: str
    ratio: Estimate | None
    verdict: Verdict
    break_even_calls: int | None
    break_even_interval: tuple[int, int] | None = None
    differing: tuple[str, ...] = ()
    basis: Basis | None = None
    code: tuple[str, str] | None = None
    inputs: tuple[InputChange, ...] | None = ()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # in a dictionary by label, which IPython displays
        printer.text(str(self))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the ratio."""
        return None if self.ratio is None else (self.ratio.low, self.ratio.high)


#: A smaller difference is not called one, however certain it is: memory placement and alignment cause as much.
LEAST_DIFFERENCE = 0.01

#: Ratios this close to one count as the same for practical purposes.
_SAME = 0.03


def judge(found: Estimate | None, floor: float = LEAST_DIFFERENCE) -> Verdict:
    """Judge a ratio of times.

    It is faster or slower if the whole interval lies farther from one than `floor`, and no difference if the whole
    interval is so close to one that it makes no practical difference.

    Args:
        found: the time over the baseline's time.
        floor: a difference up to this is not distinguished from none.
    """
    if found is None:
        return "too noisy to tell"
    low, high = log(found.low), log(found.high)
    if low > log(1 + floor):
        return "slower"
    if high < -log(1 + floor):
        return "faster"
    return "no difference" if max(abs(low), abs(high)) <= log(1 + _SAME) else "too noisy to tell"
