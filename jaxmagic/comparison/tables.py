"""Candidates, samples and points as tables."""

from __future__ import annotations

from ..compilation.tables import compilations
from ..report.table import Table
from ..statistics.estimate import Estimate
from ..statistics.medians import median
from .analysis.device_scaling import device_scaling
from .analysis.profile_diff import By, differences, profiled
from .record.candidate import Candidate
from .record.comparison import Comparison
from .record.curve import Variable
from .record.scaling import time_of
from .record.sweep import Point, Sweep

#: The parts of a candidate's peak memory.
_MEMORY = ("argument_bytes", "output_bytes", "temporary_bytes", "alias_bytes")

_NUMBERS = {
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

_COMPARED = {
    "baseline_ns": "Float64",
    "time_ns": "Float64",
    "change_ns": "Float64",
    "change": "string",
}

_SCALING = {
    "label": "string",
    "devices": "Int64",
    "time_ns": "Float64",
    "speedup": "Float64",
    "speedup_low": "Float64",
    "speedup_high": "Float64",
    "efficiency": "Float64",
    "efficiency_low": "Float64",
    "efficiency_high": "Float64",
    "exposed_share": "Float64",
    "idle_share": "Float64",
}


def candidates(record: Comparison) -> Table:
    """Tabulate candidates, one row each."""
    columns = {"label": "string"}
    for name, kind in _NUMBERS.items():
        columns |= {"verdict": "string", name: kind} if name == "break_even_calls" else {name: kind}
    rows = [
        {"label": each.label, "verdict": _verdict(record, each), **_numbers(record, each)}
        for each in record.candidates
    ]
    return Table(columns, [tuple(row[name] for name in columns) for row in rows])


def _verdict(record: Comparison, candidate: Candidate) -> str:
    versus = record[candidate.label]
    if candidate.label == record.baseline:
        return "baseline"
    return versus.verdict if versus.ratio is not None else "too few rounds"


def _numbers(record: Comparison, candidate: Candidate) -> dict[str, object]:
    versus, time = record[candidate.label], time_of(candidate.latency.calls_ns)
    shortest, longest = _ends(time)
    low, high = versus.interval or (None, None)
    fewest, most = versus.break_even_interval or (None, None)
    least_work, most_work = candidate.throughput_interval or (None, None)
    return {
        "median_ns": time.value,
        "interval_low_ns": shortest,
        "interval_high_ns": longest,
        "ratio": None if versus.ratio is None else versus.ratio.value,
        "ratio_low": low,
        "ratio_high": high,
        "break_even_calls": versus.break_even_calls,
        "break_even_calls_low": fewest,
        "break_even_calls_high": most,
        "pipelined_ns": None if candidate.pipelined is None else median(candidate.pipelined.calls_ns),
        "first_call_ns": candidate.first_call.wall_ns,
        "compile_ns": candidate.first_call.compile_ns,
        "memory_bytes": candidate.memory_bytes,
        **{name: getattr(candidate.memory, name, None) for name in _MEMORY},
        "work": None if candidate.work is None else candidate.work.amount,
        "work_per_s": candidate.throughput,
        "work_per_s_low": least_work,
        "work_per_s_high": most_work,
        "same_output": None if candidate.check is None or candidate.check.varies else candidate.check.passed,
    }


def points(record: Sweep) -> Table:
    """Tabulate candidates at each point, one row each; a failure has an error and no time."""
    rows = []
    for point in record.points:
        at = tuple(_value(variable, place) for variable, place in zip(record.variables, point.at, strict=True))
        if point.comparison is not None:
            for each in point.comparison.candidates:
                numbers = _numbers(point.comparison, each)
                rows.append((*at, each.label, *numbers.values(), _verdict(point.comparison, each), None))
        rows += [(*at, label, *[None] * len(_NUMBERS), None, error) for label, error in _lost(record, point)]
    columns = {each.name: _type(each) for each in record.variables}
    return Table(columns | {"label": "string"} | _NUMBERS | {"verdict": "string", "error": "string"}, rows)


def _lost(record: Sweep, point: Point) -> list[tuple[str, str | None]]:
    """Return the candidates that failed at a point, each with its error."""
    failed = [each.label for each in point.failures if each.label is not None]
    if point.comparison is None and not failed:
        failed = list(record.labels)
    errors = {each.label: each.error for each in point.failures}
    return [(each, errors.get(each, errors.get(None))) for each in failed]


def _type(variable: Variable) -> str:
    if variable.numbers is None:
        return "string"
    return "int64" if all(each.is_integer() for each in variable.numbers) else "float64"


def _value(variable: Variable, at: int) -> str | float | int:
    """Return a value of a variable: an integer if all its values are."""
    if variable.numbers is None:
        return variable.labels[at]
    number = variable.numbers[at]
    return int(number) if _type(variable) == "int64" else number


def rounds(record: Comparison) -> Table:
    """Tabulate the samples, one row per candidate and round; second samples of the baseline are ``again``."""
    trials = [("latency", each.label, each.latency) for each in record.candidates]
    rows = [
        (kind, label, index, trial.evaluations, *each)
        for kind, label, trial in [*trials, ("again", record.twice, record.again)]
        for index, each in enumerate(zip(trial.samples_ns, trial.calls_ns, strict=True))
    ]
    columns = {"kind": "string", "label": "string", "round": "int64", "evaluations": "int64"}
    return Table(columns | {"sample_ns": "int64", "call_ns": "float64"}, rows)


def compared(comparison: Comparison, by: By) -> Table:
    """Compare the lines or operations of each candidate with the first profiled one; times are per call."""
    profiles = profiled(comparison)
    rows = [
        (label, profiles[0][0], each.name, each.before_ns, each.after_ns, each.change_ns, each.change)
        for label, profile in profiles[1:]
        for each in differences(profiles[0][1], profile, by)
    ]
    return Table({"label": "string", "baseline": "string", by: "string"} | _COMPARED, rows)


def scaling(sweep: Sweep) -> Table:
    """Tabulate how candidates scale, one row per candidate and number of devices."""
    rows = [
        (
            *(each.label, each.devices, each.time.value),
            *(each.speedup.value, *_ends(each.speedup)),
            *(each.efficiency.value, *_ends(each.efficiency)),
            *(each.exposed_share, each.idle_share),
        )
        for each in device_scaling(sweep)
    ]
    return Table(_SCALING, rows)


def _ends(estimate: Estimate) -> tuple[float | None, float | None]:
    """Return the ends of an interval; ``None`` where there are too few samples for one."""
    return (estimate.low, estimate.high) if estimate.confidence else (None, None)


TABLES = {
    Comparison: {
        "candidates": candidates,
        "samples": rounds,
        "lines": lambda record: compared(record, "line"),
        "operations": lambda record: compared(record, "operation"),
        "compilations": lambda record: compilations([record]),
    },
    Sweep: {
        "points": points,
        "scaling": scaling,
        "compilations": lambda record: compilations([record]),
    },
}
