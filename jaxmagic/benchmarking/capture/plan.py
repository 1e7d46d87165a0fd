"""How long to sample, and what of that time is for what."""

from __future__ import annotations

from typing import NamedTuple

#: What part of the budget is for what, at most; the rest is for the latency.
WARM_UP, PIPELINED = 0.15, 0.2

#: And at least: noise that changes slowly is not seen in a moment.
LEAST_WARM_UP, LEAST = 0.01, 0.1


#: What is shorter may be a short call that the operating system kept waiting for some slices of time.
_LONG_NS = 10_000_000

#: Two calls of half a second fit into a second, although they take a little longer.
_FITS = 1.02


class Plan(NamedTuple):
    """How long to sample.

    Attributes:
        rtol: stop when the interval of the median reaches no farther than this share of it to either side.
        budget_ns: or when this long has been sampled, the first call aside.
        samples: take exactly so many instead.
        evaluations: calls in a sample; chosen by the length of a call if left out.
    """

    rtol: float = 0.01
    budget_ns: int = 10**9
    samples: int | None = None
    evaluations: int | None = None

    @property
    def is_counted(self) -> bool:
        """True if the user has said how many calls there are to be."""
        return self.samples is not None and self.evaluations is not None

    def is_long(self, call_ns: float) -> bool:
        """Tell whether a call takes so much of the budget that each one counts.

        Such a call is warm when it compiles nothing, and no part of the budget is kept back for pipelined ones, of
        which too few would fit.
        """
        return call_ns >= max(LEAST_WARM_UP * self.budget_ns, _LONG_NS)

    def sampling_ns(self, call_ns: float) -> float:
        """The part of the budget that is for samples of calls that take so long."""
        return self.budget_ns if self.is_long(call_ns) else (1 - WARM_UP - PIPELINED) * self.budget_ns

    def has_time(self, spent_ns: float, each_ns: float, count: int, needed: int) -> bool:
        """Tell whether to take one more sample, or round.

        While it fits into the budget; and until there are as many as an answer takes, if all of these cost no more
        than the budget once more.

        Args:
            spent_ns: so far.
            each_ns: what one takes.
            count: how many there are.
            needed: how many an answer takes.
        """
        if spent_ns + each_ns <= _FITS * self.sampling_ns(each_ns):
            return True
        return count < needed and spent_ns + (needed - count) * each_ns <= 2 * self.budget_ns


def default_budget_ns(candidates: int, points: int | None = None) -> int:
    """Tell how long a comparison of so many candidates may take where nobody says: a second for each.

    Args:
        candidates: how many.
        points: of a sweep, where it is half a second for each candidate and point.
    """
    return candidates * 10**9 if points is None else candidates * points * 10**9 // 2
