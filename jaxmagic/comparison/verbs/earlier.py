"""A record beside an earlier one, with the noise between processes that the verdict rests on."""

from __future__ import annotations

from typing import Any

from ...benchmarking.record.benchmark import Benchmark
from ...benchmarking.record.process_noise import ProcessNoise
from ...benchmarking.record.versus import Versus
from ...progress.bar import shown_progress
from ...records.environment import differing
from ..analysis.regression import against_record, needs_noise


def put_beside(
    old: Any, new: Any, *, anyway: bool = False, measure: bool = True, process_noise: ProcessNoise | None = None
) -> list[Versus]:
    """A record beside an earlier one of its kind; benchmarks, or comparisons and sweeps label by label.

    Args:
        old: the earlier record.
        new: the later one.
        anyway: compare although the records are from different environments.
        measure: measure the noise between processes of this machine, once in a session, where a verdict takes it and
            both records are from this environment. If not, and where no record has it, 2 % is assumed.
        process_noise: that noise, where it is known already.

    Raises:
        TypeError: the two are not of one kind.
        NotComparable: the environments differ, or no candidate is in both.
        NotMeasured: the records have too few samples to compare.
    """
    found = against_record(old, new, anyway=anyway, process_noise=process_noise)
    if process_noise is not None or not needs_noise(old, new):
        return found
    noise = noise_for(old, new, measure=measure)
    return found if noise is None else against_record(old, new, anyway=anyway, process_noise=noise)


def noise_for(old: Any, new: Any, *, measure: bool = True) -> ProcessNoise | None:
    """The noise between processes that a verdict on two records takes.

    That which one of them carries; else that of this machine, if both are from this environment. ``None`` where it
    is not needed or not known.
    """
    from ...benchmarking.capture.machine_noise import known_noise, machine_noise

    if not needs_noise(old, new) or differing(old.environment, new.environment):
        return None
    carried = [each.process_noise for each in (new, old) if isinstance(each, Benchmark) and each.process_noise]
    if carried:
        return carried[0]
    environments = old.environment, new.environment
    if not measure:
        return known_noise(environments)
    with shown_progress() as progress:
        return machine_noise(environments, progress)
