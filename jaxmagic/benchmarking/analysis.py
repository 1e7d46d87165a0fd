"""A record beside an earlier one: is it slower now, and may the two be compared at all?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..errors import NotComparable, NotMeasured
from ..records.environment import differing
from ..statistics.medians import median
from ..subjects import of_record
from .record.benchmark import Benchmark
from .record.launches import ENOUGH, compare_sides, judge_records, noise_sd, smallest_ratio
from .record.process_noise import Basis, NoiseSource, ProcessNoise
from .record.processes import side_of
from .record.samples import Trial
from .record.versus import Versus

#: Puts two records of one kind side by side, with the noise between processes where that is known.
PutBeside = Callable[[Any, Any, ProcessNoise | None], list[Versus]]


def needs_noise(old: Any, new: Any) -> bool:
    """Tell whether a verdict on two records takes the noise between processes of this machine.

    Not where both are benchmarks over three processes or more, which show their own.
    """
    records = (old, new)
    return not all(isinstance(each, Benchmark) and len(each.launches) >= ENOUGH for each in records)


def against(
    old: Benchmark, new: Benchmark, *, anyway: bool = False, process_noise: ProcessNoise | None = None
) -> Versus:
    """A benchmark beside an earlier one of the same.

    Each process is one observation, because what differs from process to process is in no interval within one. So
    the interval of the ratio rests on the processes of both records, or on what is known or assumed of this machine
    where they are too few.

    Args:
        old: the earlier record.
        new: the later one.
        anyway: compare although they were measured in different environments.
        process_noise: how much medians differ from process to process on this machine; 2 % is assumed if left out.

    Raises:
        NotComparable: they were; the message names the fields.
        NotMeasured: one of them has too few samples for an interval.
    """
    (found,) = against_record(old, new, anyway=anyway, process_noise=process_noise)
    return found


def against_record(
    old: Any, new: Any, *, anyway: bool = False, process_noise: ProcessNoise | None = None
) -> list[Versus]:
    """A record beside an earlier one of its kind: a benchmark, or the candidates of a comparison by their labels.

    Of sweeps every candidate at every point that is in both. Where one has too few samples for an interval, its ratio
    is ``None``. A comparison or a sweep is measured in one process.

    Raises:
        TypeError: the two are not of one kind.
        NotComparable: the environments differ, or no candidate is in both.
        NotMeasured: all of them have too few samples for an interval.
    """
    put_beside: PutBeside | None = of_record(type(old), "analysis", "BESIDE")
    if put_beside is None or type(new) is not type(old):
        raise TypeError(f"expected two records of one kind, got {type(old).__name__} and {type(new).__name__}")
    changed = differing(old.environment, new.environment)
    marks = tuple(f"{name} was {before!r} and is {now!r}" for name, (before, now) in changed.items())
    if marks and not anyway:
        raise NotComparable(
            f"The records are from different environments: {'; '.join(marks)}. Measure again in one environment, or "
            "compare them anyway (anyway=True, --anyway)."
        )
    found = put_beside(old, new, process_noise)
    if all(each.ratio is None for each in found):
        raise NotMeasured(
            "One of the records has fewer than four samples or rounds in a process: too few for an interval to "
            "compare. Measure it again with more time (--budget, budget_s) or a number of samples (-r)."
        )
    return [replace(each, differing=marks) for each in found]


def _one_by_one(old: Benchmark, new: Benchmark, noise: ProcessNoise | None) -> list[Versus]:
    return [beside(old.trials, new.trials, "new", "old", noise)]


def beside(
    old: Sequence[Trial], new: Sequence[Trial], label: str, baseline: str, noise: ProcessNoise | None
) -> Versus:
    """Compare the processes of two records, one trial each."""
    sides = side_of(old), side_of(new)
    call_ns = median([median(trial.calls_ns) for trial in (*old, *new)])
    found = None
    if sides[0] is not None and sides[1] is not None:
        found = compare_sides(sides[0], sides[1], noise_sd(noise, call_ns))
    basis = None
    if found is not None:
        known: NoiseSource = "measured" if noise is not None else "assumed"
        basis = Basis(
            old_processes=len(old),
            new_processes=len(new),
            between_sd=found.between_sd,
            within_sd=found.within_sd,
            source="records" if found.is_shown else known,
            smallest_ratio=smallest_ratio(found.design),
        )
    ratio = None if found is None else found.ratio
    return Versus(
        label=label,
        baseline=baseline,
        ratio=ratio,
        verdict=judge_records(ratio),
        break_even_calls=None,
        basis=basis,
    )


BESIDE: dict[type, PutBeside] = {Benchmark: _one_by_one}
