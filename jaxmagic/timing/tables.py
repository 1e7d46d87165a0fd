"""Lists timings as a table."""

from __future__ import annotations

from collections.abc import Iterable

from ..compilation.tables import compilations
from ..report.table import MOMENT, Table
from .record import Timing

_TIMING = {
    "started_at": MOMENT,
    "code": "string",
    **dict.fromkeys(
        (
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
        ),
        "Int64",
    ),
    "error": "string",
}


def timings(records: Iterable[Timing]) -> Table:
    """List timings, one per row, with the number of compilations and the backend."""
    rows = [
        (
            *(getattr(each, name) for name in _TIMING),
            *(len(each.compilations), each.environment.backend, each.environment.jax),
        )
        for each in records
    ]
    return Table(_TIMING | {"compilations": "int64", "backend": "string", "jax": "string"}, rows)


TABLES = {
    Timing: {
        "timings": lambda record: timings([record]),
        "compilations": lambda record: compilations([record]),
    }
}
