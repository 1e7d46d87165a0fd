"""Measures once how much the same programs differ from process to process on this machine.

A verdict on two records of one process each needs this noise, and the records themselves do not contain it. It is
measured with three small programs in five fresh processes, which takes about 15 s, and is kept for the session
together with the environment that the processes report. Nothing is written to disk.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from ...errors import JaxMagicError, JaxNotAvailable
from ...progress.record import SILENT, Progress
from ...records.environment import Environment, differing
from ...runtime.environment import probe
from ...runtime.jax_version import require_jax
from ..record.benchmark import Benchmark
from ..record.process_noise import ProcessNoise, ProgramNoise
from .launches import launch
from .plan import Plan
from .runner import runner_of
from .sampler import take_benchmark
from .sending import pack

#: The number of processes, and the time budget for each program in a process.
PROCESSES, _BUDGET_NS = 5, 300_000_000

#: Fields that are unknown before a backend has started.
_OF_DEVICES = frozenset(
    {"backend", "device_kinds", "device_count", "local_device_count", "process_count", "cpu_async_dispatch"}
)

#: The measurements of this session; ``None`` where one failed.
_measured: list[tuple[Environment, ProcessNoise | None]] = []


def machine_noise(environments: tuple[Environment, ...], progress: Progress = SILENT) -> ProcessNoise | None:
    """Return how much medians differ from process to process here; measure it if this session has not yet.

    Args:
        environments: the environments of the records to compare.
        progress: shows which process is running.

    Returns:
        ``None`` where one of the environments is not the current one, and where no fresh process can measure: for
        example on an accelerator that only one process can use at a time.
    """
    known = known_noise(environments)
    if known is not None or not all(_may_be_here(each) for each in environments):
        return known
    if any(_may_be_here(each) for each, _ in _measured):
        return None
    try:
        environment, noise = measure_noise(progress)
    except JaxMagicError:
        _measured.append((probe(), None))
        return None
    _measured.append((environment, noise))
    return known_noise(environments)


def known_noise(environments: tuple[Environment, ...]) -> ProcessNoise | None:
    """Return the noise for these environments if this session has already measured it."""
    for environment, noise in _measured:
        if not any(differing(environment, each) for each in environments):
            return noise
    return None


def measure_noise(progress: Progress = SILENT) -> tuple[Environment, ProcessNoise]:
    """Measure the programs in fresh processes, and return their environment and the noise.

    Raises:
        LaunchError: a process failed.
    """
    progress.stage("noise between processes", PROCESSES)
    nothing, records = pack(None, {}), []
    for number in range(PROCESSES):
        progress.advance(number, PROCESSES)
        records.append(launch(measure_programs, nothing, f"process {number + 1} of {PROCESSES}"))
    progress.advance(PROCESSES, PROCESSES)
    return records[0][0].environment, noise_of(records)


def noise_of(processes: list[tuple[Benchmark, ...]]) -> ProcessNoise:
    """Compute the noise of each program, from the records of all programs in each process."""
    logs = np.array([[log(max(each.median_ns, 1.0)) for each in process] for process in processes])
    programs = tuple(
        ProgramNoise(call_ns=float(np.exp(np.mean(medians))), sd=sqrt(float(np.var(medians, ddof=1))))
        for medians in logs.T
    )
    return ProcessNoise(programs=programs, processes=len(processes))


def measure_programs(_: None) -> tuple[Benchmark, ...]:
    """Measure a matrix product, a sort and an addition to eight numbers, in the fresh process."""
    import jax
    import jax.numpy as jnp

    square, few = jax.random.uniform(jax.random.key(0), (300, 300)), jnp.ones(8)
    programs = (
        (jax.jit(lambda x: jnp.tanh(x @ x)), square),
        (jax.jit(lambda x: jnp.sort(x)), square),
        (jax.jit(lambda x: x + 1), few),
    )
    plan = Plan(budget_ns=_BUDGET_NS)
    return tuple(take_benchmark(runner_of(fn, (x,), {}), plan).without_values() for fn, x in programs)


def _may_be_here(environment: Environment) -> bool:
    """Return whether an environment may be the current one.

    Devices are not compared before a backend has started, because they are unknown until then.
    """
    try:
        require_jax()
    except JaxNotAvailable:
        return False
    here = probe()
    changed = set(differing(here, environment))
    return not (changed if here.backend is not None else changed - _OF_DEVICES)
