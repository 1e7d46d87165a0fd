"""Declares the record of candidates that were measured side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

from ...benchmarking.record.samples import StoppedBy, Trial
from ...benchmarking.record.versus import Versus
from ...compilation.record.compilation import Compilation
from ...records.environment import Environment
from ...records.finding import Finding
from ...records.names import offered
from ...session.record import Record
from ...statistics.estimate import Estimate
from ...terminal import printable
from ...tracebacks import of_the_user
from .candidate import Candidate


class MeasureAgain(Protocol):
    """Measures the candidates of a comparison again."""

    def __call__(self, budget_s: float, tell: Callable[[float], None] | None = None) -> Comparison:
        """Return a new record with new samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Record):
    """Candidates that were measured in turns, in shuffled rounds.

    Attributes:
        code: the source of the cell; ``None`` if there was none.
        started_at: when, in ISO 8601 with the time zone.
        baseline: the label of the candidate that the others are compared with.
        candidates: the candidates in the given order; each has one sample per round.
        twice: the label of the candidate that was measured twice in each round: the baseline at that time.
        again: its second samples. The differences from its first samples show the noise.
        rtol: the target width of the intervals of the ratios, as a share of them to either side.
        budget_ns: how long sampling was allowed to take.
        stopped_by: what ended sampling: ``precision`` or ``budget``; ``count`` if the number of rounds was given,
            ``interrupt`` if the user ended it, ``error`` if a later call raised.
        environment: the environment in which this was measured.
        error: the type of the exception by which a later call ended the rounds; ``None`` if there was none.
        values: the values that the candidates returned, by label. They are not saved, and not kept by the history.
        measure_again: takes new samples of the same candidates, for a budget in seconds. A function that it is given
            receives the share of the rounds that are done. First calls stay those of this record. ``None`` for a
            record that was loaded from a file or comes from the history.
    """

    _derived: ClassVar[tuple[str, ...]] = ("verdicts",)

    code: str | None
    started_at: str
    baseline: str
    candidates: tuple[Candidate, ...]
    twice: str
    again: Trial
    rtol: float
    budget_ns: int
    stopped_by: StoppedBy
    environment: Environment
    error: str | None = None
    values: dict[str, Any] = field(default_factory=dict, repr=False, compare=False, metadata={"saved": False})
    measure_again: MeasureAgain | None = field(default=None, repr=False, compare=False, metadata={"saved": False})

    def __post_init__(self) -> None:
        labels = [each.label for each in self.candidates]
        if len(set(labels)) < len(labels):
            raise ValueError(f"labels: expected distinct labels, got {printable(', '.join(labels))}")
        for name in ("baseline", "twice"):
            if getattr(self, name) not in labels:
                raise ValueError(
                    f"{name}: there is no candidate {getattr(self, name)!r}, only {printable(', '.join(labels))}"
                )
        counts = {len(each.latency.samples_ns) for each in self.candidates} | {len(self.again.samples_ns)}
        if len(counts) > 1 or 0 in counts:
            raise ValueError(f"expected one sample per candidate and round, got {sorted(counts)} samples")

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """All compilations in the first calls."""
        return tuple(one for each in self.candidates for one in each.first_call.compilations)

    @of_the_user
    def __getitem__(self, label: str) -> Versus:
        """Return the comparison of a candidate with the baseline.

        Raises:
            KeyError: there is no such candidate.
        """
        from .verdict import versus

        return versus(self, self.candidate(label))

    def __iter__(self) -> Iterator[str]:
        return iter([each.label for each in self.candidates])

    def __len__(self) -> int:
        return len(self.candidates)

    @of_the_user
    def candidate(self, label: str) -> Candidate:
        """Return a candidate by its label.

        Raises:
            KeyError: there is no such candidate.
        """
        for each in self.candidates:
            if each.label == label:
                return each
        raise KeyError(f"expected one of the candidates {printable(offered(self))}, got {label!r}")

    @property
    def verdicts(self) -> dict[str, Versus]:
        """The comparison of each candidate with the baseline, by label."""
        return {label: self[label] for label in self}

    @property
    def noise(self) -> Estimate | None:
        """The ratio of the two times of one candidate in the same rounds; ``None`` for fewer than six rounds."""
        from .verdict import noise

        return noise(self)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Problems that make the ratios less reliable than they look: what, why, and what to do about it."""
        from .verdict import findings

        return findings(self)

    def without_values(self) -> Comparison:
        """Return the same record without values, so that it keeps no array alive."""
        return replace(self, values={}, measure_again=None)
