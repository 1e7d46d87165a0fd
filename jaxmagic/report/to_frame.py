"""Records as pandas frames: one row a record, the unit in each column's name. The only file that says pandas."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import singledispatch
from typing import Any

import pandas as pd

from ..benchmarking.record.benchmark import Benchmark
from ..comparison.record.comparison import Comparison
from ..comparison.record.scaling import time_of
from ..comparison.record.sweep import Sweep, Variable
from ..compilation.record.compilation import Cause, Compilation
from ..memory_use import tables as memory_frames
from ..memory_use.record.heap import HeapDifference, HeapProfile
from ..memory_use.record.live_arrays import LiveArrays
from ..memory_use.record.memory_profile import Executable, MemoryProfile
from ..profiling import tables as profile_frames
from ..profiling.record.profile import Profile
from ..records.environment import Environment
from ..session.history import History
from ..session.kinds import Record
from ..statistics.medians import median
from ..timing.record import Timing

_TIMING_COLUMNS = (
    "started_at",
    "code",
    "wall_ns",
    "dispatch_ns",
    "wait_ns",
    "code_wait_ns",
    "unreached_ns",
    "host_ns",
    "compile_ns",
    "tracing_ns",
    "lowering_ns",
    "compilation_ns",
    "cache_retrieval_ns",
    "cpu_user_ns",
    "cpu_system_ns",
    "fetch_ns",
    "fetch_bytes",
    "error",
)

_BENCHMARK_COLUMNS = [
    "started_at",
    "code",
    "median_ns",
    "interval_low_ns",
    "interval_high_ns",
    "pipelined_ns",
    "device_ns",
    "first_call_ns",
    "compile_ns",
    "samples",
    "evaluations",
    "stopped_by",
    "warnings",
    "backend",
    "jax",
]

#: What the peak of a candidate is made of.
_MEMORY = ("argument_bytes", "output_bytes", "temporary_bytes", "alias_bytes")

_CANDIDATE_KINDS: dict[str, Any] = {
    "median_ns": "Float64",
    "interval_low_ns": "Float64",
    "interval_high_ns": "Float64",
    "ratio": "Float64",
    "ratio_low": "Float64",
    "ratio_high": "Float64",
    "break_even_calls": "Int64",
    "break_even_calls_low": "Int64",
    "break_even_calls_high": "Int64",
    "pipelined_ns": "Float64",
    "first_call_ns": "Int64",
    "compile_ns": "Int64",
    "memory_bytes": "Int64",
    **dict.fromkeys(_MEMORY, "Int64"),
    "work": "Float64",
    "work_per_s": "Float64",
    "work_per_s_low": "Float64",
    "work_per_s_high": "Float64",
    "same_output": "boolean",
}

_COMPILATION_COLUMNS = [
    "record",
    "function",
    "location",
    "tracing_ns",
    "lowering_ns",
    "compilation_ns",
    "cache_retrieval_ns",
    "total_ns",
    "cache",
    "saved_ns",
    "cause",
    "reason",
    "remedy",
    "thread",
    "eager",
]


@singledispatch
def to_frame(record: object, of: str | None = None) -> pd.DataFrame:
    """`record` as a frame; what was not measured is ``<NA>``, never 0.

    Args:
        record: a record or the history.
        of: which rows; the first of those that the record has if left out.
    """
    raise TypeError(f"to_frame(): expected a record, got {type(record).__name__}")


@to_frame.register
def _(record: Timing, of: str | None = None) -> pd.DataFrame:
    return _choose(of, timings=lambda: _timings([record]), compilations=lambda: _compilations([record]))


@to_frame.register
def _(record: Benchmark, of: str | None = None) -> pd.DataFrame:
    return _choose(
        of,
        samples=lambda: _samples(record),
        benchmarks=lambda: _benchmarks([record]),
        compilations=lambda: _compilations([record]),
    )


@to_frame.register
def _(record: Comparison, of: str | None = None) -> pd.DataFrame:
    return _choose(
        of,
        candidates=lambda: _candidates(record),
        samples=lambda: _rounds(record),
        lines=lambda: _frame(profile_frames.compared(record, "line")),
        operations=lambda: _frame(profile_frames.compared(record, "operation")),
        compilations=lambda: _compilations([record]),
    )


@to_frame.register
def _(record: Sweep, of: str | None = None) -> pd.DataFrame:
    return _choose(
        of,
        points=lambda: _points(record),
        scaling=lambda: _frame(profile_frames.scaling(record)),
        compilations=lambda: _compilations([record]),
    )


@to_frame.register
def _(record: History, of: str | None = None) -> pd.DataFrame:
    timings = [each for each in record if isinstance(each, Timing)]
    benchmarks = [each for each in record if isinstance(each, Benchmark)]
    profiles = [each for each in record if isinstance(each, Profile)]
    kinds = {"timings": timings, "benchmarks": benchmarks, "profiles": profiles}
    return _choose(
        of or next((name for name, records in kinds.items() if records), None),
        timings=lambda: _timings(timings),
        benchmarks=lambda: _benchmarks(benchmarks),
        profiles=lambda: _frame(profile_frames.profiles(profiles)),
        compilations=lambda: _compilations(record),
    )


@to_frame.register
def _(record: MemoryProfile, of: str | None = None) -> pd.DataFrame:
    return _choose(
        of,
        executables=lambda: _frame(memory_frames.executables(record.executables)),
        buffers=lambda: _frame(memory_frames.buffers(record.executables)),
        arrays=lambda: _frame(memory_frames.arrays_since(record.arrays.arrays)),
        timeline=lambda: _frame(memory_frames.timeline(record.timeline)),
        heap=lambda: _frame(memory_frames.heap(record.heap)),
        compilations=lambda: _compilations([record]),
    )


@to_frame.register
def _(record: Profile, of: str | None = None) -> pd.DataFrame:
    return _choose(
        of,
        lines=lambda: _frame(profile_frames.lines(record)),
        operations=lambda: _frame(profile_frames.operations(record)),
        kernels=lambda: _frame(profile_frames.kernels(record)),
        scopes=lambda: _frame(profile_frames.scopes(record)),
        devices=lambda: _frame(profile_frames.devices(record)),
        steps=lambda: _frame(profile_frames.steps(record)),
        memory=lambda: _frame(profile_frames.memory(record)),
        collectives=lambda: _frame(profile_frames.collectives(record)),
        transfers=lambda: _frame(profile_frames.transfers(record)),
        programs=lambda: _frame(profile_frames.programs(record)),
        timeline=lambda: _frame(profile_frames.timeline(record)),
        compilations=lambda: _compilations([record]),
    )


@to_frame.register
def _(record: LiveArrays, of: str | None = None) -> pd.DataFrame:
    return _choose(of, arrays=lambda: _frame(memory_frames.arrays(record.arrays)))


@to_frame.register
def _(record: HeapDifference, of: str | None = None) -> pd.DataFrame:
    return _choose(of, heap=lambda: _frame(memory_frames.heap(record)))


@to_frame.register
def _(record: HeapProfile, of: str | None = None) -> pd.DataFrame:
    return to_frame(HeapDifference(before=None, after=record), of)


@to_frame.register
def _(record: Executable, of: str | None = None) -> pd.DataFrame:
    return _choose(of, buffers=lambda: _frame(memory_frames.buffers([record])))


@to_frame.register
def _(record: Compilation, of: str | None = None) -> pd.DataFrame:
    return _choose(of, compilations=lambda: _compiled([(None, record)]).drop(columns="record"))


@to_frame.register
def _(record: Cause, of: str | None = None) -> pd.DataFrame:
    return _choose(of, causes=lambda: _one_row(record))


@to_frame.register
def _(record: Environment, of: str | None = None) -> pd.DataFrame:
    return _choose(of, environments=lambda: _one_row(record))


def _one_row(record: Cause | Environment) -> pd.DataFrame:
    """A row with a column for each field; what is not known is ``<NA>``."""
    row = {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in record.to_dict().items()}
    return pd.DataFrame([row]).convert_dtypes()


def _frame(table: memory_frames.Table) -> pd.DataFrame:
    return pd.DataFrame(table.rows, columns=list(table.columns)).astype(table.columns)


def _choose(of: str | None, **frames: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    if of is None:
        of = next(iter(frames))
    if of not in frames:
        raise ValueError(f"of: expected one of {', '.join(map(repr, frames))}, got {of!r}")
    return _nullable(frames[of]())


def _nullable(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with text as ``string``, and with ``<NA>`` wherever there is nothing."""
    text = [name for name in frame if pd.api.types.infer_dtype(frame[name]) in ("string", "empty")]
    return frame.astype(dict.fromkeys(text, "string"))


def _samples(record: Benchmark) -> pd.DataFrame:
    """A row a sample, in the order in which they were taken; of several processes with the number of each."""
    if record.launches:
        return _samples_of_processes(record)
    rows = [("warm-up", index, 1, each) for index, each in enumerate(record.warmup_ns)]
    for kind, trial in (("latency", record.latency), ("pipelined", record.pipelined)):
        if trial is not None:
            rows += [(kind, index, trial.evaluations, each) for index, each in enumerate(trial.samples_ns)]
    frame = pd.DataFrame(rows, columns=["kind", "sample", "evaluations", "sample_ns"])
    frame["call_ns"] = frame["sample_ns"] / frame["evaluations"]
    frame["kind"] = frame["kind"].astype("category")
    return frame


def _samples_of_processes(record: Benchmark) -> pd.DataFrame:
    rows = [
        (kind, process, index, trial.evaluations, sample_ns, sample_ns / trial.evaluations)
        for process, (launch, latency) in enumerate(zip(record.launches, record.trials, strict=True), 1)
        for kind, trial in (("latency", latency), ("pipelined", launch.pipelined))
        if trial is not None
        for index, sample_ns in enumerate(trial.samples_ns)
    ]
    frame = pd.DataFrame(rows, columns=["kind", "process", "sample", "evaluations", "sample_ns", "call_ns"])
    frame["kind"] = frame["kind"].astype("category")
    return frame


def _candidates(record: Comparison) -> pd.DataFrame:
    rows = []
    for each in record.candidates:
        versus = record[each.label]
        low, high = versus.interval or (None, None)
        fewest, most = versus.break_even_interval or (None, None)
        least_work, most_work = each.throughput_interval or (None, None)
        time = time_of(each.latency.calls_ns)
        rows.append(
            {
                "label": each.label,
                "median_ns": time.value,
                "interval_low_ns": time.low if time.confidence else None,
                "interval_high_ns": time.high if time.confidence else None,
                "ratio": None if versus.ratio is None else versus.ratio.value,
                "ratio_low": low,
                "ratio_high": high,
                "verdict": "baseline" if each.label == record.baseline else versus.verdict,
                "break_even_calls": versus.break_even_calls,
                "break_even_calls_low": fewest,
                "break_even_calls_high": most,
                "pipelined_ns": None if each.pipelined is None else median(each.pipelined.calls_ns),
                "first_call_ns": each.first_call.wall_ns,
                "compile_ns": each.first_call.compile_ns,
                "memory_bytes": each.memory_bytes,
                **{name: getattr(each.memory, name, None) for name in _MEMORY},
                "work": None if each.work is None else each.work.amount,
                "work_per_s": each.throughput,
                "work_per_s_low": least_work,
                "work_per_s_high": most_work,
                "same_output": None if each.check is None else each.check.passed,
            }
        )
    frame = pd.DataFrame(rows)
    for column, kind in _CANDIDATE_KINDS.items():
        frame[column] = frame[column].astype(kind)
    return frame


def _points(record: Sweep) -> pd.DataFrame:
    """A row a candidate and point; what failed has an error and no time."""
    frames = []
    for point in record.points:
        found = pd.DataFrame() if point.comparison is None else _candidates(point.comparison)
        failed = [each.label for each in point.failures if each.label is not None]
        if point.comparison is None and not failed:
            failed = list(record.labels)
        errors = {each.label: each.error for each in point.failures}
        lost = pd.DataFrame({"label": failed, "error": [errors.get(each, errors.get(None)) for each in failed]})
        frame = pd.concat([each for each in (found, lost) if len(each)], ignore_index=True)
        for variable, at in zip(reversed(record.variables), reversed(point.at), strict=True):
            frame.insert(0, variable.name, _value(variable, at))
        frames.append(frame)
    columns = [*(each.name for each in record.variables), "label", *_CANDIDATE_KINDS, "verdict", "error"]
    if not frames:
        return pd.DataFrame(columns=columns)
    frame = pd.concat(frames, ignore_index=True)
    for column in ("verdict", "error"):
        frame[column] = frame.get(column, pd.Series(dtype="object")).astype("string")
    for column, kind in _CANDIDATE_KINDS.items():
        frame[column] = frame.get(column, pd.Series(dtype="object")).astype(kind)
    return frame[columns]


def _value(variable: Variable, at: int) -> str | float | int:
    """A value of a variable: an integer if all of them are."""
    if variable.numbers is None:
        return variable.labels[at]
    number = variable.numbers[at]
    return int(number) if all(each.is_integer() for each in variable.numbers) else number


def _rounds(record: Comparison) -> pd.DataFrame:
    """A row a candidate and round; the second samples of the one that was measured twice have a kind of their own."""
    trials = [("latency", each.label, each.latency) for each in record.candidates]
    rows = [
        (kind, label, index, trial.evaluations, each, each / trial.evaluations)
        for kind, label, trial in [*trials, ("again", record.twice, record.again)]
        for index, each in enumerate(trial.samples_ns)
    ]
    return pd.DataFrame(rows, columns=["kind", "label", "round", "evaluations", "sample_ns", "call_ns"])


def _benchmarks(records: Iterable[Benchmark]) -> pd.DataFrame:
    rows = []
    for record in records:
        low, high = record.interval_ns or (None, None)
        rows.append(
            {
                "started_at": record.started_at,
                "code": record.code,
                "median_ns": record.median_ns,
                "interval_low_ns": low,
                "interval_high_ns": high,
                "pipelined_ns": record.pipelined_ns,
                "device_ns": None if record.device is None else record.device.call_ns,
                "first_call_ns": record.first_call.wall_ns,
                "compile_ns": record.first_call.compile_ns,
                "samples": len(record.samples_ns),
                "evaluations": record.latency.evaluations,
                "stopped_by": record.stopped_by,
                "warnings": ", ".join(each.kind for each in record.warnings),
                "backend": record.environment.backend,
                "jax": record.environment.jax,
            }
        )
    frame = pd.DataFrame(rows, columns=_BENCHMARK_COLUMNS)
    frame["started_at"] = pd.to_datetime(frame["started_at"], utc=True, format="ISO8601")
    for column in ("median_ns", "interval_low_ns", "interval_high_ns", "pipelined_ns", "device_ns"):
        frame[column] = frame[column].astype("Float64")
    for column in ("first_call_ns", "compile_ns"):
        frame[column] = frame[column].astype("Int64")
    frame["code"] = frame["code"].astype("string")
    return frame


def _compilations(records: Iterable[Record]) -> pd.DataFrame:
    return _compiled((index, each) for index, record in enumerate(records) for each in _compiled_in(record))


def _compiled(found: Iterable[tuple[int | None, Compilation]]) -> pd.DataFrame:
    """A row a compilation, with the position of its record."""
    rows = [
        each.to_dict()
        | {"record": index, "cause": each.cause.kind, "reason": each.cause.reason, "remedy": each.cause.remedy}
        for index, each in found
    ]
    return _typed(pd.DataFrame(rows, columns=_COMPILATION_COLUMNS)).astype({"eager": "boolean"})


def _compiled_in(record: Record) -> tuple[Compilation, ...]:
    if isinstance(record, Benchmark):
        return record.first_call.compilations + record.conditions.compilations
    if isinstance(record, Comparison):
        return tuple(one for each in record.candidates for one in each.first_call.compilations)
    if isinstance(record, Sweep):
        return tuple(one for each in record.points if each.comparison for one in _compiled_in(each.comparison))
    if isinstance(record, MemoryProfile):
        return record.timing.compilations
    return record.compilations


def _timings(records: Iterable[Timing]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for record in records:
        row = {name: getattr(record, name) for name in _TIMING_COLUMNS}
        environment = record.environment
        rows.append(
            row
            | {
                "compilations": len(record.compilations),
                "backend": environment.backend,
                "jax": environment.jax,
            }
        )
    frame = pd.DataFrame(rows, columns=[*_TIMING_COLUMNS, "compilations", "backend", "jax"])
    frame["started_at"] = pd.to_datetime(frame["started_at"], utc=True, format="ISO8601")
    return _typed(frame)


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    for column in ("code", "error"):
        if column in frame:
            frame[column] = frame[column].astype("string")
    for column in frame.columns:
        if column.endswith(("_ns", "_bytes")):
            frame[column] = frame[column].astype("Int64")
    return frame
