"""Measures a comparison again: takes new samples, and keeps what the first calls showed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...benchmarking.capture.plan import Plan
from ...progress.record import SILENT
from ..record.candidate import Candidate
from ..record.comparison import Comparison


class _Share:
    """Reports progress as the share of rounds that are done."""

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell

    def stage(
        self, text: str, total: float | None = None, *, ticking: bool = True, expected_s: float | None = None
    ) -> None:
        """Ignore the stage."""

    def advance(self, done: float, total: float | None = None) -> None:
        """Report the share that is done."""
        self._tell(min(done / total, 1.0) if total else 0.0)


class Remeasure:
    """Takes new samples of the candidates of a record; the first calls stay those of the record.

    It refers to the functions that it calls, so it is not pickled with the record. A copy of the record shares it.

    Args:
        measure: measures the candidates according to a plan.
        before: the record.
        plan: the plan by which the record was measured.
        seed: the seed of the order within its rounds.
    """

    def __init__(self, measure: Callable[..., Comparison], before: Comparison, plan: Plan, seed: int) -> None:
        self._measure = measure
        self._before = before.without_values()
        self._plan = plan
        self._seed = seed

    def __call__(self, budget_s: float, tell: Callable[[float], None] | None = None) -> Comparison:
        """Measure again.

        Args:
            budget_s: how long, in seconds.
            tell: receives the share of the rounds that are done.

        Raises:
            ValueError: the budget is not positive.
        """
        if not 0 < budget_s < float("inf"):
            raise ValueError(
                f"budget_s: expected a positive number of seconds, got {budget_s!r}. Write for example budget_s=1.0"
            )
        self._seed += 1
        comparison = self._measure(
            self._plan._replace(budget_ns=max(round(budget_s * 1e9), 1), samples=None),
            baseline=self._before.baseline,
            code=self._before.code,
            progress=SILENT if tell is None else _Share(tell),
            seed=self._seed,
        )
        candidates = tuple(map(self._with_first_call, comparison.candidates))
        return replace(comparison, candidates=candidates, measure_again=self)

    def _with_first_call(self, new: Candidate) -> Candidate:
        """Restore a candidate's first call, unless it compiled again: then its names refer to something else now."""
        if new.first_call.compilations:
            return new
        old = self._before.candidate(new.label)
        return replace(new, first_call=old.first_call)

    def __deepcopy__(self, memo: object) -> Remeasure:
        return self

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _nothing, ()


def _nothing() -> None:
    """Return ``None``, which stands for a :class:`Remeasure` in a pickle."""
