"""Records as pandas frames: one row a record, the unit in each column's name. The only file that says pandas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import singledispatch
from typing import Any

import pandas as pd

from ..model.history import History
from ..model.timing import Timing

_TIMING_COLUMNS = (
    "started_at",
    "code",
    "wall_ns",
    "dispatch_ns",
    "wait_ns",
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

_COMPILATION_COLUMNS = [
    "timing",
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
]


def to_frame(record: object, of: str = "timings") -> pd.DataFrame:
    """`record` as a frame; durations that were not measured are ``<NA>``, never 0.

    Args:
        record: a timing or the history.
        of: ``"timings"`` or ``"compilations"``.
    """
    records = _records(record)
    if of == "timings":
        return _timings(records)
    if of == "compilations":
        return _compilations(records)
    raise ValueError(f'of: expected "timings" or "compilations"; found {of!r}')


@singledispatch
def _records(record: object) -> list[Timing]:
    raise TypeError(f"to_frame() knows records; found a {type(record).__name__}")


@_records.register
def _(record: Timing) -> list[Timing]:
    return [record]


@_records.register
def _(record: History) -> list[Timing]:
    return list(record)


def _compilations(records: Iterable[Timing]) -> pd.DataFrame:
    rows = []
    for index, record in enumerate(records):
        for each in record.compilations:
            row = {name: value for name, value in asdict(each).items() if name != "cause"}
            cause = {"cause": each.cause.kind, "reason": each.cause.reason, "remedy": each.cause.remedy}
            rows.append({"timing": index} | row | {"total_ns": each.total_ns} | cause)
    return _typed(pd.DataFrame(rows, columns=_COMPILATION_COLUMNS))


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
    for column in frame.columns:
        if column.endswith(("_ns", "_bytes")):
            frame[column] = frame[column].astype("Int64")
    return frame
