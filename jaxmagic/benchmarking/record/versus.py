"""One time beside another: the ratio, its interval, and the verdict on it."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Literal

from ...statistics.estimate import Estimate
from .process_noise import Basis

#: What a comparison comes to. ``no difference`` means none of more than 3 %.
Verdict = Literal["faster", "slower", "no difference", "too noisy to tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versus:
    """A candidate beside the baseline: what follows from the samples of both.

    Attributes:
        label: the candidate's.
        baseline: the baseline's.
        ratio: its time over the baseline's, with the interval; 0.5 is twice as fast. With several other candidates
            each interval is wider, so that all of them hold with 95 %. ``None`` for fewer than four rounds, or five
            from three other candidates on.
        verdict: what that comes to: *faster* and *slower* where the whole interval is more than 1 % away from one.
        break_even_calls: after how many calls its compilation has paid for itself; 0 if it compiled no longer than
            the baseline did, ``None`` if it never does or that is not known.
        break_even_interval: the fewest and the most calls after which it has, given how sure the time won per call
            is. Both compilations were timed once.
        differing: in what the environments of two records differ that were compared anyway, in words.
        basis: what the verdict on two records rests on; ``None`` for candidates that were measured side by side.
    """

    label: str
    baseline: str
    ratio: Estimate | None
    verdict: Verdict
    break_even_calls: int | None
    break_even_interval: tuple[int, int] | None = None
    differing: tuple[str, ...] = ()
    basis: Basis | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the ratio."""
        return None if self.ratio is None else (self.ratio.low, self.ratio.high)


#: A difference smaller than this is not called one, however sure it is: placement and alignment make as much.
LEAST_DIFFERENCE = 0.01

#: Ratios within this of one are the same, for all that people decide by them.
SAME = 0.03


def judge(found: Estimate | None, floor: float = LEAST_DIFFERENCE, same: float = SAME) -> Verdict:
    """The verdict on a ratio of times.

    Faster or slower where the whole interval lies farther from one than the floor. No difference where all of it
    lies within `same` of one.

    Args:
        found: time over the baseline's time.
        floor: a difference up to this is not told apart from none.
        same: how far from one is still the same.
    """
    if found is None:
        return "too noisy to tell"
    low, high = log(found.low), log(found.high)
    if low > log(1 + floor):
        return "slower"
    if high < -log(1 + floor):
        return "faster"
    return "no difference" if max(abs(low), abs(high)) <= log(1 + same) else "too noisy to tell"
