"""A comparison once more: with other samples, and what only first calls can tell as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...benchmarking.capture.plan import Plan
from ...progress.record import SILENT
from ..record.candidate import Candidate
from ..record.comparison import Comparison


class _Share:
    """Progress as the share of rounds that are done."""

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell

    def stage(
        self, text: str, total: float | None = None, *, ticking: bool = True, expected_s: float | None = None
    ) -> None:
        """Begin something else, of which nobody is told."""

    def advance(self, done: float, total: float | None = None) -> None:
        """Tell how much of it is done."""
        self._tell(min(done / total, 1.0) if total else 0.0)


class Remeasure:
    """Takes new samples of the candidates of a record; what its first calls told stays.

    It holds what it calls, so it goes no further than the record: a copy of the record shares it, and a pickled one
    has none.

    Args:
        measure: measures the candidates, for a plan.
        before: the record.
        plan: how it was measured.
        seed: of the order within its rounds.
    """

    def __init__(self, measure: Callable[..., Comparison], before: Comparison, plan: Plan, seed: int) -> None:
        self._measure = measure
        self._before = before.without_values()
        self._plan = plan
        self._seed = seed

    def __call__(self, budget_s: float, tell: Callable[[float], None] | None = None) -> Comparison:
        """Measure once more.

        Args:
            budget_s: how long, in seconds.
            tell: told which share of that is spent.

        Raises:
            ValueError: the budget is not positive.
        """
        if not 0 < budget_s < float("inf"):
            raise ValueError(f"budget_s: expected a positive number of seconds, got {budget_s!r}")
        self._seed += 1
        found = self._measure(
            self._plan._replace(budget_ns=max(round(budget_s * 1e9), 1), samples=None),
            baseline=self._before.baseline,
            code=self._before.code,
            progress=SILENT if tell is None else _Share(tell),
            seed=self._seed,
        )
        return replace(found, candidates=tuple(map(self._with_first_call, found.candidates)), measure_again=self)

    def _with_first_call(self, new: Candidate) -> Candidate:
        """A candidate with its true first call, unless its names mean something else by now: it compiled again."""
        if new.first_call.compilations:
            return new
        old = self._before.candidate(new.label)
        return replace(new, first_call=old.first_call)

    def __deepcopy__(self, memo: object) -> Remeasure:
        return self

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _nothing, ()


def _nothing() -> None:
    """Return what is left of :class:`Remeasure` in a pickle."""
