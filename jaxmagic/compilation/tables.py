"""The compilations of any records, as a table."""

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
    "thread": "string",
    "eager": "boolean",
}


class Compiled(Protocol):
    """A record that knows what compiled meanwhile."""

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """All compilations."""


def compilations(records: Iterable[Compiled]) -> Table:
    """A row a compilation, with the position of its record."""
    rows = [(at, *_row(each)) for at, record in enumerate(records) for each in record.compilations]
    return Table({"record": "int64"} | _COMPILATION, rows)


def _row(compilation: Compilation) -> tuple[object, ...]:
    cause = compilation.cause
    facts = compilation.to_dict() | {"cause": cause.kind, "reason": cause.reason, "remedy": cause.remedy}
    return tuple(facts[name] for name in _COMPILATION)


TABLES = {Compilation: {"compilations": lambda record: Table(_COMPILATION, [_row(record)])}}
