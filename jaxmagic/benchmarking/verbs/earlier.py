"""Compares a record with an earlier one, with the noise between processes that the verdict rests on."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import chain
from typing import Any

from ...progress.bar import shown_progress
from ...records.environment import differing
from ...records.storage import load
from ...runtime.environment import probe
from ...runtime.jax_version import require_jax
from ...terminal import printable
from ..analysis import against_record, has_too_few_samples, needs_noise, not_comparable, require_enough_samples
from ..record.benchmark import Benchmark
from ..record.launches import ENOUGH
from ..record.process_noise import ProcessNoise
from ..record.versus import Versus
from ..report.versus import about_all_earlier, about_basis, about_code, about_environments, about_inputs, about_load


def compare_records(
    old: Any, new: Any, *, anyway: bool = False, measure: bool = True, process_noise: ProcessNoise | None = None
) -> list[Versus]:
    """Compare a record with an earlier one of its kind: benchmarks, or comparisons and sweeps label by label.

    Args:
        old: the earlier record.
        new: the later one.
        anyway: compare although the records are from different environments.
        measure: measure the noise between processes of this machine, once per session, if a verdict needs it and
            both records are from this environment. Otherwise, if neither record contains it, 2 % is assumed.
        process_noise: that noise, if it is already known.

    Raises:
        TypeError: the two records are of different kinds.
        NotComparable: the environments differ, or no candidate is in both.
        NotMeasured: the records have too few samples to compare.
    """
    compared = against_record(old, new, anyway=anyway, process_noise=process_noise)
    if process_noise is not None or not needs_noise(old, new):
        return compared
    noise = noise_for(old, new, measure=measure)
    return compared if noise is None else against_record(old, new, anyway=anyway, process_noise=noise)


def noise_for(old: Any, new: Any, *, measure: bool = True) -> ProcessNoise | None:
    """Return the noise between processes that a verdict on two records needs.

    It comes from one of the records, or from this machine if both records are from this environment. ``None`` if it
    is not needed or unknown.
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
    """An earlier record from a file, to compare a new one with.

    Args:
        record: the earlier record.
        path: the path of its file, as the user wrote it.
        anyway: compare although the records are from different environments.

    Attributes:
        record: the earlier record.
    """

    def __init__(self, record: Any, path: str, *, anyway: bool) -> None:
        self.record = record
        self._path = path
        self._anyway = anyway
        self._noise: ProcessNoise | None = None

    def require_comparable(self, processes: int) -> None:
        """Check that a record of this environment can be compared with the earlier one, as far as it is known by now.

        Args:
            processes: the number of processes in which it will be measured.

        Raises:
            JaxNotAvailable: JAX is not installed or too old.
            NotComparable: the environments differ.
            NotMeasured: the earlier record has too few samples.
        """
        require_enough_samples(self.record, f"The record in {self._path}", processes)
        require_jax()
        now = probe()  # whose devices are unknown before a backend has started
        changed = differing(self.record.environment, now)
        known = {name: values for name, values in changed.items() if values[1] not in (None, ())}
        if known and not self._anyway:
            raise not_comparable(known)

    def complete(self, new: Any) -> Any:
        """Measure the noise between processes if needed, and return `new`; a benchmark contains it from then on.

        The noise is saved with the benchmark, so that another session need not measure it again.
        """
        self._noise = noise_for(self.record, new)
        return replace(new, process_noise=self._noise) if isinstance(new, Benchmark) and self._noise else new

    def told(self, new: Any) -> tuple[list[str], list[str]]:
        """Say how the new record compares with the earlier one and what that rests on, and what a busy machine adds.

        The first sentence is the answer.

        Raises:
            NotComparable: it is from another environment.
        """
        compared = compare_records(self.record, new, anyway=self._anyway, measure=False, process_noise=self._noise)
        verdicts = about_all_earlier(compared, new.code, self._path)
        where = f"in {self._path}"
        basis, advice = about_basis(compared)[:1], about_basis(compared)[1:]
        told = (
            verdicts[:1],
            about_inputs(compared, f" from those {where}"),
            verdicts[1:],
            about_environments(compared[0]),
            basis,
            about_code(compared, where),
            advice,
        )
        return [*chain(*told)], about_load(compared)


def about_saved(record: Any) -> list[str]:
    """Say what a saved record cannot be compared with, because it has too few samples."""
    if not has_too_few_samples(record, 1):
        return []
    if not has_too_few_samples(record, ENOUGH):
        return [
            "It has fewer than four samples per process: --against can only compare it with three processes or more "
            "(--processes 3)."
        ]
    return [
        "It has fewer than four samples or rounds, too few for --against: measure it again with more time (--budget) "
        "or a given number of samples (-r)."
    ]


def load_baseline(path: str | os.PathLike[str]) -> Any:
    """Read an earlier record to compare with.

    Raises:
        FileNotFoundError: there is no such file; the message says how to make it.
        OSError: the file cannot be read.
        RecordError: it is not a record.
    """
    try:
        return load(path)
    except FileNotFoundError as error:
        file = repr(os.fspath(path))
        write = f"Write jaxmagic.save(jaxmagic.benchmark(lambda: f(x)), {file}) to make it"
        raise FileNotFoundError(error.errno, printable(f"baseline: there is no file {file}. {write}")) from None
