"""Measure once how much the same programs differ from process to process on this machine.

A record of one process says nothing about that, and a verdict on two such records takes it. It is measured with three
small programs in five fresh processes, which takes some 15 s, and is kept for the session under the environment that
the processes report. Nothing is written to disk.
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

#: In so many processes, with so much time for each program.
PROCESSES, _BUDGET_NS = 5, 300_000_000

#: What is known before a backend has started.
_OF_DEVICES = frozenset(
    {"backend", "device_kinds", "device_count", "local_device_count", "process_count", "cpu_async_dispatch"}
)

#: What has been measured in this session; ``None`` where it failed.
_measured: list[tuple[Environment, ProcessNoise | None]] = []


def machine_noise(environments: tuple[Environment, ...], progress: Progress = SILENT) -> ProcessNoise | None:
    """Tell how much medians differ from process to process here, measured where it was not in this session.

    Args:
        environments: those of the records that it is for.
        progress: is told which process runs.

    Returns:
        ``None`` where one of the environments is another one than here, and where no fresh process can measure:
        an accelerator that one process has to itself, for example.
    """
    known = known_noise(environments)
    if known is not None or not all(_may_be_here(each) for each in environments):
        return known
    if any(_may_be_here(each) for each, _ in _measured):
        return None
    try:
        environment, found = measure_noise(progress)
    except JaxMagicError:
        _measured.append((probe(), None))
        return None
    _measured.append((environment, found))
    return known_noise(environments)


def known_noise(environments: tuple[Environment, ...]) -> ProcessNoise | None:
    """The noise of these environments if this session has measured it already."""
    for environment, found in _measured:
        if not any(differing(environment, each) for each in environments):
            return found
    return None


def measure_noise(progress: Progress = SILENT) -> tuple[Environment, ProcessNoise]:
    """Measure the programs in fresh processes, and give their environment with what was found.

    Raises:
        LaunchError: a process failed.
    """
    progress.stage("noise between processes", PROCESSES)
    nothing, found = pack(None, {}), []
    for number in range(PROCESSES):
        progress.advance(number, PROCESSES)
        found.append(launch(measure_programs, nothing, f"process {number + 1} of {PROCESSES}"))
    progress.advance(PROCESSES, PROCESSES)
    return found[0][0].environment, noise_of(found)


def noise_of(processes: list[tuple[Benchmark, ...]]) -> ProcessNoise:
    """The noise of each program, from the records of all programs in each process."""
    logs = np.array([[log(max(each.median_ns, 1.0)) for each in process] for process in processes])
    programs = tuple(
        ProgramNoise(call_ns=float(np.exp(np.mean(medians))), sd=sqrt(float(np.var(medians, ddof=1))))
        for medians in logs.T
    )
    return ProcessNoise(programs=programs, processes=len(processes))


def measure_programs(_: None) -> tuple[Benchmark, ...]:
    """Measure a product, a sort and a sum of eight numbers, in the fresh process."""
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
    """Tell whether an environment is the one here, as far as is known.

    Devices are not before a backend has started.
    """
    try:
        require_jax()
    except JaxNotAvailable:
        return False
    here = probe()
    changed = set(differing(here, environment))
    return not (changed if here.backend is not None else changed - _OF_DEVICES)
