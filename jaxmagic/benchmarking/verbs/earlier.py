"""A record beside an earlier one, with the noise between processes that the verdict rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...progress.bar import shown_progress
from ...records.environment import differing
from ..analysis import against_record, needs_noise
from ..record.benchmark import Benchmark
from ..record.process_noise import ProcessNoise
from ..record.versus import Versus
from ..report.versus import about_basis, about_earlier


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
    from ..capture.machine_noise import known_noise, machine_noise

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


class Earlier:
    """An earlier record from a file, which a new one is put beside.

    Args:
        record: the earlier one.
        path: of the file, as the user has named it.
        anyway: compare although the records are from different environments.
    """

    def __init__(self, record: Any, path: str, *, anyway: bool) -> None:
        self._record = record
        self._path = path
        self._anyway = anyway
        self._noise: ProcessNoise | None = None

    def complete(self, new: Any) -> Any:
        """Measure the noise between processes if that is needed; a benchmark carries it from then on.

        It is saved with it, so that another session need not measure it.
        """
        self._noise = noise_for(self._record, new)
        return replace(new, process_noise=self._noise) if isinstance(new, Benchmark) and self._noise else new

    def told(self, new: Any) -> list[str]:
        """Say what the new record is beside the earlier one, and what that rests on.

        Raises:
            NotComparable: it is from another environment.
        """
        found = put_beside(self._record, new, anyway=self._anyway, measure=False, process_noise=self._noise)
        told = [about_earlier(versus, self._path) for versus in found] + about_basis(found)
        if differing := found[0].differing:
            told.append(f"Compared although the environments differ: {'; '.join(differing)}.")
        return told
