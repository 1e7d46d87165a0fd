"""Compares a record with an earlier one: is it slower now, and can the two be compared at all?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from ..errors import NotComparable, NotMeasured
from ..records.environment import Environment, differing
from ..records.other_load import load_in_words, slowed_apart
from ..statistics.medians import median
from ..subjects import of_record
from .record.benchmark import Benchmark
from .record.inputs import Input, InputChange
from .record.launches import ENOUGH, compare_sides, noise_sd, smallest_ratio
from .record.process_noise import Basis, NoiseSource, ProcessNoise
from .record.processes import side_of
from .record.samples import Conditions, Trial
from .record.versus import Versus, judge

#: Compares two records of one kind, given the noise between processes where it is known.
Comparer = Callable[[Any, Any, ProcessNoise | None], list[Versus]]


def needs_noise(old: Any, new: Any) -> bool:
    """Return whether a verdict on two records needs this machine's noise between processes.

    Benchmarks over three or more processes each show their own noise and do not need it. Where a record has too few
    samples, there is no verdict.
    """
    show_their_own = all(isinstance(each, Benchmark) and len(each.launches) >= ENOUGH for each in (old, new))
    sides = (old, new), (new, old)
    return not show_their_own and not any(has_too_few_samples(each, _processes(other)) for each, other in sides)


def against(
    old: Benchmark, new: Benchmark, *, anyway: bool = False, process_noise: ProcessNoise | None = None
) -> Versus:
    """Compare a benchmark with an earlier one of the same code.

    Each process is one observation, because no interval within a process shows how processes differ. So the interval
    of the ratio rests on the processes of both records. Where they are too few, it rests on the noise between
    processes that is known or assumed for this machine.

    Args:
        old: the earlier record.
        new: the later one.
        anyway: compare although they were measured in different environments.
        process_noise: how much medians differ from process to process on this machine; 2 % is assumed if left out.

    Raises:
        NotComparable: the environments differ; the message names the fields.
        NotMeasured: one of them has too few samples for an interval.
    """
    (versus,) = against_record(old, new, anyway=anyway, process_noise=process_noise)
    return versus


def against_record(
    old: Any, new: Any, *, anyway: bool = False, process_noise: ProcessNoise | None = None
) -> list[Versus]:
    """Compare a record with an earlier one of its kind.

    Comparisons are compared label by label, and sweeps for every candidate at every point that is in both. A ratio is
    ``None`` where there are too few samples for an interval. A comparison or a sweep counts as one process.

    Raises:
        TypeError: the two records are of different kinds.
        NotComparable: the environments differ, or no candidate is in both records.
        NotMeasured: no ratio has enough samples for an interval.
    """
    compare = _comparer(old)
    if compare is None or type(new) is not type(old):
        kinds = f"{type(old).__name__} and {type(new).__name__}"
        raise TypeError(f"expected two records of the same kind, got {kinds}. Measure both with the same function")
    changed = differing(old.environment, new.environment)
    marks = _marks(changed)
    if marks and not anyway:
        raise not_comparable(changed)
    compared = compare(old, new, process_noise)
    if _none_has_ratio(compared):
        sides = ("earlier", old, new), ("later", new, old)
        few = [each for each in sides if has_too_few_samples(each[1], _processes(each[2]))]
        if len(few) != 1:
            raise _too_few_samples("Each of the two records" if few else "One of the records", None, 1)
        name, record, other = few[0]
        raise _too_few_samples(f"The {name} record", record, _processes(other))
    return [replace(each, differing=marks) for each in compared]


def require_enough_samples(record: Any, named: str, processes: int) -> None:
    """Check that a record has enough samples to be compared with one of so many processes.

    Args:
        record: the record.
        named: how a sentence that begins with it names it.
        processes: the number of processes of the other record.

    Raises:
        NotMeasured: it has not.
    """
    if has_too_few_samples(record, processes):
        raise _too_few_samples(named, record, processes)


def has_too_few_samples(record: Any, processes: int) -> bool:
    """Return whether a record has too few samples to be compared with one of so many processes.

    With three or more processes on both sides, medians alone show the noise. Otherwise each process has to show its
    own, which takes four samples.
    """
    if isinstance(record, Benchmark) and min(_processes(record), processes) < ENOUGH:
        side = side_of(record.trials)
        return side is None or None in side.errors
    compare = _comparer(record)
    return compare is not None and _none_has_ratio(compare(record, record, None))


def _too_few_samples(named: str, record: Any, processes: int) -> NotMeasured:
    """Return the error for a record with too few samples beside one of so many processes."""
    again = "again with more time (--budget, budget_s) or a given number of samples (-r)"
    if _processes(record) >= ENOUGH > processes:
        return NotMeasured(
            f"{named} has fewer than four samples per process, which is too few beside a record of fewer than "
            f"three processes. Measure the other one with --processes {_processes(record)} (processes="
            f"{_processes(record)}) as well, or this one {again}."
        )
    return NotMeasured(
        f"{named} has fewer than four samples or rounds per process, which is too few for an interval. "
        f"Measure it {again}."
    )


def _processes(record: Any) -> int:
    """Return the number of processes of a record; other records than benchmarks are from one."""
    return len(record.trials) if isinstance(record, Benchmark) else 1


def _comparer(record: Any) -> Comparer | None:
    """Return how records of this kind are compared; ``None`` if they are not."""
    compare: Comparer | None = of_record(type(record), "analysis", "COMPARERS")
    return compare


def not_comparable(changed: Mapping[str, tuple[object, object]]) -> NotComparable:
    """Return the error for records whose environments differ in some fields."""
    return NotComparable(
        f"The records are from different environments: {'; '.join(_marks(changed))}. Measure again in one "
        "environment, or compare them anyway (anyway=True, --anyway)."
    )


def _marks(changed: Mapping[str, tuple[object, object]]) -> tuple[str, ...]:
    return tuple(f"{name} was {before!r} and is {now!r}" for name, (before, now) in changed.items())


def _none_has_ratio(compared: Sequence[Versus]) -> bool:
    return all(each.ratio is None for each in compared)


def first_difference(old: str | None, new: str | None) -> tuple[str, str] | None:
    """Return the first lines in which two pieces of code differ, besides indents and blank lines.

    >>> first_difference("f(x)", "f(x);"), first_difference("f(x)", "g(x)")
    (None, ('f(x)', 'g(x)'))
    """
    if old is None or new is None:
        return None
    before, now = (
        [line.strip().removesuffix(";") for line in code.splitlines() if line.strip()] for code in (old, new)
    )
    return next(((one, other) for one, other in zip_longest(before, now, fillvalue="") if one != other), None)


def input_changes(old: Sequence[Input] | None, new: Sequence[Input] | None) -> tuple[InputChange, ...] | None:
    """Return the inputs that differ between two records; ``None`` if only one of them lists its inputs.

    An input that only one of them reads belongs to code that has changed. But arrays that have another name and
    another type count as changed if both records have equally many.

    >>> x = Input(path="x", kind="array", words="f32[3]")
    >>> input_changes([x], [replace(x, words="f32[4]")])
    (InputChange(path='x', before='f32[3]', now='f32[4]'),)
    >>> input_changes([x], [replace(x, path="y", words="f32[4]")])
    (InputChange(path='x (now y)', before='f32[3]', now='f32[4]'),)
    """
    if old is None or new is None:
        return () if old is new else None
    before, now = ({each.path: each for each in side} for side in (old, new))
    both = [(each, now[each.path]) for each in old if each.path in now]
    gone, added = (
        [each for each in side if each.path not in other and each.kind == "array" and each.path.isidentifier()]
        for side, other in ((old, now), (new, before))
    )
    if len(gone) == len(added) and sorted(each.words for each in gone) != sorted(each.words for each in added):
        both += zip(gone, added, strict=True)
    return tuple(
        InputChange(_named(one, other), one.words, other.words) for one, other in both if one.words != other.words
    )


def _named(old: Input, new: Input) -> str:
    return old.path if old.path == new.path else f"{old.path} (now {new.path})"


def _one_by_one(old: Benchmark, new: Benchmark, noise: ProcessNoise | None) -> list[Versus]:
    compared = compare_trials(old.trials, new.trials, "new", "old", noise)
    changed = input_changes(old.inputs, new.inputs)
    compared = replace(compared, code=first_difference(old.code, new.code), inputs=changed)
    return [with_loads(compared, (old.environment, old.conditions), (new.environment, new.conditions))]


def with_loads(versus: Versus, *sides: tuple[Environment, Conditions]) -> Versus:
    """Return a comparison whose basis has the load of other processes beside the earlier and the later record.

    Its interval is as much wider as other processes may have slowed one of the two more than the other.
    """
    if versus.basis is None or versus.ratio is None:
        return versus
    old, new = (load_in_words(conditions.other_load, environment) for environment, conditions in sides)
    loads = ((conditions.other_load, environment.cpu_count or 1) for environment, conditions in sides)
    apart = slowed_apart(*loads)
    ratio = replace(versus.ratio, low=versus.ratio.low / max(apart, 1.0), high=versus.ratio.high / min(apart, 1.0))
    smallest = versus.basis.smallest_ratio
    shown = smallest if smallest is None or apart == 1 else smallest * max(apart, 1 / apart)
    basis = replace(versus.basis, old_load=old, new_load=new, smallest_ratio=shown)
    return replace(versus, basis=basis, ratio=ratio, verdict=judge(ratio))


def compare_trials(
    old: Sequence[Trial], new: Sequence[Trial], label: str, baseline: str, noise: ProcessNoise | None
) -> Versus:
    """Compare the processes of two records, given one trial per process."""
    sides = side_of(old), side_of(new)
    call_ns = median([median(trial.calls_ns) for trial in (*old, *new)])
    compared = None
    if sides[0] is not None and sides[1] is not None:
        compared = compare_sides(sides[0], sides[1], noise_sd(noise, call_ns))
    basis = None
    if compared is not None:
        known: NoiseSource = "measured" if noise is not None else "assumed"
        basis = Basis(
            old_processes=len(old),
            new_processes=len(new),
            between_sd=compared.between_sd,
            within_sd=compared.within_sd,
            source="records" if compared.is_shown else known,
            smallest_ratio=smallest_ratio(compared.design),
        )
    ratio = None if compared is None else compared.ratio
    return Versus(
        label=label,
        baseline=baseline,
        ratio=ratio,
        verdict=judge(ratio),
        break_even_calls=None,
        basis=basis,
    )


COMPARERS: dict[type, Comparer] = {Benchmark: _one_by_one}
