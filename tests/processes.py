"""Fabricated records of several fresh processes, for the tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.processes import combined
from jaxmagic.benchmarking.record.samples import Trial


def scaled(benchmark: Benchmark, factor: float) -> Benchmark:
    """The same record with all of its samples so many times as long."""
    samples = tuple(round(factor * each) for each in benchmark.samples_ns)
    return replace(benchmark, latency=replace(benchmark.latency, samples_ns=samples))


def over_processes(benchmark: Benchmark, factors: Sequence[float]) -> Benchmark:
    """A record of a process for each factor, whose samples are so many times as long; pipelined calls, too."""
    records = []
    for factor in factors:
        one = scaled(benchmark, factor)
        if one.pipelined is not None:
            pipelined = tuple(round(factor * each) for each in one.pipelined.samples_ns)
            one = replace(one, pipelined=Trial(samples_ns=pipelined, evaluations=one.pipelined.evaluations))
        records.append(one)
    return combined(records)
