"""Plans how long to sample, and how that time is divided."""

from __future__ import annotations

from typing import NamedTuple

from ..record.samples import PIPELINED

#: The largest share of the budget for the warm-up. What it and pipelined calls leave is for the latency.
WARM_UP = 0.15

#: The smallest shares for the warm-up and for samples: slowly changing noise does not show within a moment.
LEAST_WARM_UP, LEAST = 0.01, 0.1


#: A shorter call may be one that the operating system delayed for some time slices.
_LONG_NS = 10_000_000

#: Two calls of half a second fit into a second, even if they take slightly longer.
_FITS = 1.02


class Plan(NamedTuple):
    """The conditions under which sampling ends.

    Attributes:
        rtol: stop when the interval of the median reaches no farther than this share of it to either side.
        budget_ns: or when this long has been sampled, the first call aside.
        samples: take exactly this many samples instead.
        evaluations: calls per sample; chosen from the length of a call if left out.
    """

    rtol: float = 0.01
    budget_ns: int = 10**9
    samples: int | None = None
    evaluations: int | None = None

    @property
    def is_counted(self) -> bool:
        """True if the user has fixed the number of calls."""
        return self.samples is not None and self.evaluations is not None

    def is_long(self, call_ns: float) -> bool:
        """Tell whether a call takes so much of the budget that each one counts.

        Such a call is warm once it compiles nothing. No part of the budget is reserved for pipelined calls, because
        too few would fit.
        """
        return call_ns >= max(LEAST_WARM_UP * self.budget_ns, _LONG_NS)

    def sampling_ns(self, call_ns: float) -> float:
        """Return the part of the budget for samples of calls that take `call_ns`."""
        return self.budget_ns if self.is_long(call_ns) else (1 - WARM_UP - PIPELINED) * self.budget_ns

    def has_time(self, spent_ns: float, each_ns: float, count: int, needed: int) -> bool:
        """Tell whether there is time for one more sample, or round.

        There is while it fits into the budget, and until there are as many as an answer needs, if those take no more
        than twice the budget in all.

        Args:
            spent_ns: the time spent so far.
            each_ns: the time of one sample or round.
            count: how many have been taken.
            needed: how many an answer needs.
        """
        if spent_ns + each_ns <= _FITS * self.sampling_ns(each_ns):
            return True
        return count < needed and spent_ns + (needed - count) * each_ns <= 2 * self.budget_ns


def default_budget_ns(candidates: int, points: int | None = None) -> int:
    """Return the default budget of a comparison: one second per candidate.

    Args:
        candidates: the number of candidates.
        points: the number of points of a sweep; its default is half a second per candidate and point.
    """
    return candidates * 10**9 if points is None else candidates * points * 10**9 // 2
