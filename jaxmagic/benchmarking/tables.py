"""Benchmarks and their samples as tables."""

from __future__ import annotations

from collections.abc import Iterable

from ..compilation.tables import compilations
from ..report.table import MOMENT, Table
from .record.benchmark import Benchmark

_BENCHMARK = {
    "started_at": MOMENT,
    "code": "string",
    "median_ns": "Float64",
    "interval_low_ns": "Float64",
    "interval_high_ns": "Float64",
    "pipelined_ns": "Float64",
    "device_ns": "Float64",
    "first_call_ns": "Int64",
    "compile_ns": "Int64",
    "samples": "int64",
    "evaluations": "int64",
    "stopped_by": "string",
    "warnings": "string",
    "backend": "string",
    "jax": "string",
}

_TIMES = {"evaluations": "int64", "sample_ns": "int64", "call_ns": "float64"}


def benchmarks(records: Iterable[Benchmark]) -> Table:
    """Tabulate benchmarks, one row each."""
    rows = [
        (
            *(each.started_at, each.code, each.median_ns, *(each.interval_ns or (None, None)), each.pipelined_ns),
            *(None if each.device is None else each.device.call_ns, each.first_call.wall_ns),
            *(each.first_call.compile_ns, len(each.samples_ns), each.latency.evaluations, each.stopped_by),
            *(", ".join(warning.kind for warning in each.warnings), each.environment.backend, each.environment.jax),
        )
        for each in records
    ]
    return Table(_BENCHMARK, rows)


def samples(record: Benchmark) -> Table:
    """Tabulate the samples in the order in which they were taken, with the process number if there are several."""
    if record.launches:
        return _samples_of_processes(record)
    rows = [("warm-up", index, 1, each, each / 1) for index, each in enumerate(record.warmup_ns)]
    for kind, trial in (("latency", record.latency), ("pipelined", record.pipelined)):
        if trial is not None:
            times = zip(trial.samples_ns, trial.calls_ns, strict=True)
            rows += [(kind, index, trial.evaluations, *each) for index, each in enumerate(times)]
    return Table({"kind": "category", "sample": "int64"} | _TIMES, rows)


def _samples_of_processes(record: Benchmark) -> Table:
    rows = [
        (kind, process, index, trial.evaluations, *each)
        for process, (launch, latency) in enumerate(zip(record.launches, record.trials, strict=True), 1)
        for kind, trial in (("latency", latency), ("pipelined", launch.pipelined))
        if trial is not None
        for index, each in enumerate(zip(trial.samples_ns, trial.calls_ns, strict=True))
    ]
    return Table({"kind": "category", "process": "int64", "sample": "int64"} | _TIMES, rows)


TABLES = {
    Benchmark: {
        "samples": samples,
        "benchmarks": lambda record: benchmarks([record]),
        "compilations": lambda record: compilations([record]),
    }
}
