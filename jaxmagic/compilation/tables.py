"""Tables of the compilations of a record, or of several records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..report.table import Table
from .record.compilation import Compilation

_COMPILATION = {
    "function": "string",
    "location": "string",
    "tracing_ns": "Int64",
    "lowering_ns": "Int64",
    "compilation_ns": "Int64",
    "cache_retrieval_ns": "Int64",
    "total_ns": "Int64",
    "cache": "string",
    "saved_ns": "Int64",
    "cause": "string",
    "reason": "string",
    "remedy": "string",
    "called_at": "string",
    "thread": "string",
    "eager": "boolean",
}


class Compiled(Protocol):
    """A record that lists what compiled during its measurement."""

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """All compilations."""


def compilations(records: Iterable[Compiled]) -> Table:
    """Return a table with one row per compilation, and the position of its record."""
    rows = [(at, *_row(each)) for at, record in enumerate(records) for each in record.compilations]
    return Table({"record": "int64"} | _COMPILATION, rows)


def _row(compilation: Compilation) -> tuple[object, ...]:
    cause = compilation.cause
    facts = compilation.to_dict() | {"cause": cause.kind, "reason": cause.reason, "remedy": cause.remedy}
    return tuple(facts[name] for name in _COMPILATION)


TABLES = {Compilation: {"compilations": lambda record: Table(_COMPILATION, [_row(record)])}}
